;;; Functions so small that most samples are in the middle of a call or a return. There is one path to each.
(defpackage :calls (:use :cl))
(in-package :calls)
(declaim (optimize (speed 1) (debug 0) (safety 1)))
(declaim (notinline main outer middle inner adds))

(defun inner (x) (logand x 3))
(defun adds (x y) (+ x y))
(defun middle (x) (+ (inner x) (inner (adds x 1))))
(defun outer (x) (+ 1 (middle x)))

(defun main (count)
  (let ((sum 0))
    (dotimes (i count sum)
      (setf sum (logand (+ sum (outer i)) 1023)))))

(main 40000000)
