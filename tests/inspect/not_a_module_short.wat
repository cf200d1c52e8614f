;; expect: not_a_module
;; says: got 3 bytes
;; Half a header.

(module binary "\00as")
