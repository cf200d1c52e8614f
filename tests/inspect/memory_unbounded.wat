;; expect: memory_unbounded
;; says: memory[0]: expected a memory with a maximum, at most 256 pages
;; A memory has to say how far it may grow.

(module
  (memory (export "memory") 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
