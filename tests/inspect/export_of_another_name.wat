;; expect: export_missing
;; says: export "extract_x"
;; The declaration names a function that is not exported.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract_x\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
