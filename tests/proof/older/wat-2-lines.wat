;; Rendered by Retort, template wat-2: events of type "order.*" to Order, Line.
(module
  (memory (export "memory") 194 194)
  (global $input i32 (i32.const 65536))
  (global $input_cap i32 (i32.const 4194304))
  (global $output i32 (i32.const 4259904))
  (global $output_cap i32 (i32.const 8388608))

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

  ;; nodes[0]: "Order"
  (func $node_0 (param $block i32) (param $to i32) (result i32)
    (local $from i32) (local $length i32) (local $first i32)
    (if (i32.gt_u (i32.sub (i32.load offset=44 (local.get $block)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (local.set $from (call $room (local.get $to) (i64.add (i64.add (i64.add (i64.add (i64.const 185)
    (i64.load32_u offset=76 (local.get $block)))
    (i64.load32_u offset=52 (local.get $block)))
    (i64.load32_u offset=52 (local.get $block)))
    (i64.load32_u offset=160 (local.get $block)))))
    (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (local.get $from))))
    ;; ,{\"node_id\":\"
    (v128.store offset=0 (local.get $to) (v128.load offset=112 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 13))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 68))))
    ;; :Order:order_id=
    (v128.store offset=0 (local.get $to) (v128.load offset=128 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 16))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 44))))
    ;; \",\"entity_name\":\"Order\",\"labels\":[\"Order\"],\"properties\":[{\"name\":\"order_id\",\"value\":
    (v128.store offset=0 (local.get $to) (v128.load offset=144 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=160 (i32.const 0)))
    (v128.store offset=32 (local.get $to) (v128.load offset=176 (i32.const 0)))
    (v128.store offset=48 (local.get $to) (v128.load offset=192 (i32.const 0)))
    (v128.store offset=64 (local.get $to) (v128.load offset=208 (i32.const 0)))
    (v128.store offset=80 (local.get $to) (v128.load offset=224 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 84)))
    (local.set $from (i32.add (local.get $block) (i32.load offset=48 (local.get $block))))
    (local.set $length (i32.load offset=52 (local.get $block)))
    (if (i32.le_u (local.get $length) (i32.const 16))
      (then (v128.store (local.get $to) (v128.load (local.get $from))))
      (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
    (local.set $to (i32.add (local.get $to) (local.get $length)))
    ;; nodes[0].property_fields[0]: "currency" from the first of 2 values
    (if (i32.lt_u (i32.sub (i32.load offset=152 (local.get $block)) (i32.const 2)) (i32.const 6))
      (then
        ;; },{\"name\":\"currency\",\"value\":
        (v128.store offset=0 (local.get $to) (v128.load offset=240 (i32.const 0)))
        (v128.store offset=16 (local.get $to) (v128.load offset=256 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 29)))
        (local.set $from (i32.add (local.get $block) (i32.load offset=156 (local.get $block))))
        (local.set $length (i32.load offset=160 (local.get $block)))
        (if (i32.le_u (local.get $length) (i32.const 16))
          (then (v128.store (local.get $to) (v128.load (local.get $from))))
          (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
        (local.set $to (i32.add (local.get $to) (local.get $length)))
      ))
    ;; },{\"name\":\"channel\",\"value\":\"a \\\"shop\\\"\"}]}
    (v128.store offset=0 (local.get $to) (v128.load offset=272 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=288 (i32.const 0)))
    (v128.store offset=32 (local.get $to) (v128.load offset=304 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 43)))
    (local.get $to))

  ;; nodes[1]: "Line"
  (func $node_1 (param $block i32) (param $row i32) (param $to i32) (result i32)
    (local $from i32) (local $length i32) (local $first i32)
    (if (i32.ne (i32.load offset=8 (local.get $row)) (i32.const 4)) (then (return (local.get $to))))
    (if (i32.gt_u (i32.sub (i32.load offset=44 (local.get $block)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (if (i32.gt_u (i32.sub (i32.load offset=12 (local.get $row)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (local.set $from (call $room (local.get $to) (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.const 229)
    (i64.load32_u offset=76 (local.get $block)))
    (i64.load32_u offset=52 (local.get $block)))
    (i64.load32_u offset=20 (local.get $row)))
    (i64.load32_u offset=52 (local.get $block)))
    (i64.load32_u offset=20 (local.get $row)))
    (i64.load32_u offset=68 (local.get $row)))
    (i64.load32_u offset=80 (local.get $row)))
    (i64.load32_u offset=92 (local.get $row)))))
    (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (local.get $from))))
    ;; ,{\"node_id\":\"
    (v128.store offset=0 (local.get $to) (v128.load offset=112 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 13))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 68))))
    ;; :Line:order_id=
    (v128.store offset=0 (local.get $to) (v128.load offset=320 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 15))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 44))))
    ;; ,line_no=
    (v128.store offset=0 (local.get $to) (v128.load offset=336 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 9))
      (local.get $block)
      (i32.add (local.get $row) (i32.const 12))))
    ;; \",\"entity_name\":\"Line\",\"labels\":[\"Line\"],\"properties\":[{\"name\":\"order_id\",\"value\":
    (v128.store offset=0 (local.get $to) (v128.load offset=352 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=368 (i32.const 0)))
    (v128.store offset=32 (local.get $to) (v128.load offset=384 (i32.const 0)))
    (v128.store offset=48 (local.get $to) (v128.load offset=400 (i32.const 0)))
    (v128.store offset=64 (local.get $to) (v128.load offset=416 (i32.const 0)))
    (v128.store offset=80 (local.get $to) (v128.load offset=432 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 82)))
    (local.set $from (i32.add (local.get $block) (i32.load offset=48 (local.get $block))))
    (local.set $length (i32.load offset=52 (local.get $block)))
    (if (i32.le_u (local.get $length) (i32.const 16))
      (then (v128.store (local.get $to) (v128.load (local.get $from))))
      (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
    (local.set $to (i32.add (local.get $to) (local.get $length)))
    ;; },{\"name\":\"line_no\",\"value\":
    (v128.store offset=0 (local.get $to) (v128.load offset=448 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=464 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 28)))
    (local.set $from (i32.add (local.get $block) (i32.load offset=16 (local.get $row))))
    (local.set $length (i32.load offset=20 (local.get $row)))
    (if (i32.le_u (local.get $length) (i32.const 16))
      (then (v128.store (local.get $to) (v128.load (local.get $from))))
      (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
    (local.set $to (i32.add (local.get $to) (local.get $length)))
    ;; nodes[1].property_fields[0]: "label" from "{$.content.id}/{no}: {article.name}"
    (if (i32.lt_u (i32.sub (i32.load offset=60 (local.get $row)) (i32.const 2)) (i32.const 6))
      (then
        ;; },{\"name\":\"label\",\"value\":
        (v128.store offset=0 (local.get $to) (v128.load offset=480 (i32.const 0)))
        (v128.store offset=16 (local.get $to) (v128.load offset=496 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 26)))
        (local.set $from (i32.add (local.get $block) (i32.load offset=64 (local.get $row))))
        (local.set $length (i32.load offset=68 (local.get $row)))
        (if (i32.le_u (local.get $length) (i32.const 16))
          (then (v128.store (local.get $to) (v128.load (local.get $from))))
          (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
        (local.set $to (i32.add (local.get $to) (local.get $length)))
      ))
    ;; nodes[1].property_fields[1]: "shipped" from ["shipped"] of element 1, timestamp
    (if (i32.lt_u (i32.sub (i32.load offset=72 (local.get $row)) (i32.const 2)) (i32.const 6))
      (then
        ;; },{\"name\":\"shipped\",\"value\":
        (v128.store offset=0 (local.get $to) (v128.load offset=512 (i32.const 0)))
        (v128.store offset=16 (local.get $to) (v128.load offset=528 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 28)))
        (local.set $from (i32.add (local.get $block) (i32.load offset=76 (local.get $row))))
        (local.set $length (i32.load offset=80 (local.get $row)))
        (if (i32.le_u (local.get $length) (i32.const 16))
          (then (v128.store (local.get $to) (v128.load (local.get $from))))
          (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
        (local.set $to (i32.add (local.get $to) (local.get $length)))
      ))
    ;; nodes[1].property_fields[2]: "note" from ["note"] of element 1
    (if (i32.lt_u (i32.sub (i32.load offset=84 (local.get $row)) (i32.const 1)) (i32.const 7))
      (then
        ;; },{\"name\":\"note\",\"value\":
        (v128.store offset=0 (local.get $to) (v128.load offset=544 (i32.const 0)))
        (v128.store offset=16 (local.get $to) (v128.load offset=560 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 25)))
        (local.set $from (i32.add (local.get $block) (i32.load offset=88 (local.get $row))))
        (local.set $length (i32.load offset=92 (local.get $row)))
        (if (i32.le_u (local.get $length) (i32.const 16))
          (then (v128.store (local.get $to) (v128.load (local.get $from))))
          (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
        (local.set $to (i32.add (local.get $to) (local.get $length)))
      ))
    ;; }]}
    (v128.store offset=0 (local.get $to) (v128.load offset=576 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 3)))
    (local.get $to))

  (func $each_node_1 (param $block i32) (param $to i32) (result i32)
    (local $row i32) (local $left i32)
    (local.set $row (i32.add (local.get $block) (i32.load offset=36 (local.get $block))))
    (local.set $left (i32.load offset=40 (local.get $block)))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $left)))
        (local.set $to (call $node_1 (local.get $block) (local.get $row) (local.get $to)))
        (br_if $done (i32.lt_s (local.get $to) (i32.const 0)))
        (local.set $row (i32.add (local.get $row) (i32.const 96)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br $next)))
    (local.get $to))

  ;; edges[0]: "HAS_LINE"
  (func $edge_0 (param $block i32) (param $row i32) (param $to i32) (result i32)
    (local $from i32) (local $length i32) (local $first i32)
    (if (i32.ne (i32.load offset=8 (local.get $row)) (i32.const 4)) (then (return (local.get $to))))
    (if (i32.gt_u (i32.sub (i32.load offset=44 (local.get $block)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (if (i32.gt_u (i32.sub (i32.load offset=12 (local.get $row)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (local.set $from (call $room (local.get $to) (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.const 186)
    (i64.load32_u offset=76 (local.get $block)))
    (i64.load32_u offset=52 (local.get $block)))
    (i64.load32_u offset=76 (local.get $block)))
    (i64.load32_u offset=52 (local.get $block)))
    (i64.load32_u offset=20 (local.get $row)))
    (i64.load32_u offset=76 (local.get $block)))
    (i64.load32_u offset=52 (local.get $block)))
    (i64.load32_u offset=76 (local.get $block)))
    (i64.load32_u offset=52 (local.get $block)))
    (i64.load32_u offset=20 (local.get $row)))))
    (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (local.get $from))))
    ;; ,{\"edge_id\":\"
    (v128.store offset=0 (local.get $to) (v128.load offset=592 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 13))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 68))))
    ;; :Order:order_id=
    (v128.store offset=0 (local.get $to) (v128.load offset=128 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 16))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 44))))
    ;; :HAS_LINE:
    (v128.store offset=0 (local.get $to) (v128.load offset=608 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 10))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 68))))
    ;; :Line:order_id=
    (v128.store offset=0 (local.get $to) (v128.load offset=320 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 15))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 44))))
    ;; ,line_no=
    (v128.store offset=0 (local.get $to) (v128.load offset=336 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 9))
      (local.get $block)
      (i32.add (local.get $row) (i32.const 12))))
    ;; \",\"relationship_name\":\"HAS_LINE\",\"from_node_id\":\"
    (v128.store offset=0 (local.get $to) (v128.load offset=624 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=640 (i32.const 0)))
    (v128.store offset=32 (local.get $to) (v128.load offset=656 (i32.const 0)))
    (v128.store offset=48 (local.get $to) (v128.load offset=672 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 49))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 68))))
    ;; :Order:order_id=
    (v128.store offset=0 (local.get $to) (v128.load offset=128 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 16))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 44))))
    ;; \",\"to_node_id\":\"
    (v128.store offset=0 (local.get $to) (v128.load offset=688 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 16))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 68))))
    ;; :Line:order_id=
    (v128.store offset=0 (local.get $to) (v128.load offset=320 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 15))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 44))))
    ;; ,line_no=
    (v128.store offset=0 (local.get $to) (v128.load offset=336 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 9))
      (local.get $block)
      (i32.add (local.get $row) (i32.const 12))))
    ;; \",\"properties\":[]}
    (v128.store offset=0 (local.get $to) (v128.load offset=704 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=720 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 18)))
    (local.get $to))

  (func $each_edge_0 (param $block i32) (param $to i32) (result i32)
    (local $row i32) (local $left i32)
    (local.set $row (i32.add (local.get $block) (i32.load offset=36 (local.get $block))))
    (local.set $left (i32.load offset=40 (local.get $block)))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $left)))
        (local.set $to (call $edge_0 (local.get $block) (local.get $row) (local.get $to)))
        (br_if $done (i32.lt_s (local.get $to) (i32.const 0)))
        (local.set $row (i32.add (local.get $row) (i32.const 96)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br $next)))
    (local.get $to))

  ;; edges[1]: "PLACED_BY"
  (func $edge_1 (param $block i32) (param $to i32) (result i32)
    (local $from i32) (local $length i32) (local $first i32)
    (if (i32.gt_u (i32.sub (i32.load offset=212 (local.get $block)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (if (i32.gt_u (i32.sub (i32.load offset=44 (local.get $block)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (if (i32.gt_u (i32.sub (i32.load offset=200 (local.get $block)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (local.set $from (call $room (local.get $to) (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.const 184)
    (i64.load32_u offset=220 (local.get $block)))
    (i64.load32_u offset=76 (local.get $block)))
    (i64.load32_u offset=52 (local.get $block)))
    (i64.load32_u offset=76 (local.get $block)))
    (i64.load32_u offset=208 (local.get $block)))
    (i64.load32_u offset=232 (local.get $block)))
    (i64.load32_u offset=244 (local.get $block)))))
    (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (local.get $from))))
    ;; ,{\"edge_id\":\"
    (v128.store offset=0 (local.get $to) (v128.load offset=592 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 13))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 212))))
    ;; \",\"relationship_name\":\"PLACED_BY\",\"from_node_id\":\"
    (v128.store offset=0 (local.get $to) (v128.load offset=736 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=752 (i32.const 0)))
    (v128.store offset=32 (local.get $to) (v128.load offset=768 (i32.const 0)))
    (v128.store offset=48 (local.get $to) (v128.load offset=784 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 50))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 68))))
    ;; :Order:order_id=
    (v128.store offset=0 (local.get $to) (v128.load offset=128 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 16))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 44))))
    ;; \",\"to_node_id\":\"
    (v128.store offset=0 (local.get $to) (v128.load offset=688 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 16))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 68))))
    ;; :Customer:customer_id=
    (v128.store offset=0 (local.get $to) (v128.load offset=800 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=816 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 22))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 200))))
    ;; \",\"properties\":
    (v128.store offset=0 (local.get $to) (v128.load offset=832 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 15)))
    (local.set $first (local.get $to))
    ;; edges[1].property_fields[0]: "since" from ["content", "customer", "since"], date
    (if (i32.lt_u (i32.sub (i32.load offset=224 (local.get $block)) (i32.const 2)) (i32.const 6))
      (then
        ;; ,{\"name\":\"since\",\"value\":
        (v128.store offset=0 (local.get $to) (v128.load offset=848 (i32.const 0)))
        (v128.store offset=16 (local.get $to) (v128.load offset=864 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 25)))
        (local.set $from (i32.add (local.get $block) (i32.load offset=228 (local.get $block))))
        (local.set $length (i32.load offset=232 (local.get $block)))
        (if (i32.le_u (local.get $length) (i32.const 16))
          (then (v128.store (local.get $to) (v128.load (local.get $from))))
          (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
        (local.set $to (i32.add (local.get $to) (local.get $length)))
        ;; }
        (v128.store offset=0 (local.get $to) (v128.load offset=880 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
      ))
    ;; edges[1].property_fields[1]: "vip" from ["content", "customer", "vip"]
    (if (i32.lt_u (i32.sub (i32.load offset=236 (local.get $block)) (i32.const 2)) (i32.const 6))
      (then
        ;; ,{\"name\":\"vip\",\"value\":
        (v128.store offset=0 (local.get $to) (v128.load offset=896 (i32.const 0)))
        (v128.store offset=16 (local.get $to) (v128.load offset=912 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 23)))
        (local.set $from (i32.add (local.get $block) (i32.load offset=240 (local.get $block))))
        (local.set $length (i32.load offset=244 (local.get $block)))
        (if (i32.le_u (local.get $length) (i32.const 16))
          (then (v128.store (local.get $to) (v128.load (local.get $from))))
          (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
        (local.set $to (i32.add (local.get $to) (local.get $length)))
        ;; }
        (v128.store offset=0 (local.get $to) (v128.load offset=880 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 1)))
      ))
    (local.set $to (call $open_list (local.get $first) (local.get $to)))
    ;; ]}
    (v128.store offset=0 (local.get $to) (v128.load offset=928 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 2)))
    (local.get $to))

  ;; span_handling[0]: fully handled
  (func $span_0_fully (param $block i32) (param $to i32) (result i32)
    (local $from i32) (local $length i32) (local $first i32)
    (if (i32.eq (i32.load offset=112 (local.get $block)) (i32.const 4)) (then (return (local.get $to))))
    (if (i32.ne (i32.load offset=100 (local.get $block)) (i32.const 4)) (then (return (local.get $to))))
    (if (i32.gt_u (i32.sub (i32.load offset=80 (local.get $block)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (local.set $from (call $room (local.get $to) (i64.add (i64.const 3)
    (i64.load32_u offset=88 (local.get $block)))))
    (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (local.get $from))))
    ;; ,\"
    (v128.store offset=0 (local.get $to) (v128.load offset=944 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 2))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 80))))
    ;; \"
    (v128.store offset=0 (local.get $to) (v128.load offset=960 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 1)))
    (local.get $to))

  ;; span_handling[0]: partially handled
  (func $span_0_partially (param $block i32) (param $to i32) (result i32)
    (local $from i32) (local $length i32) (local $first i32)
    (if (i32.ne (i32.load offset=112 (local.get $block)) (i32.const 4)) (then (return (local.get $to))))
    (if (i32.ne (i32.load offset=100 (local.get $block)) (i32.const 4)) (then (return (local.get $to))))
    (if (i32.gt_u (i32.sub (i32.load offset=80 (local.get $block)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (local.set $from (call $room (local.get $to) (i64.add (i64.const 3)
    (i64.load32_u offset=88 (local.get $block)))))
    (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (local.get $from))))
    ;; ,\"
    (v128.store offset=0 (local.get $to) (v128.load offset=944 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 2))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 80))))
    ;; \"
    (v128.store offset=0 (local.get $to) (v128.load offset=960 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 1)))
    (local.get $to))

  ;; span_handling[1]: fully handled
  (func $span_1_fully (param $block i32) (param $row i32) (param $to i32) (result i32)
    (local $from i32) (local $length i32) (local $first i32)
    (if (i32.eq (i32.load offset=56 (local.get $row)) (i32.const 4)) (then (return (local.get $to))))
    (if (i32.ne (i32.load offset=44 (local.get $row)) (i32.const 4)) (then (return (local.get $to))))
    (if (i32.gt_u (i32.sub (i32.load offset=24 (local.get $row)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (local.set $from (call $room (local.get $to) (i64.add (i64.const 3)
    (i64.load32_u offset=32 (local.get $row)))))
    (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (local.get $from))))
    ;; ,\"
    (v128.store offset=0 (local.get $to) (v128.load offset=944 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 2))
      (local.get $block)
      (i32.add (local.get $row) (i32.const 24))))
    ;; \"
    (v128.store offset=0 (local.get $to) (v128.load offset=960 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 1)))
    (local.get $to))

  (func $each_span_1_fully (param $block i32) (param $to i32) (result i32)
    (local $row i32) (local $left i32)
    (local.set $row (i32.add (local.get $block) (i32.load offset=36 (local.get $block))))
    (local.set $left (i32.load offset=40 (local.get $block)))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $left)))
        (local.set $to (call $span_1_fully (local.get $block) (local.get $row) (local.get $to)))
        (br_if $done (i32.lt_s (local.get $to) (i32.const 0)))
        (local.set $row (i32.add (local.get $row) (i32.const 96)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br $next)))
    (local.get $to))

  ;; span_handling[1]: partially handled
  (func $span_1_partially (param $block i32) (param $row i32) (param $to i32) (result i32)
    (local $from i32) (local $length i32) (local $first i32)
    (if (i32.ne (i32.load offset=56 (local.get $row)) (i32.const 4)) (then (return (local.get $to))))
    (if (i32.ne (i32.load offset=44 (local.get $row)) (i32.const 4)) (then (return (local.get $to))))
    (if (i32.gt_u (i32.sub (i32.load offset=24 (local.get $row)) (i32.const 2)) (i32.const 2)) (then (return (local.get $to))))
    (local.set $from (call $room (local.get $to) (i64.add (i64.const 3)
    (i64.load32_u offset=32 (local.get $row)))))
    (if (i32.lt_s (local.get $from) (i32.const 0)) (then (return (local.get $from))))
    ;; ,\"
    (v128.store offset=0 (local.get $to) (v128.load offset=944 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 2))
      (local.get $block)
      (i32.add (local.get $row) (i32.const 24))))
    ;; \"
    (v128.store offset=0 (local.get $to) (v128.load offset=960 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 1)))
    (local.get $to))

  (func $each_span_1_partially (param $block i32) (param $to i32) (result i32)
    (local $row i32) (local $left i32)
    (local.set $row (i32.add (local.get $block) (i32.load offset=36 (local.get $block))))
    (local.set $left (i32.load offset=40 (local.get $block)))
    (block $done
      (loop $next
        (br_if $done (i32.eqz (local.get $left)))
        (local.set $to (call $span_1_partially (local.get $block) (local.get $row) (local.get $to)))
        (br_if $done (i32.lt_s (local.get $to) (i32.const 0)))
        (local.set $row (i32.add (local.get $row) (i32.const 96)))
        (local.set $left (i32.sub (local.get $left) (i32.const 1)))
        (br $next)))
    (local.get $to))

  ;; The extractor: one input block in, the address and the length of one result out.
  (func $read (export "read_order") (param $block i32) (param $size i32) (result i64)
    (local $to i32) (local $from i32) (local $first i32) (local $any i32)

    ;; event_type, when: any other event is declined
    (if (i32.ne (i32.load offset=28 (local.get $block)) (i32.const 4)) (then (return (i64.const 68719476819))))

    (local.set $to (global.get $output))

    ;; {\"nodes\":
    (v128.store offset=0 (local.get $to) (v128.load offset=976 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 9)))
    (local.set $first (local.get $to))
    (local.set $to (call $node_0 (local.get $block) (local.get $to)))
    (if (i32.lt_s (local.get $to) (i32.const 0))
      (then (return (call $too_large (local.get $to)))))
    (local.set $to (call $each_node_1 (local.get $block) (local.get $to)))
    (if (i32.lt_s (local.get $to) (i32.const 0))
      (then (return (call $too_large (local.get $to)))))
    (local.set $any (i32.or (local.get $any) (i32.ne (local.get $to) (local.get $first))))
    (local.set $to (call $open_list (local.get $first) (local.get $to)))

    ;; ],\"edges\":
    (v128.store offset=0 (local.get $to) (v128.load offset=992 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 10)))
    (local.set $first (local.get $to))
    (local.set $to (call $each_edge_0 (local.get $block) (local.get $to)))
    (if (i32.lt_s (local.get $to) (i32.const 0))
      (then (return (call $too_large (local.get $to)))))
    (local.set $to (call $edge_1 (local.get $block) (local.get $to)))
    (if (i32.lt_s (local.get $to) (i32.const 0))
      (then (return (call $too_large (local.get $to)))))
    (local.set $any (i32.or (local.get $any) (i32.ne (local.get $to) (local.get $first))))
    (if (i32.eqz (local.get $any)) (then (return (i64.const 68719476819))))
    (local.set $to (call $open_list (local.get $first) (local.get $to)))

    ;; ],\"fully_handled_span_ids\":
    (v128.store offset=0 (local.get $to) (v128.load offset=1008 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=1024 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 27)))
    (local.set $first (local.get $to))
    (local.set $to (call $span_0_fully (local.get $block) (local.get $to)))
    (if (i32.lt_s (local.get $to) (i32.const 0))
      (then (return (call $too_large (local.get $to)))))
    (local.set $to (call $each_span_1_fully (local.get $block) (local.get $to)))
    (if (i32.lt_s (local.get $to) (i32.const 0))
      (then (return (call $too_large (local.get $to)))))
    (local.set $to (call $open_list (local.get $first) (local.get $to)))

    ;; ],\"partially_handled_span_ids\":
    (v128.store offset=0 (local.get $to) (v128.load offset=1040 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=1056 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 31)))
    (local.set $first (local.get $to))
    (local.set $to (call $span_0_partially (local.get $block) (local.get $to)))
    (if (i32.lt_s (local.get $to) (i32.const 0))
      (then (return (call $too_large (local.get $to)))))
    (local.set $to (call $each_span_1_partially (local.get $block) (local.get $to)))
    (if (i32.lt_s (local.get $to) (i32.const 0))
      (then (return (call $too_large (local.get $to)))))
    (local.set $to (call $open_list (local.get $first) (local.get $to)))

    ;; ]}
    (v128.store offset=0 (local.get $to) (v128.load offset=928 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 2)))

    ;; the address in the high half, the length in the low half
    (i64.or
      (i64.shl (i64.extend_i32_u (global.get $output)) (i64.const 32))
      (i64.extend_i32_u (i32.sub (local.get $to) (global.get $output)))))

  ;; The constant text, in the order in which the code above asks for it.
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (data (i32.const 112) ",{\"node_id\":\"")
  (data (i32.const 128) ":Order:order_id=")
  (data (i32.const 144) "\",\"entity_name\":\"Order\",\"labels\":[\"Order\"],\"properties\":[{\"name\":\"order_id\",\"value\":")
  (data (i32.const 240) "},{\"name\":\"currency\",\"value\":")
  (data (i32.const 272) "},{\"name\":\"channel\",\"value\":\"a \\\"shop\\\"\"}]}")
  (data (i32.const 320) ":Line:order_id=")
  (data (i32.const 336) ",line_no=")
  (data (i32.const 352) "\",\"entity_name\":\"Line\",\"labels\":[\"Line\"],\"properties\":[{\"name\":\"order_id\",\"value\":")
  (data (i32.const 448) "},{\"name\":\"line_no\",\"value\":")
  (data (i32.const 480) "},{\"name\":\"label\",\"value\":")
  (data (i32.const 512) "},{\"name\":\"shipped\",\"value\":")
  (data (i32.const 544) "},{\"name\":\"note\",\"value\":")
  (data (i32.const 576) "}]}")
  (data (i32.const 592) ",{\"edge_id\":\"")
  (data (i32.const 608) ":HAS_LINE:")
  (data (i32.const 624) "\",\"relationship_name\":\"HAS_LINE\",\"from_node_id\":\"")
  (data (i32.const 688) "\",\"to_node_id\":\"")
  (data (i32.const 704) "\",\"properties\":[]}")
  (data (i32.const 736) "\",\"relationship_name\":\"PLACED_BY\",\"from_node_id\":\"")
  (data (i32.const 800) ":Customer:customer_id=")
  (data (i32.const 832) "\",\"properties\":")
  (data (i32.const 848) ",{\"name\":\"since\",\"value\":")
  (data (i32.const 880) "}")
  (data (i32.const 896) ",{\"name\":\"vip\",\"value\":")
  (data (i32.const 928) "]}")
  (data (i32.const 944) ",\"")
  (data (i32.const 960) "\"")
  (data (i32.const 976) "{\"nodes\":")
  (data (i32.const 992) "],\"edges\":")
  (data (i32.const 1008) "],\"fully_handled_span_ids\":")
  (data (i32.const 1040) "],\"partially_handled_span_ids\":")

  ;; What the extractor declares: the host copies these inputs into it and nothing else.
  (@custom "retort" "{\"abi\":1,\"function\":\"read_order\",\"event_types\":[\"order.*\"],\"inputs\":[{\"when\":{\"path\":[\"event_type\"],\"starts_with\":\"order.\"}},{\"when\":{\"not\":{\"path\":[\"content\",\"test\"],\"truthy\":true}},\"if\":0},{\"when\":{\"path\":[\"quantity\"],\"level\":1,\"truthy\":true},\"rows\":0},{\"path\":[\"content\",\"id\"],\"as\":\"json\",\"if\":1},{\"path\":[\"no\"],\"level\":1,\"as\":\"json\",\"rows\":0},{\"path\":[\"session_id\"],\"as\":\"json\",\"if\":1},{\"path\":[\"span_id\"],\"as\":\"json\",\"if\":1},{\"path\":[\"span_id\"],\"as\":\"truthy\",\"if\":1},{\"path\":[\"content\",\"note\"],\"as\":\"truthy\",\"if\":1},{\"path\":[\"span\"],\"level\":1,\"as\":\"json\",\"rows\":0},{\"path\":[\"span\"],\"level\":1,\"as\":\"truthy\",\"rows\":0},{\"when\":{\"path\":[\"note\"],\"level\":1,\"exists\":true},\"rows\":0},{\"coalesce\":[{\"path\":[\"content\",\"currency\"]},{\"constant\":\"EUR\"}],\"if\":1},{\"template\":[{\"path\":[\"content\",\"id\"]},\"/\",{\"path\":[\"no\"],\"level\":1},\": \",{\"path\":[\"article\",\"name\"],\"level\":1}],\"rows\":0,\"if\":2},{\"path\":[\"shipped\"],\"level\":1,\"as\":[\"timestamp\"],\"rows\":0,\"if\":2},{\"path\":[\"note\"],\"level\":1,\"as\":\"json\",\"rows\":0},{\"path\":[\"content\",\"customer\",\"id\"],\"as\":\"json\",\"if\":1},{\"template\":[{\"path\":[\"content\",\"id\"]},\" by \",{\"path\":[\"content\",\"customer\",\"id\"]}],\"if\":1},{\"path\":[\"content\",\"customer\",\"since\"],\"as\":[\"date\"],\"if\":1},{\"path\":[\"content\",\"customer\",\"vip\"],\"as\":\"json\",\"if\":1}],\"rows\":[{\"array\":[\"content\",\"lines\"],\"if\":1}],\"on_duplicate\":\"last\"}")
)
