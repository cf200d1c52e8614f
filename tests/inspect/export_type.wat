;; expect: export_type, export_type, export_type
;; says: export "extract": expected a function (i32, i32) -> i64, got a function (i32, i32) -> ()
;; Functions, but of other types.

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param i64) (result i32) (i32.const 0))
  (func (export "extract") (param i32 i32) (i64.const 0) drop)
  (func (export "_initialize") (param i32))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
