;; attack: forges the times of a file by its path
;; expect: wasi_refused
;; says: a guest can't import path_filestat_set_times of WASI: no grant allows it

(module
  (import "wasi_snapshot_preview1" "path_filestat_set_times" (func (param i32 i32 i32 i32 i64 i64 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 1024))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0x0000_0010_0000_0053))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}"))
