;; expect: ok
;; What a Rust guest has besides: a table, an indirect call with an over-long table index, globals, more exports.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))

  (type $op (func (param i32) (result i32)))
  (table 2 2 funcref)
  (elem (i32.const 1) func $buffer)
  (global $stack (mut i32) (i32.const 1024))
  (global (export "__heap_base") i32 (i32.const 2048))
  (global (export "__data_end") i32 (i32.const 1536))
  (func (export "_initialize"))
  (func (export "main") (param i32 i32) (result i32)
    (call_indirect (type $op) (local.get 0) (i32.const 1)))
  (func $simd_and_floats (result f64)
    (drop (i8x16.splat (i32.extend8_s (i32.const 1))))
    (drop (i32.trunc_sat_f64_s (f64.const 1)))
    (memory.copy (i32.const 0) (i32.const 8) (i32.const 8))
    (drop (memory.grow (i32.const 0)))
    (f64.const 0.5))
  (data (i32.const 64) "constants")
  (@producers (language "Rust" "2024"))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
