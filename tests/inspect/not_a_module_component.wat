;; expect: not_a_module
;; says: got [00, 61, 73, 6d, 0d, 00, 01, 00]
;; The header of a component.

(module binary "\00asm" "\0d\00\01\00")
