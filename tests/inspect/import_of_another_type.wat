;; expect: import_type, import_type
;; says: import "wasi_snapshot_preview1"."fd_write": expected a function (i32, i32, i32, i32) -> i32, got a function (i32) -> i32
;; says: import "wasi_snapshot_preview1"."proc_exit": expected a function (i32) -> (), got a global
;; A function of WASI has one type.

(module
  (import "wasi_snapshot_preview1" "fd_write" (func (param i32) (result i32)))
  (import "wasi_snapshot_preview1" "proc_exit" (global i32))
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
