;; Rendered by Retort, template wat-1: events of type "order" to nodes of Order.
(module
  (memory (export "memory") 34 34)
  (global $input i32 (i32.const 65536))
  (global $input_cap i32 (i32.const 1048576))
  (global $output i32 (i32.const 1114176))
  (global $output_cap i32 (i32.const 1048576))

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

  ;; The extractor: one input block in, the address and the length of one result out.
  (func $read (export "read_order") (param $block i32) (param $size i32) (result i64)
    (local $to i32) (local $from i32) (local $length i32) (local $need i64)

    ;; event_type: any other than "order" is declined
    (if (i32.or
        (i32.ne (i32.load offset=8 (local.get $block)) (i32.const 4))
        (i32.ne (i32.load offset=16 (local.get $block)) (i32.const 7)))
      (then (return (i64.const 68719476819))))
    (local.set $from (i32.add (local.get $block) (i32.load offset=12 (local.get $block))))
    (if (i64.ne (i64.load32_u offset=0 (local.get $from)) (i64.const 0x64726f22)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load16_u offset=4 (local.get $from)) (i64.const 0x7265)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load8_u offset=6 (local.get $from)) (i64.const 0x22)) (then (return (i64.const 68719476819))))

    ;; key_field: an event without a scalar at ["id"] is declined
    (if (i32.gt_u (i32.sub (i32.load offset=20 (local.get $block)) (i32.const 2)) (i32.const 2))
      (then (return (i64.const 68719476819))))

    ;; the result must fit: its constant text and every slice of the block that it may hold
    (local.set $need (i64.add (i64.add (i64.add (i64.const 186)
      (i64.load32_u offset=40 (local.get $block)))
      (i64.load32_u offset=28 (local.get $block)))
      (i64.load32_u offset=28 (local.get $block))))
    (if (i64.gt_u (local.get $need) (i64.extend_i32_u (global.get $output_cap)))
      (then (return (i64.or (i64.const 0xffffffff00000000) (i64.and (local.get $need) (i64.const 0xffffffff))))))

    (local.set $to (global.get $output))

    ;; session_id_path: ["session_id"]
    ;; {\"nodes\":[{\"node_id\":\"
    (v128.store offset=0 (local.get $to) (v128.load offset=112 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=128 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 22))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 32))))

    ;; target_entity_name, key_field: "id" from ["id"]
    ;; :Order:id=
    (v128.store offset=0 (local.get $to) (v128.load offset=144 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 10))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 20))))
    ;; \",\"entity_name\":\"Order\",\"labels\":[\"Order\"],\"properties\":[{\"name\":\"id\",\"value\":
    (v128.store offset=0 (local.get $to) (v128.load offset=160 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=176 (i32.const 0)))
    (v128.store offset=32 (local.get $to) (v128.load offset=192 (i32.const 0)))
    (v128.store offset=48 (local.get $to) (v128.load offset=208 (i32.const 0)))
    (v128.store offset=64 (local.get $to) (v128.load offset=224 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 78)))
    (local.set $from (i32.add (local.get $block) (i32.load offset=24 (local.get $block))))
    (local.set $length (i32.load offset=28 (local.get $block)))
    (if (i32.le_u (local.get $length) (i32.const 16))
      (then (v128.store (local.get $to) (v128.load (local.get $from))))
      (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
    (local.set $to (i32.add (local.get $to) (local.get $length)))

    ;; span_handling: none
    ;; }]}],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}
    (v128.store offset=0 (local.get $to) (v128.load offset=240 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=256 (i32.const 0)))
    (v128.store offset=32 (local.get $to) (v128.load offset=272 (i32.const 0)))
    (v128.store offset=48 (local.get $to) (v128.load offset=288 (i32.const 0)))
    (v128.store offset=64 (local.get $to) (v128.load offset=304 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 76)))

    ;; the address in the high half, the length in the low half
    (i64.or
      (i64.shl (i64.extend_i32_u (global.get $output)) (i64.const 32))
      (i64.extend_i32_u (i32.sub (local.get $to) (global.get $output)))))

  ;; The constant text, in the order in which the code above asks for it.
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (data (i32.const 112) "{\"nodes\":[{\"node_id\":\"")
  (data (i32.const 144) ":Order:id=")
  (data (i32.const 160) "\",\"entity_name\":\"Order\",\"labels\":[\"Order\"],\"properties\":[{\"name\":\"id\",\"value\":")
  (data (i32.const 240) "}]}],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")

  ;; What the extractor declares: the host copies these inputs into it and nothing else.
  (@custom "retort" "{\"abi\":1,\"function\":\"read_order\",\"event_types\":[\"order\"],\"inputs\":[{\"path\":[\"event_type\"],\"as\":\"json\"},{\"path\":[\"id\"],\"as\":\"json\"},{\"path\":[\"session_id\"],\"as\":\"json\"}]}")
)
