;; attack: components inside each other, for whoever reads them by recursion
;; expect: syntax_error

{{100000*(component }}{{100000*)}}
