;; attack: as slow to compile as the gate lets a module be, where less time is allowed
;; expect: compile_deadline_exceeded
;; limits: {"compile_ms":1}

(module
  (memory (export "memory") 1 1)
  (func (param i32) (local {{120*i64 }}) (loop (block (br_table {{900*0 }}(local.get 0)))))
  (func (param i32) (local {{120*i64 }}) (loop (block (br_table {{900*0 }}(local.get 0)))))
  (func (param i32) (local {{120*i64 }}) (loop (block (br_table {{900*0 }}(local.get 0)))))
  (func (param i32) (local {{120*i64 }}) (loop (block (br_table {{900*0 }}(local.get 0)))))
  (func (param i32) (local {{120*i64 }}) (loop (block (br_table {{900*0 }}(local.get 0)))))
  (func (param i32) (local {{120*i64 }}) (loop (block (br_table {{900*0 }}(local.get 0)))))
  (func (param i32) (local {{120*i64 }}) (loop (block (br_table {{900*0 }}(local.get 0)))))
  (func (param i32) (local {{120*i64 }}) (loop (block (br_table {{900*0 }}(local.get 0)))))
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
