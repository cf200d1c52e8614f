;; expect: malformed_module
;; says: section "type": at offset 0xe
;; A type section that claims two types and holds one.

(module binary "\00asm\01\00\00\00" "\01\04\02\60\00\00")
