;; expect: too_many_loop_locals
;; limits: {"loop_locals":11}
;; says: 12 loops times locals, at most 11 are allowed
;; One more than allowed.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (func $a (param i32) (local i32 i32) (loop) (loop))
  (func $b (param i32 i32) (loop) (loop) (loop))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
