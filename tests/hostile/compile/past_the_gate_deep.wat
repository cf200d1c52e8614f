;; attack: past the gate: blocks inside each other, for a compiler that goes over them again and again
;; expect: compile_deadline_exceeded
;; structure: {"body_bytes":1000000,"locals":60000,"nesting":100000,"nested_loops":100000,"br_table_targets":1000000,"loop_locals":1000000000000,"branch_values":1000000000000,"module_branch_values":1000000000000}
;; limits: {"compile_ms":1}

(module
  (memory (export "memory") 1 1)
  (func {{90000*block }}{{90000*end }})
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
