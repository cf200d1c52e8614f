;; expect: unproven_template
;; leaks
;; The prelude with one change: up to 128 bytes are copied as if they were 64.

(module
  (memory (export "memory") 34 34)
  (global $input i32 (i32.const 65536))
  (global $input_cap i32 (i32.const 1048576))
  (global $output i32 (i32.const 1114176))
  (global $output_cap i32 (i32.const 1048576))
  (func $retort_buffer (export "retort_buffer") (param $length i32) (result i32)
    (select
      (global.get $input)
      (i32.const 0)
      (i32.le_u (local.get $length) (global.get $input_cap))))

  (func $copy_long (param $to i32) (param $from i32) (param $length i32)
    (if (i32.le_u (local.get $length) (i32.const 128))
      (then
        (v128.store (local.get $to) (v128.load (local.get $from)))
        (v128.store offset=16 (local.get $to) (v128.load offset=16 (local.get $from)))
        (v128.store offset=32 (local.get $to) (v128.load offset=32 (local.get $from)))
        (v128.store offset=48 (local.get $to) (v128.load offset=48 (local.get $from))))
      (else
        (memory.copy (local.get $to) (local.get $from) (local.get $length)))))

  (func $put (param $to i32) (param $from i32) (param $length i32) (result i32)
    (if (i32.le_u (local.get $length) (i32.const 16))
      (then (v128.store (local.get $to) (v128.load (local.get $from))))
      (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
    (i32.add (local.get $to) (local.get $length)))

  (func $put_text (param $to i32) (param $block i32) (param $slot i32) (result i32)
    (local $kind i32) (local $quote i32)
    (local.set $kind (i32.load (local.get $slot)))
    (if (i32.gt_u (i32.sub (local.get $kind) (i32.const 2)) (i32.const 2))
      (then (return (local.get $to))))
    (local.set $quote (i32.eq (local.get $kind) (i32.const 4)))
    (call $put
      (local.get $to)
      (i32.add (i32.add (local.get $block) (i32.load offset=4 (local.get $slot))) (local.get $quote))
      (i32.sub (i32.load offset=8 (local.get $slot)) (i32.shl (local.get $quote) (i32.const 1)))))
  (func $part (param $block i32) (param $to i32) (result i32)
    (local.set $to (call $put_text (local.get $to) (local.get $block) (i32.add (local.get $block) (i32.const 20))))
    (local.get $to))
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
      (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
    (local.set $to (i32.add (local.get $to) (local.get $length)))
    (local.set $to (call $part (local.get $block) (local.get $to)))
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
