;; expect: too_many_locals, nesting_too_deep, loops_too_deep, br_table_too_large
;; limits: {"locals":0,"nesting":1,"nested_loops":1,"br_table_targets":0}
;; All that one function breaks.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (func $wild (local i32) (loop (loop (br_table 0 0 (i32.const 0)))))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
