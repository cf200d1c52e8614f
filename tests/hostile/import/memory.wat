;; attack: works in a memory of the host
;; expect: import_refused

(module
  (import "env" "memory" (memory 1 1))
  (export "memory" (memory 0))
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 1024))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}"))
