;; Rendered by Retort, template wat-1: events of type "push\") (func) ;; \"\\ ;; \"\"\" (; ;) ) \n\r\t\u{0}\u{7f} \u{202e}\u{2066} \u{e9} \u{1f642} ${x} {{y}} \\00" to nodes of _.
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

  (func $properties_0 (param $block i32) (param $to i32) (result i32)
    (local $from i32) (local $length i32)
    ;; property_fields[0]: "p" from ["\n(data (i32.const 0) \"x\")", "\"", "\\", "\u{0}"]
    (if (i32.lt_u (i32.sub (i32.load offset=80 (local.get $block)) (i32.const 2)) (i32.const 6))
      (then
        ;; },{\"name\":\"p\",\"value\":
        (v128.store offset=0 (local.get $to) (v128.load offset=112 (i32.const 0)))
        (v128.store offset=16 (local.get $to) (v128.load offset=128 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 22)))
        (local.set $from (i32.add (local.get $block) (i32.load offset=84 (local.get $block))))
        (local.set $length (i32.load offset=88 (local.get $block)))
        (if (i32.le_u (local.get $length) (i32.const 16))
          (then (v128.store (local.get $to) (v128.load (local.get $from))))
          (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
        (local.set $to (i32.add (local.get $to) (local.get $length)))
      ))
    ;; property_fields[1]: "long" from ["\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}\u{1f642}..."]
    (if (i32.lt_u (i32.sub (i32.load offset=92 (local.get $block)) (i32.const 2)) (i32.const 6))
      (then
        ;; },{\"name\":\"long\",\"value\":
        (v128.store offset=0 (local.get $to) (v128.load offset=144 (i32.const 0)))
        (v128.store offset=16 (local.get $to) (v128.load offset=160 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 25)))
        (local.set $from (i32.add (local.get $block) (i32.load offset=96 (local.get $block))))
        (local.set $length (i32.load offset=100 (local.get $block)))
        (if (i32.le_u (local.get $length) (i32.const 16))
          (then (v128.store (local.get $to) (v128.load (local.get $from))))
          (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
        (local.set $to (i32.add (local.get $to) (local.get $length)))
      ))
    (local.get $to))

  ;; The extractor: one input block in, the address and the length of one result out.
  (func $read (export "f") (param $block i32) (param $size i32) (result i64)
    (local $to i32) (local $from i32) (local $length i32) (local $need i64)

    ;; event_type: any other than "push\") (func) ;; \"\\ ;; \"\"\" (; ;) ) \n\r\t\u{0}\u{7f} \u{202e}\u{2066} \u{e9} \u{1f642} ${x} {{y}} \\00" is declined
    (if (i32.or
        (i32.ne (i32.load offset=8 (local.get $block)) (i32.const 4))
        (i32.ne (i32.load offset=16 (local.get $block)) (i32.const 87)))
      (then (return (i64.const 68719476819))))
    (local.set $from (i32.add (local.get $block) (i32.load offset=12 (local.get $block))))
    (if (i64.ne (i64.load offset=0 (local.get $from)) (i64.const 0x29225c6873757022)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load offset=8 (local.get $from)) (i64.const 0x2029636e75662820)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load offset=16 (local.get $from)) (i64.const 0x205c5c225c203b3b)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load offset=24 (local.get $from)) (i64.const 0x5c225c225c203b3b)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load offset=32 (local.get $from)) (i64.const 0x20293b203b282022)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load offset=40 (local.get $from)) (i64.const 0x745c725c6e5c2029)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load offset=48 (local.get $from)) (i64.const 0x207f30303030755c)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load offset=56 (local.get $from)) (i64.const 0xc320a681e2ae80e2)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load offset=64 (local.get $from)) (i64.const 0x242082999ff020a9)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load offset=72 (local.get $from)) (i64.const 0x7d797b7b207d787b)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load32_u offset=80 (local.get $from)) (i64.const 0x5c5c207d)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load16_u offset=84 (local.get $from)) (i64.const 0x3030)) (then (return (i64.const 68719476819))))
    (if (i64.ne (i64.load8_u offset=86 (local.get $from)) (i64.const 0x22)) (then (return (i64.const 68719476819))))

    ;; key_field: an event without a scalar at ["\"\\ ;; \"\"\" (; ;) ) \n\r\t\u{0}\u{7f} \u{202e}\u{2066} \u{e9} \u{1f642} ${x} {{y}} \\00", "\") (memory 9) (;"] is declined
    (if (i32.gt_u (i32.sub (i32.load offset=20 (local.get $block)) (i32.const 2)) (i32.const 2))
      (then (return (i64.const 68719476819))))

    ;; the result must fit: its constant text and every slice of the block that it may hold
    (local.set $need (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.add (i64.const 375)
      (i64.load32_u offset=88 (local.get $block)))
      (i64.load32_u offset=100 (local.get $block)))
      (i64.load32_u offset=40 (local.get $block)))
      (i64.load32_u offset=28 (local.get $block)))
      (i64.load32_u offset=28 (local.get $block)))
      (i64.load32_u offset=52 (local.get $block)))
      (i64.load32_u offset=52 (local.get $block))))
    (if (i64.gt_u (local.get $need) (i64.extend_i32_u (global.get $output_cap)))
      (then (return (i64.or (i64.const 0xffffffff00000000) (i64.and (local.get $need) (i64.const 0xffffffff))))))

    (local.set $to (global.get $output))

    ;; session_id_path: ["\u{feff}"]
    ;; {\"nodes\":[{\"node_id\":\"
    (v128.store offset=0 (local.get $to) (v128.load offset=176 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=192 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 22))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 32))))

    ;; target_entity_name, key_field: "k" from ["\"\\ ;; \"\"\" (; ;) ) \n\r\t\u{0}\u{7f} \u{202e}\u{2066} \u{e9} \u{1f642} ${x} {{y}} \\00", "\") (memory 9) (;"]
    ;; :_:k=
    (v128.store offset=0 (local.get $to) (v128.load offset=208 (i32.const 0)))
    (local.set $to (call $put_text
      (i32.add (local.get $to) (i32.const 5))
      (local.get $block)
      (i32.add (local.get $block) (i32.const 20))))
    ;; \",\"entity_name\":\"_\",\"labels\":[\"_\"],\"properties\":[{\"name\":\"k\",\"value\":
    (v128.store offset=0 (local.get $to) (v128.load offset=224 (i32.const 0)))
    (v128.store offset=16 (local.get $to) (v128.load offset=240 (i32.const 0)))
    (v128.store offset=32 (local.get $to) (v128.load offset=256 (i32.const 0)))
    (v128.store offset=48 (local.get $to) (v128.load offset=272 (i32.const 0)))
    (v128.store offset=64 (local.get $to) (v128.load offset=288 (i32.const 0)))
    (local.set $to (i32.add (local.get $to) (i32.const 69)))
    (local.set $from (i32.add (local.get $block) (i32.load offset=24 (local.get $block))))
    (local.set $length (i32.load offset=28 (local.get $block)))
    (if (i32.le_u (local.get $length) (i32.const 16))
      (then (v128.store (local.get $to) (v128.load (local.get $from))))
      (else (call $copy_long (local.get $to) (local.get $from) (local.get $length))))
    (local.set $to (i32.add (local.get $to) (local.get $length)))

    (local.set $to (call $properties_0 (local.get $block) (local.get $to)))

    ;; span_handling.span_id_path: [";;"]
    (if (i32.and (i32.eq (i32.load offset=64 (local.get $block)) (i32.const 4)) (i32.le_u (i32.sub (i32.load offset=44 (local.get $block)) (i32.const 2)) (i32.const 2)))
      (then
        ;; span_handling.partial_when_path: ["\"\"\""]
        (if (i32.eq (i32.load offset=76 (local.get $block)) (i32.const 4))
          (then
            ;; }]}],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[\"
            (v128.store offset=0 (local.get $to) (v128.load offset=304 (i32.const 0)))
            (v128.store offset=16 (local.get $to) (v128.load offset=320 (i32.const 0)))
            (v128.store offset=32 (local.get $to) (v128.load offset=336 (i32.const 0)))
            (v128.store offset=48 (local.get $to) (v128.load offset=352 (i32.const 0)))
            (v128.store offset=64 (local.get $to) (v128.load offset=368 (i32.const 0)))
            (local.set $to (call $put_text
              (i32.add (local.get $to) (i32.const 75))
              (local.get $block)
              (i32.add (local.get $block) (i32.const 44))))
            ;; \"]}
            (v128.store offset=0 (local.get $to) (v128.load offset=384 (i32.const 0)))
            (local.set $to (i32.add (local.get $to) (i32.const 3)))
          )
          (else
            ;; }]}],\"edges\":[],\"fully_handled_span_ids\":[\"
            (v128.store offset=0 (local.get $to) (v128.load offset=400 (i32.const 0)))
            (v128.store offset=16 (local.get $to) (v128.load offset=416 (i32.const 0)))
            (v128.store offset=32 (local.get $to) (v128.load offset=432 (i32.const 0)))
            (local.set $to (call $put_text
              (i32.add (local.get $to) (i32.const 43))
              (local.get $block)
              (i32.add (local.get $block) (i32.const 44))))
            ;; \"],\"partially_handled_span_ids\":[]}
            (v128.store offset=0 (local.get $to) (v128.load offset=448 (i32.const 0)))
            (v128.store offset=16 (local.get $to) (v128.load offset=464 (i32.const 0)))
            (v128.store offset=32 (local.get $to) (v128.load offset=480 (i32.const 0)))
            (local.set $to (i32.add (local.get $to) (i32.const 35)))
          ))
      )
      (else
        ;; }]}],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}
        (v128.store offset=0 (local.get $to) (v128.load offset=496 (i32.const 0)))
        (v128.store offset=16 (local.get $to) (v128.load offset=512 (i32.const 0)))
        (v128.store offset=32 (local.get $to) (v128.load offset=528 (i32.const 0)))
        (v128.store offset=48 (local.get $to) (v128.load offset=544 (i32.const 0)))
        (v128.store offset=64 (local.get $to) (v128.load offset=560 (i32.const 0)))
        (local.set $to (i32.add (local.get $to) (i32.const 76)))
      ))

    ;; the address in the high half, the length in the low half
    (i64.or
      (i64.shl (i64.extend_i32_u (global.get $output)) (i64.const 32))
      (i64.extend_i32_u (i32.sub (local.get $to) (global.get $output)))))

  ;; The constant text, in the order in which the code above asks for it.
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (data (i32.const 112) "},{\"name\":\"p\",\"value\":")
  (data (i32.const 144) "},{\"name\":\"long\",\"value\":")
  (data (i32.const 176) "{\"nodes\":[{\"node_id\":\"")
  (data (i32.const 208) ":_:k=")
  (data (i32.const 224) "\",\"entity_name\":\"_\",\"labels\":[\"_\"],\"properties\":[{\"name\":\"k\",\"value\":")
  (data (i32.const 304) "}]}],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[\"")
  (data (i32.const 384) "\"]}")
  (data (i32.const 400) "}]}],\"edges\":[],\"fully_handled_span_ids\":[\"")
  (data (i32.const 448) "\"],\"partially_handled_span_ids\":[]}")
  (data (i32.const 496) "}]}],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")

  ;; What the extractor declares: the host copies these inputs into it and nothing else.
  (@custom "retort" "{\"abi\":1,\"function\":\"f\",\"event_types\":[\"push\\\") (func) ;; \\\"\\\\ ;; \\\"\\\"\\\" (; ;) ) \\n\\r\\t\\u0000\7f \e2\80\ae\e2\81\a6 \c3\a9 \f0\9f\99\82 ${x} {{y}} \\\\00\"],\"inputs\":[{\"path\":[\"event_type\"],\"as\":\"json\"},{\"path\":[\"\\\"\\\\ ;; \\\"\\\"\\\" (; ;) ) \\n\\r\\t\\u0000\7f \e2\80\ae\e2\81\a6 \c3\a9 \f0\9f\99\82 ${x} {{y}} \\\\00\",\"\\\") (memory 9) (;\"],\"as\":\"json\"},{\"path\":[\"\ef\bb\bf\"],\"as\":\"json\"},{\"path\":[\";;\"],\"as\":\"json\"},{\"path\":[\";;\"],\"as\":\"truthy\"},{\"path\":[\"\\\"\\\"\\\"\"],\"as\":\"truthy\"},{\"path\":[\"\\n(data (i32.const 0) \\\"x\\\")\",\"\\\"\",\"\\\\\",\"\\u0000\"],\"as\":\"json\"},{\"path\":[\"\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\f0\9f\99\82\"],\"as\":\"json\"}]}")
)
