;; expect: nesting_too_deep
;; limits: {"nesting":2}
;; says: func[2] $deep: 3 blocks inside each other, at most 2 are allowed
;; One more than allowed.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (func $deep (block (loop (block))))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
