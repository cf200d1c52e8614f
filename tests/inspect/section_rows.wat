;; expect: section_rows
;; says: rows[0].within: expected an earlier iteration, within at most 2 others, got 1
;; An iteration within a later one.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[],\"rows\":[{\"array\":[\"a\"],\"within\":1},{\"array\":[\"b\"]}]}")
)
