;; attack: an expression that stands in the elements that it is to give
;; expect: section_rows
;; event: {"event_type":"e","a":[1]}
;; good-event: {"event_type":"e"}

(module
  (memory (export "memory") 80 80)
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 4096))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0x0000_0010_0000_0053))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[],\"level\":1,\"rows\":0}],\"rows\":[{\"expression\":{\"text\":\"a\",\"level\":1}}]}"))
