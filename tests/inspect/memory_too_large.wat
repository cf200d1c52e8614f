;; expect: memory_too_large
;; says: memory[0]: 16842752 bytes of memory, at most 16777216 are allowed
;; One page more than 16 MiB.

(module
  (memory (export "memory") 1 257)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
