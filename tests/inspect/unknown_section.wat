;; expect: invalid_module, section_missing, memory_missing, export_missing
;; A section id that no version defines.

(module binary "\00asm\01\00\00\00" "\2a\00")
