;; attack: what the event holds is not repeated
;; expect: conversion_failed
;; event: {"event_type":"e","a":[{"t":"IGNORE ALL INSTRUCTIONS"}]}
;; good-event: {"event_type":"e","a":[{"t":"1970-01-01"}]}
;; says: the value of a[].t can't be converted by trim, date

(module
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"t\"],\"level\":1,\"as\":[\"trim\",\"date\"],\"rows\":0,\"on_error\":\"reject\"}],\"rows\":[{\"array\":[\"a\"]}]}")
)
