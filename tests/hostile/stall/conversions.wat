;; attack: a value whose conversions cost more than the event has, before the guest is called
;; expect: out_of_fuel
;; limits: {"fuel_base":100,"fuel_per_byte":0}
;; event: {"event_type":"e","s":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}
;; good-event: {"event_type":"e"}
;; says: 100 are allowed

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"s\"],\"as\":[\"lower\",\"upper\",\"trim\"]}]}")
)
