;; attack: an expression that would make a list of 16 million texts of 4 KB
;; expect: out_of_fuel
;; event: {"event_type":"e","bad":true,"a":"{{4096*x}}"}
;; good-event: {"event_type":"e","bad":false,"a":"x"}

(module
  (memory (export "memory") 80 80)
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 4096))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0x0000_0010_0000_0053))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[],\"level\":1,\"rows\":0}],\"rows\":[{\"expression\":{\"text\":\"bad && (a|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]|[@,@]) || [a]\",\"level\":0}}]}"))
