;; attack: five iterations one inside the other
;; expect: section_rows

(module
  (memory (export "memory") 80 80)
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 4096))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0x0000_0010_0000_0053))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[],\"rows\":[{\"array\":[\"a\"]},{\"array\":[\"b\"],\"within\":0},{\"array\":[\"c\"],\"within\":1},{\"array\":[\"d\"],\"within\":2},{\"array\":[\"e\"],\"within\":3}]}"))
