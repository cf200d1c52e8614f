;; attack: looks where an instance of its own module has left marks
;; expect: ok
;; limits: {"fuel_base":100000000}

(module
  (memory (export "memory") 1 256)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (local $address i32)
    ;; Slot 0 has the text `true` in a bad event and `false` in a good one.
    (if (i32.eq (i32.load offset=16 (local.get $block)) (i32.const 4))
      (then
        (drop (memory.grow (i32.const 255)))
        (local.set $address (i32.const 16777208))
        (loop $again
          (if (i64.ne (i64.load (local.get $address)) (i64.const 0)) (then (unreachable)))
          (i64.store (local.get $address) (i64.const -1))
          (br_if $again (i32.ge_s (local.tee $address (i32.sub (local.get $address) (i32.const 8))) (i32.const 65536))))))
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
