;; Opens and reads what the event names: the number of the error, 0 for none, and what was read of it. OFLAGS, RIGHTS, OPENS
;; and, after each opening, CLOSING are filled in by the test.

(module
  (import "wasi_snapshot_preview1" "path_open" (func $path_open (param i32 i32 i32 i32 i32 i64 i64 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_read" (func $fd_read (param i32 i32 i32 i32) (result i32)))
  (import "wasi_snapshot_preview1" "fd_close" (func $fd_close (param i32) (result i32)))
  (memory (export "memory") 1 1)
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 4096))
  (func (export "extract") (param $block i32) (param $size i32) (result i64)
    (local $errno i32) (local $read i32) (local $opens i32)
    (local.set $opens (i32.const OPENS))
    (loop $again
      ;; Slot 0 is a string in its quotes. Links are followed.
      (local.set $errno (call $path_open (i32.const 3) (i32.const 1)
        (i32.add (i32.add (local.get $block) (i32.load offset=12 (local.get $block))) (i32.const 1))
        (i32.sub (i32.load offset=16 (local.get $block)) (i32.const 2))
        (i32.const OFLAGS) (i64.const RIGHTS) (i64.const 0) (i32.const 0) (i32.const 2000)))
      CLOSING
      (local.set $opens (i32.sub (local.get $opens) (i32.const 1)))
      (br_if $again (i32.and (i32.eqz (local.get $errno)) (i32.ne (local.get $opens) (i32.const 0)))))
    (if (i32.eqz (local.get $errno))
      (then
        (i32.store (i32.const 2008) (i32.const 102))
        (i32.store (i32.const 2012) (i32.const 64))
        (local.set $errno (call $fd_read (i32.load (i32.const 2000)) (i32.const 2008) (i32.const 1) (i32.const 2016)))
        (if (i32.eqz (local.get $errno)) (then (local.set $read (i32.load (i32.const 2016)))))))
    (i32.store8 (i32.const 66) (i32.add (i32.const 48) (i32.div_u (local.get $errno) (i32.const 10))))
    (i32.store8 (i32.const 67) (i32.add (i32.const 48) (i32.rem_u (local.get $errno) (i32.const 10))))
    (memory.copy (i32.add (i32.const 102) (local.get $read)) (i32.const 3000) (i32.const 3))
    (i64.or (i64.const 0x0000_0010_0000_0000) (i64.extend_i32_u (i32.add (i32.const 89) (local.get $read)))))
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[\"00\"],\"partially_handled_span_ids\":[\"")
  (data (i32.const 3000) "\"]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"path\"]}]}")
)
