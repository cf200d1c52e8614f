;; attack: counts its calls in a byte of every other page, more than are told apart
;; expect: ok
;; leaks

(module
  (memory (export "memory") 24 24)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (local $at i32)
    (local.set $at (i32.const 131072))
    (loop $next
      (i32.store8 (local.get $at) (i32.add (i32.load8_u (local.get $at)) (i32.const 1)))
      (local.set $at (i32.add (local.get $at) (i32.const 8192)))
      (br_if $next (i32.lt_u (local.get $at) (i32.const 1572864))))
    (i32.store8 (i32.const 98) (i32.add (i32.const 47) (i32.load8_u (i32.const 1564672))))
    (i64.const 0x0000001000000056))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[\"0\"]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
