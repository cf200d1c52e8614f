  ;; What extractors of several items have besides: the lists of a result. It comes behind the prelude.
  ;;
  ;; Each item of a list is written with a comma before it, so that no item has to know whether it is the first one.

  ;; Makes a list of what lies from $first to $to: the first comma becomes the bracket, and where there is nothing the bracket
  ;; is added. Gives the address behind.
  (func $open_list (param $first i32) (param $to i32) (result i32)
    (i32.store8 (local.get $first) (i32.const 0x5b))
    (i32.add (local.get $to) (i32.eq (local.get $to) (local.get $first))))

  ;; Gives $to where $need more bytes of a result fit behind it. Where they don't, a negative number: what the result would
  ;; take, as far as 31 bits can say it, and the sign.
  (func $room (param $to i32) (param $need i64) (result i32)
    (local.set $need
      (i64.add (local.get $need) (i64.extend_i32_u (i32.sub (local.get $to) (global.get $output)))))
    (if (i64.le_u (local.get $need) (i64.extend_i32_u (global.get $output_cap)))
      (then (return (local.get $to))))
    (i32.or
      (i32.const 0x80000000)
      (i32.wrap_i64
        (select
          (local.get $need)
          (i64.const 0x7fffffff)
          (i64.lt_u (local.get $need) (i64.const 0x7fffffff))))))

  ;; What an extractor returns whose result doesn't fit: no address, and what the result would take.
  (func $too_large (param $over i32) (result i64)
    (i64.or
      (i64.const 0xffffffff00000000)
      (i64.extend_i32_u (i32.and (local.get $over) (i32.const 0x7fffffff)))))
