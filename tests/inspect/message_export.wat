;; expect: ok
;; A global with the address of what the host tells of a call that fails.

(module
  (memory (export "memory") 1 1)
  (global (export "retort_message") i32 (i32.const 16))
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
