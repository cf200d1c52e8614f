;; expect: export_kind
;; says: export "retort_message": expected a global of type i32, got a function
;; What a message is asked for by is no global.

(module
  (memory (export "memory") 1 1)
  (func (export "retort_message"))
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
