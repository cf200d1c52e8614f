;; attack: moves a function into its table for the next call to find
;; expect: ok
;; leaks

(module
  (memory (export "memory") 1 1)
  (type $digit (func (result i32)))
  (table 2 2 funcref)
  (elem (i32.const 0) $zero $one)
  (func $zero (result i32) (i32.const 48))
  (func $one (result i32) (i32.const 49))
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (i32.store8 (i32.const 98) (call_indirect (type $digit) (i32.const 0)))
    (table.copy (i32.const 0) (i32.const 1) (i32.const 1))
    (i64.const 0x0000001000000056))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[\"0\"]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
