;; attack: asks the host for no memory at all, without end
;; expect: out_of_fuel
;; limits: {"fuel_base":100000}

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    ;; Slot 0 has the text `true` in a bad event and `false` in a good one.
    (if (i32.eq (i32.load offset=16 (local.get $block)) (i32.const 4))
      (then
        (loop $again
          (drop (memory.grow (i32.const 0)))
          (br $again))))
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
