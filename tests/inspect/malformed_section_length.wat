;; expect: malformed_module
;; A section that is longer than the module; what may have followed is not missing.

(module binary "\00asm\01\00\00\00" "\01\7f\00")
