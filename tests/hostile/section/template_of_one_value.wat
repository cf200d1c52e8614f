;; attack: a template that repeats a value of 1 MB 250 times: a text of more than 16 MiB has failed
;; expect: ok
;; event: {"event_type":"e","a":"{{1000000*a}}"}
;; good-event: {"event_type":"e","a":"a"}

(module
  (memory (export "memory") 80 80)
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 4096))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0x0000_0010_0000_0053))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"template\":[{{249*{\"path\":[\"a\"]},}}{\"path\":[\"a\"]}],\"as\":[\"length\"]}]}"))
