;; attack: counts its calls in a float
;; expect: ok
;; leaks

(module
  (memory (export "memory") 1 1)
  (global $calls (mut f64) (f64.const 0))
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (i32.store8 (i32.const 98) (i32.add (i32.const 48) (i32.trunc_sat_f64_u (global.get $calls))))
    (global.set $calls (f64.add (global.get $calls) (f64.const 1)))
    (i64.const 0x0000001000000056))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[\"0\"]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
