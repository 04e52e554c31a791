;;; Lists that live long enough to be copied by each garbage collection.
(defpackage :garbage (:use :cl))
(in-package :garbage)
(declaim (notinline cons-up))
(defvar *kept* '())

(defun cons-up (count)
  (let ((list '()))
    (dotimes (i count list)
      (push (list i) list))))

(dotimes (i 12)
  (push (cons-up 500000) *kept*)
  (sb-ext:gc))
