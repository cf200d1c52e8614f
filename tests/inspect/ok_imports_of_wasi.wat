;; expect: ok
;; What a guest in Rust imports that uses a map and prints.

(module
  (import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "clock_time_get" (func (param i32 i64 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
