;; attack: gives a list of 4,294,967,295 buffers, with fuel for them
;; expect: ok
;; limits: {"fuel_base":1000000000000}

(module
  (import "wasi_snapshot_preview1" "fd_write" (func $fd_write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (local $at i32)
    ;; Slot 0 has the text `true` in a bad event and `false` in a good one.
    (if (i32.eq (i32.load offset=16 (local.get $block)) (i32.const 4))
      (then
        ;; 28 is the number of an invalid argument: such a list is refused before it is read.
        (if (i32.ne (call $fd_write (i32.const 1) (i32.const 0) (i32.const -1) (i32.const 208)) (i32.const 28))
          (then (unreachable)))))
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}"))
