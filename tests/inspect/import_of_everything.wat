;; expect: import_refused, import_refused, import_refused
;; says: import "a\nb"."g": a guest imports nothing but functions of wasi_snapshot_preview1
;; Each import is a problem of its own; one memory is there, so that none is missing.

(module
  (import "env" "f" (func))
  (import "env" "memory" (memory 1 1))
  (import "a\nb" "g" (global i32))
  (export "memory" (memory 0))
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
