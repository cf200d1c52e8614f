;; expect: too_many_element_segments
;; limits: {"element_segments":1}
;; says: section "element": 2 element segments, at most 1 are allowed
;; One more than allowed.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (table 4 4 funcref)
  (elem (i32.const 0) func 0)
  (elem (i32.const 1) func 0)
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
