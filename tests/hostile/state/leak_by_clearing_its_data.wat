;; attack: clears its data, and tells whether it was cleared
;; expect: ok
;; leaks

(module
  (memory (export "memory") 1 1)
  (data (i32.const 8192) "data")
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (i32.store8 (i32.const 98) (i32.add (i32.const 48) (i32.eqz (i32.load8_u (i32.const 8192)))))
    (memory.fill (i32.const 8192) (i32.const 0) (i32.const 4096))
    (i64.const 0x0000001000000056))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[\"0\"]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
