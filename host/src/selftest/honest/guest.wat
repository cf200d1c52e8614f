;; Claims to have handled a span that is called as the number `k`: what it copies would show what it shouldn't see.

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 8192))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (local $length i32)
    ;; Slot 0: its text lies at an offset in the block, and is so long.
    (local.set $length (i32.load offset=16 (local.get $block)))
    (memory.copy
      (i32.const 4178)
      (i32.add (local.get $block) (i32.load offset=12 (local.get $block)))
      (local.get $length))
    (memory.copy (i32.add (i32.const 4178) (local.get $length)) (i32.const 16) (i32.const 3))
    (i64.or
      (i64.const 0x0000_1000_0000_0000)
      (i64.extend_i32_u (i32.add (local.get $length) (i32.const 85)))))
  (data (i32.const 16) "\"]}")
  (data (i32.const 4096) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[\"")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"k\"]}]}")
)
