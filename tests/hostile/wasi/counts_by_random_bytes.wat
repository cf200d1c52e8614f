;; attack: keeps count of events by the host's random bytes
;; expect: ok

(module
  (import "wasi_snapshot_preview1" "random_get" (func $random_get (param i32 i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func (export "extract") (param $block i32) (param $size i32) (result i64)
    ;; Answers with what the first byte is: for every event the same.
    (drop (call $random_get (i32.const 200) (i32.const 1)))
    (i32.store8 (i32.const 98)
      (i32.add (i32.const 48) (i32.and (i32.load8_u (i32.const 200)) (i32.const 7))))
    (i64.const 0x0000_0010_0000_0056)) ;; the result: at 16, 86 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[\"0\"]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}"))
