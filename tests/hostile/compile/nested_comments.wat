;; attack: comments inside each other
;; expect: syntax_error

{{100000*(;}}
