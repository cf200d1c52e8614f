;; expect: body_too_large
;; limits: {"body_bytes":8}
;; says: func[2] $long: 9 bytes of body, at most 8 are allowed
;; One more than allowed.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (func $long nop nop nop nop nop nop nop)
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
