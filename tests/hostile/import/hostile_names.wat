;; attack: writes to the terminal of whoever reads the report
;; expect: import_refused
;; path: import "\u{1b}[2J\nerror: none, all checks passed"."\u{202e}"

(module
  (import "\1b[2J\0aerror: none, all checks passed" "\e2\80\ae" (func))
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param i32) (result i32) (i32.const 1024))
  (func (export "extract") (param i32 i32) (result i64) (i64.const 0x0000_0010_0000_0053))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}"))
