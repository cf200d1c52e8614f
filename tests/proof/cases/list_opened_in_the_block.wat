;; expect: unproven_call
;; The bracket of a list is written into the block.

(module
  (memory (export "memory") 194 194)
  (global $input i32 (i32.const 65536))
  (global $input_cap i32 (i32.const 4194304))
  (global $output i32 (i32.const 4259904))
  (global $output_cap i32 (i32.const 8388608))
  ;; include: prelude
  ;; include: lists
  (func $item (param $block i32) (param $row i32) (param $to i32) (result i32)
    (local $from i32) (local $length i32)
    (local.set $from (call $room (local.get $to) (i64.load32_u offset=8 (local.get $row))))
    (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (local.get $from))))
    (v128.store (local.get $to) (v128.load (i32.const 16)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 1))
      (local.get $block)
      (i32.add (local.get $row) (i32.const 0))))
    (v128.store (local.get $to) (v128.load (i32.const 16)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 1))
      (local.get $block)
      (i32.add (local.get $row) (i32.const 12))))
    (local.get $to))
  (func $each (param $block i32) (param $to i32) (result i32)
    (local $row i32) (local $left i32)
    (local.set $row (i32.add (local.get $block) (i32.load offset=24 (local.get $block))))
    (local.set $left (i32.load offset=28 (local.get $block)))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $left)))
        (local.set $to (call $item (local.get $block) (local.get $row) (local.get $to)))
        (br_if $done (i32.lt_s (local.get $to) (i32.const 0)))
        (local.set $row (i32.add (local.get $row) (i32.const 24)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br $next)))
    (local.get $to))
  (func $read (export "extract") (param $block i32) (param $size i32) (result i64)
    (local $to i32) (local $first i32)
    (local.set $to (global.get $output))
    (local.set $first (local.get $to))
    (local.set $to (call $each (local.get $block) (local.get $to)))
    (if (i32.lt_s (local.get $to) (i32.const 0))
      (then (return (call $too_large (local.get $to)))))
    (local.set $to (call $open_list (local.get $block) (local.get $to)))
    (v128.store (local.get $to) (v128.load (i32.const 32)))
    (local.set $to (i32.add (local.get $to) (i32.const 1)))
    (i64.or
      (i64.shl (i64.extend_i32_u (global.get $output)) (i64.const 32))
      (i64.extend_i32_u (i32.sub (local.get $to) (global.get $output)))))
  (data (i32.const 16) ",")
  (data (i32.const 32) "]")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"a\"]},{\"path\":[\"x\"],\"level\":1,\"rows\":0},{\"path\":[\"y\"],\"level\":1,\"rows\":0}],\"rows\":[{\"array\":[\"rows\"]}]}")
)
