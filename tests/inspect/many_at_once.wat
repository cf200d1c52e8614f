;; expect: import_refused, start_function, too_many_locals, invalid_module, section_function, memory_missing, export_type
;; limits: {"locals":3}
;; Problems of every kind, in the order of the binary, then those of the ABI.

(module
  (import "env" "f" (func))
  (start 0)
  (func $wide (local i32 i32 i32 i32))
  (func $wrong (result i32) (i64.const 0))
  (func (export "retort_buffer") (i32.const 0) drop)
  (@custom "retort" "{\"abi\":1,\"function\":\"9\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
