;; Looks through all of its memory behind the block for a byte that it did not write itself, then leaves such bytes
;; everywhere, in memory that it grew last of all. Says what it found as a handled span: 0 for nothing.
;; DATA_AT is where one copy has a segment of its own, so that two copies differ in which pages begin as zeros.

(module
  (memory (export "memory") 6 8)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $dirt (param $from i32) (param $to i32) (result i32)
    (local $at i32)
    (local.set $at (local.get $from))
    (loop $next
      (if (i64.ne (i64.load (local.get $at)) (i64.const 0))
        (then
          ;; Its own segment, which begins with eight times `D` and has nothing else.
          (if (i32.eqz (i32.and
                (i32.eq (local.get $at) (i32.const DATA_AT))
                (i64.eq (i64.load (local.get $at)) (i64.const 0x4444444444444444))))
            (then (return (i32.const 1))))))
      (local.set $at (i32.add (local.get $at) (i32.const 8)))
      (br_if $next (i32.lt_u (local.get $at) (local.get $to))))
    (i32.const 0))
  (func (export "extract") (param $block i32) (param $size i32) (result i64)
    (local $found i32)
    (local.set $found (call $dirt (i32.const 4096) (i32.const 393216)))
    (if (i64.ne (i64.load (i32.const DATA_AT)) (i64.const 0x4444444444444444))
      (then (local.set $found (i32.const 2))))
    (if (i32.ne (memory.grow (i32.const 2)) (i32.const 6))
      (then (local.set $found (i32.const 3))))
    (if (call $dirt (i32.const 393216) (i32.const 524288))
      (then (local.set $found (i32.const 4))))
    (memory.fill (i32.const 4096) (i32.const 0xa5) (i32.const 520192))
    (i32.store8 (i32.const 98) (i32.or (local.get $found) (i32.const 48)))
    (i64.const 0x0000001000000056))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[\"0\"]}")
  (data (i32.const DATA_AT) "DDDDDDDD")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
