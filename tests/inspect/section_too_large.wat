;; expect: custom_section_too_large
;; limits: {"custom_section_bytes":16}
;; says: section "retort": 62 bytes of custom section, at most 16 are allowed
;; It is not read, and not reported as missing.

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
