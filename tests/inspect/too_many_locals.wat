;; expect: too_many_locals
;; limits: {"locals":2}
;; says: func[2] $wide: 3 locals, at most 2 are allowed
;; One more than allowed.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (func $wide (param i32) (local i32 i64 i32))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
