;; expect: export_kind, export_kind, export_kind, export_kind
;; says: export "memory": expected a memory, got a function
;; says: export "extract": expected a function (i32, i32) -> i64, got a table
;; Every name of the ABI, exported as something else.

(module
  (memory 1 1)
  (func (export "memory"))
  (export "_initialize" (memory 0))
  (global (export "retort_buffer") i32 (i32.const 0))
  (table (export "extract") 1 1 funcref)
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
