;; attack: counts its calls in the last byte of its memory
;; expect: ok
;; leaks

(module
  (memory (export "memory") 3 3)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (i32.store8 (i32.const 196607) (i32.add (i32.load8_u (i32.const 196607)) (i32.const 1)))
    (i32.store8 (i32.const 98) (i32.add (i32.const 47) (i32.load8_u (i32.const 196607))))
    (i64.const 0x0000001000000056))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[\"0\"]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
