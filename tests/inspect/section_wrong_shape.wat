;; expect: section_wrong_shape
;; says: section "retort": grant: found an unknown field "grant"; expected one of abi, function
;; An unknown key.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[],\"grant\":\"all\"}")
)
