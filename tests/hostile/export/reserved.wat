;; attack: a name that belongs to the contract
;; expect: export_reserved

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (func (export "retort_escape"))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
