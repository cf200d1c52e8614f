;; attack: types inside each other
;; expect: syntax_error

(module (type {{50000*(ref null }}))
