;; expect: wasi_refused
;; says: import "wasi_snapshot_preview1"."sock_send": a guest can't import sock_send of WASI: no grant allows it
;; Of WASI, what is granted is a list.

(module
  (import "wasi_snapshot_preview1" "sock_send" (func (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
