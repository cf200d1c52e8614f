;; expect: malformed_module
;; Memory before type.

(module binary "\00asm\01\00\00\00" "\05\04\01\01\01\01" "\01\04\01\60\00\00")
