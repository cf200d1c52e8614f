;; The prelude of templates wat-1 and wat-2, as it stood in the modules that they made. Kept for good: bundles outlive
;; renderers.

(func $retort_buffer (export "retort_buffer") (param $length i32) (result i32)
  (select
    (global.get $input)
    (i32.const 0)
    (i32.le_u (local.get $length) (global.get $input_cap))))

(func $copy_long (param $to i32) (param $from i32) (param $length i32)
  (if (i32.le_u (local.get $length) (i32.const 64))
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
