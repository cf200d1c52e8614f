;; expect: too_many_imports
;; limits: {"imports":1}
;; says: section "import": 2 imports, at most 1 are allowed
;; One more than allowed.

(module
  (import "wasi_snapshot_preview1" "proc_exit" (func (param i32)))
  (import "wasi_snapshot_preview1" "random_get" (func (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
