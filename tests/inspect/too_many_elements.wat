;; expect: too_many_elements
;; limits: {"elements":3}
;; says: section "element": 4 elements, at most 3 are allowed
;; One more than allowed.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (table 4 4 funcref)
  (elem (i32.const 0) func 0 0)
  (elem (i32.const 2) func 0 0)
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
