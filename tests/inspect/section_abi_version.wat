;; expect: section_abi_version
;; says: abi: expected 1, got 2
;; A guest of another ABI version.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":2,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
