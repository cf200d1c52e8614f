  ;; The prelude: the part of every rendered extractor that is written by hand. It comes first in the module, so its
  ;; functions have the same indices in every module of the same version. It has no loop and keeps no state.
  ;;
  ;; The renderer defines four constants before it:
  ;;   $input       where the input block lies        $input_cap   how many bytes a block may have
  ;;   $output      where the result is written       $output_cap  how many bytes a result may have
  ;;
  ;; Copies move 16 bytes at a time and may write up to 63 bytes too many. That is harmless: a result is written from its
  ;; first byte to its last, so what is written too much is overwritten by what follows or lies behind the result's end,
  ;; and 64 spare bytes follow each area.

  ;; ABI: where the host may write a block of $length bytes; 0 refuses. Always the same place.
  (func $retort_buffer (export "retort_buffer") (param $length i32) (result i32)
    (select
      (global.get $input)
      (i32.const 0)
      (i32.le_u (local.get $length) (global.get $input_cap))))

  ;; Copies $length bytes, which the caller has found to be more than 16.
  (func $copy_long (param $to i32) (param $from i32) (param $length i32)
    (if (i32.le_u (local.get $length) (i32.const 64))
      (then
        (v128.store (local.get $to) (v128.load (local.get $from)))
        (v128.store offset=16 (local.get $to) (v128.load offset=16 (local.get $from)))
        (v128.store offset=32 (local.get $to) (v128.load offset=32 (local.get $from)))
        (v128.store offset=48 (local.get $to) (v128.load offset=48 (local.get $from))))
      (else
        (memory.copy (local.get $to) (local.get $from) (local.get $length)))))

  ;; Copies $length bytes and gives the address behind the copy.
  (func $put (param $to i32) (param $from i32) (param $length i32) (result i32)
    (if (i32.le_u (local.get $length) (i32.const 16))
      (then (v128.store (local.get $to) (v128.load (local.get $from))))
      (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
    (i32.add (local.get $to) (local.get $length)))

  ;; Copies the text of a slot into a JSON string: a string without its quotes, a number or a boolean as it is, anything
  ;; else not at all. $slot is the address of the slot's record, $block that of the block. Gives the address behind.
  (func $put_text (param $to i32) (param $block i32) (param $slot i32) (result i32)
    (local $kind i32) (local $quote i32)
    (local.set $kind (i32.load (local.get $slot)))
    (if (i32.gt_u (i32.sub (local.get $kind) (i32.const 2)) (i32.const 2))
      (then (return (local.get $to))))
    (local.set $quote (i32.eq (local.get $kind) (i32.const 4)))
    (call $put
      (local.get $to)
      (i32.add (i32.add (local.get $block) (i32.load offset=4 (local.get $slot))) (local.get $quote))
      (i32.sub (i32.load offset=8 (local.get $slot)) (i32.shl (local.get $quote) (i32.const 1)))))
