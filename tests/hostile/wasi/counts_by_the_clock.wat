;; attack: keeps count of events by the host's clock
;; expect: ok

(module
  (import "wasi_snapshot_preview1" "clock_time_get" (func $clock_time_get (param i32 i64 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func (export "extract") (param $block i32) (param $size i32) (result i64)
    ;; A fresh instance's clock stands at 0; any later event would find it further on.
    (drop (call $clock_time_get (i32.const 1) (i64.const 0) (i32.const 200)))
    (if (i64.ne (i64.load (i32.const 200)) (i64.const 0)) (then (unreachable)))
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}"))
