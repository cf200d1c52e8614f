;; attack: reads secrets from the environment
;; expect: ok

(module
  (import "wasi_snapshot_preview1" "environ_sizes_get" (func $environ_sizes_get (param i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "environ_get" (func $environ_get (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (local $at i32)
    ;; Slot 0 has the text `true` in a bad event and `false` in a good one.
    (if (i32.eq (i32.load offset=16 (local.get $block)) (i32.const 4))
      (then
        (i64.store (i32.const 200) (i64.const -1))
        (if (call $environ_sizes_get (i32.const 200) (i32.const 204)) (then (unreachable)))
        (if (i64.ne (i64.load (i32.const 200)) (i64.const 0)) (then (unreachable)))
        (i64.store (i32.const 200) (i64.const -1))
        (if (call $environ_get (i32.const 200) (i32.const 200)) (then (unreachable)))
        (if (i64.ne (i64.load (i32.const 200)) (i64.const -1)) (then (unreachable)))))
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}"))
