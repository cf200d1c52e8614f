;; expect: export_missing, export_missing, export_missing
;; says: export "retort_buffer": expected an export of a function (i32) -> i32, got none
;; says: export "extract"
;; Nothing is exported.

(module
  (memory 1 1)
  (func (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
