;; expect: unproven_store
;; leaks
;; Sixteen bytes of a text are copied, and a step of all its length is made.

(module
  (memory (export "memory") 34 34)
  (global $input i32 (i32.const 65536))
  (global $input_cap i32 (i32.const 1048576))
  (global $output i32 (i32.const 1114176))
  (global $output_cap i32 (i32.const 1048576))
  ;; include: prelude
  (func $read (export "extract") (param $block i32) (param $size i32) (result i64)
    (local $to i32) (local $from i32) (local $length i32) (local $first i32)
    (local.set $to (global.get $output))
    ;; a constant
    (v128.store (local.get $to) (v128.load (i32.const 16)))
    (local.set $to (i32.add (local.get $to) (i32.const 5)))
    ;; a slice
    (local.set $from (i32.add (local.get $block) (i32.load offset=12 (local.get $block))))
    (local.set $length (i32.load offset=16 (local.get $block)))
    (if (i32.le_u (local.get $length) (i32.const 16))
      (then (v128.store (local.get $to) (v128.load (local.get $from))))
      (else (v128.store (local.get $to) (v128.load (local.get $from)))))
    (local.set $to (i32.add (local.get $to) (local.get $length)))
    ;; the end
    (v128.store (local.get $to) (v128.load (i32.const 32)))
    (local.set $to (i32.add (local.get $to) (i32.const 1)))
    (i64.or
      (i64.shl (i64.extend_i32_u (global.get $output)) (i64.const 32))
      (i64.extend_i32_u (i32.sub (local.get $to) (global.get $output)))))
  (data (i32.const 16) "{\"a\":")
  (data (i32.const 32) "}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"a\"]},{\"path\":[\"b\"]}]}")
)
