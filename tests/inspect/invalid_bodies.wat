;; expect: invalid_module, invalid_module
;; says: func[2] $a: at offset
;; says: func[3] $b: at offset
;; Bodies are validated each by itself.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (func $a (result i32) (i64.const 0))
  (func $b (drop))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
