;; attack: a string that never ends
;; expect: syntax_error

(module (data "{{3000000*x}}
