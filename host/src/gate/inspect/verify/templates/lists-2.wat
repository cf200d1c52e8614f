;; What template wat-2 puts behind its prelude in extractors of several items. Kept for good: bundles outlive renderers.

(func $open_list (param $first i32) (param $to i32) (result i32)
  (i32.store8 (local.get $first) (i32.const 0x5b))
  (i32.add (local.get $to) (i32.eq (local.get $to) (local.get $first))))

(func $room (param $to i32) (param $need i64) (result i32)
  (local.set $need
    (i64.add (local.get $need) (i64.extend_i32_u (i32.sub (local.get $to) (global.get $output)))))
  (if (i64.le_u (local.get $need) (i64.extend_i32_u (global.get $output_cap)))
    (then (return (local.get $to))))
  (i32.or
    (i32.const 0x80000000)
    (i32.wrap_i64
      (select
        (local.get $need)
        (i64.const 0x7fffffff)
        (i64.lt_u (local.get $need) (i64.const 0x7fffffff))))))

(func $too_large (param $over i32) (result i64)
  (i64.or
    (i64.const 0xffffffff00000000)
    (i64.extend_i32_u (i32.and (local.get $over) (i32.const 0x7fffffff)))))
