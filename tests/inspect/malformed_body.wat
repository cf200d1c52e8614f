;; expect: malformed_module, section_missing, memory_missing, export_missing
;; says: func[0]: at offset 0x17
;; An operator that does not exist; the bodies after it and the ABI are checked all the same.

(module binary "\00asm\01\00\00\00" "\01\04\01\60\00\00" "\03\02\01\00" "\0a\05\01\03\00\ff\0b")
