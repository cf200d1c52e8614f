;; attack: five megabytes of text that says nothing
;; expect: source_too_large

(module
{{5000000* }})
