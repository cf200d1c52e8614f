;; attack: eight loops inside each other, each of which counts to a million
;; expect: out_of_fuel

(module
  (memory (export "memory") 1 1)
  (func $outermost
    (local i32 i32 i32 i32 i32 i32 i32 i32)
    (local.set 0 (i32.const 1000000))
    (loop
      (local.set 1 (i32.const 1000000))
      (loop
        (local.set 2 (i32.const 1000000))
        (loop
          (local.set 3 (i32.const 1000000))
          (loop
            (local.set 4 (i32.const 1000000))
            (loop
              (local.set 5 (i32.const 1000000))
              (loop
                (local.set 6 (i32.const 1000000))
                (loop
                  (local.set 7 (i32.const 1000000))
                  (loop
                    (br_if 0 (local.tee 7 (i32.sub (local.get 7) (i32.const 1)))))
                  (br_if 0 (local.tee 6 (i32.sub (local.get 6) (i32.const 1)))))
                (br_if 0 (local.tee 5 (i32.sub (local.get 5) (i32.const 1)))))
              (br_if 0 (local.tee 4 (i32.sub (local.get 4) (i32.const 1)))))
            (br_if 0 (local.tee 3 (i32.sub (local.get 3) (i32.const 1)))))
          (br_if 0 (local.tee 2 (i32.sub (local.get 2) (i32.const 1)))))
        (br_if 0 (local.tee 1 (i32.sub (local.get 1) (i32.const 1)))))
      (br_if 0 (local.tee 0 (i32.sub (local.get 0) (i32.const 1))))))
  (func (export "retort_buffer") (param $length i32) (result i32) (i32.const 1024))
  (func $extract (export "extract") (param $block i32) (param $size i32) (result i64)
    ;; Slot 0 has the text `true` in a bad event and `false` in a good one.
    (if (i32.eq (i32.load offset=16 (local.get $block)) (i32.const 4))
      (then
        (call $outermost)))
    (i64.const 0x0000_0010_0000_0053)) ;; the empty result: at 16, 83 bytes
  (data (i32.const 16) "{\"nodes\":[],\"edges\":[],\"fully_handled_span_ids\":[],\"partially_handled_span_ids\":[]}")
  (@custom "retort" "{\"abi\":1,\"function\":\"extract\",\"event_types\":[\"e\"],\"inputs\":[{\"path\":[\"bad\"],\"as\":\"truthy\"}]}")
)
