;; expect: malformed_module, section_missing, memory_missing, export_missing
;; More locals than a count can hold.

(module binary "\00asm\01\00\00\00" "\01\04\01\60\00\00" "\03\02\01\00" "\0a\10\01\0e\02\ff\ff\ff\ff\0f\7f\ff\ff\ff\ff\0f\7f\0b")
