;; expect: br_table_too_large
;; limits: {"br_table_targets":2}
;; says: func[2] $switch: 3 br_table targets, at most 2 are allowed
;; One more than allowed.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (func $switch (block (br_table 0 0 0 0 (i32.const 1))))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
