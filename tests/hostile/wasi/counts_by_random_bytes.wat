;; attack: keeps count of events by the host's random bytes
;; expect: ok

(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func (export "extract") (param $block i32) (param $size i32) (result i64)
    ;; The first word of every instance is the same; any later event would find another one.
    (drop (call $random_get (i32.const 200) (i32.const 8)))
    (if (i64.ne (i64.load (i32.const 200)) (i64.const 0xe6c777eb8c913d61)) (then (unreachable)))
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}"))
