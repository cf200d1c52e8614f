;; attack: four rows in two iterations where three are allowed
;; expect: too_many_rows
;; limits: {"max_rows":3}
;; event: {"event_type":"e","a":[{},{},{}],"b":[0]}
;; good-event: {"event_type":"e","a":[{},{},{}],"b":[]}
;; says: more than the 3 rows that are allowed

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"k\"],\"level\":1,\"rows\":0},{\"path\":[],\"level\":1,\"rows\":1}],\"rows\":[{\"array\":[\"a\"]},{\"array\":[\"b\"]}]}")
)
