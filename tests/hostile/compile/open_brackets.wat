;; attack: a million open brackets
;; expect: syntax_error

{{1000000*(}}
