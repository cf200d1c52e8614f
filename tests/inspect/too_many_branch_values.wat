;; expect: too_many_branch_values
;; limits: {"branch_values":20}
;; says: func[2] $a: 21 branches times live values, at most 20 are allowed
;; Blocks, ifs and targets of branches, times parameters, locals and operands.

(module
  (memory (export "memory") 1 1)
  (func $buffer (export "retort_buffer") (param i32) (result i32) (i32.const 0))
  (func $extract (export "extract") (param i32 i32) (result i64) (i64.const 0))
  (func $a (param i32) (local i32)
    (block (if (local.get 0) (then (br 1)) (else (br_if 1 (local.get 0))))
      (br_table 0 0 (i32.const 1))))
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[]}")
)
