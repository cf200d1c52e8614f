;; attack: recursion with as many arguments as there may be
;; expect: stack_overflow

(module
  (memory (export "memory") 1 1)
  (func $wide (param {{32*i64 }})
    (call $wide (local.get 31) (local.get 30) (local.get 29) (local.get 28) (local.get 27) (local.get 26) (local.get 25) (local.get 24) (local.get 23) (local.get 22) (local.get 21) (local.get 20) (local.get 19) (local.get 18) (local.get 17) (local.get 16) (local.get 15) (local.get 14) (local.get 13) (local.get 12) (local.get 11) (local.get 10) (local.get 9) (local.get 8) (local.get 7) (local.get 6) (local.get 5) (local.get 4) (local.get 3) (local.get 2) (local.get 1) (local.get 0)))
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    ;; Slot 0 has the text `true` in a bad event and `false` in a good one.
    (if (i32.eq (i32.load offset=16 (local.get $block)) (i32.const 4))
      (then
        (call $wide {{32*(i64.const 1) }})))
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
