;; attack: imports the same function some hundred times, which linking and each instance pay for
;; expect: too_many_imports
;; says: 100 imports, at most 32 are allowed

(module
  {{100*(import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))}}
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 1024))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}"))
