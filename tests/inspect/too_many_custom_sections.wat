;; expect: too_many_custom_sections
;; limits: {"custom_sections":1}
;; says: 2 custom sections, at most 1 are allowed
;; One more than allowed.

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "note" "")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
