;; attack: asks for more than its own maximum, often enough to add up to more than the sandbox allows if it were counted
;; expect: ok

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (local $left i32)
    ;; Slot 0 has the text `true` in a bad event and `false` in a good one.
    (if (i32.eq (i32.load offset=16 (local.get $block)) (i32.const 4))
      (then
        (local.set $left (i32.const 300))
        (loop $again
          (if (i32.ne (memory.grow (i32.const 1)) (i32.const -1)) (then (unreachable)))
          (br_if $again (local.tee $left (i32.sub (local.get $left) (i32.const 1)))))))
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
