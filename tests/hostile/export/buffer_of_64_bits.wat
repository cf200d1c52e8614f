;; attack: a buffer at an address of 64 bits
;; expect: export_type

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param i64) (result i64) (i64.const 1024))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
