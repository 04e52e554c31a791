;;; Half of the time is spent below DIRECT, three tenths below a recursion, two tenths below a comparison that the C
;;; library's qsort calls.
(defpackage :shares (:use :cl :sb-alien))
(in-package :shares)
(declaim (optimize (speed 1) (debug 1) (safety 1)))
(declaim (notinline work direct descend through-c compare-by-work))

(defun work (x)
  (declare (type fixnum x))
  (dotimes (i 300000 x)
    (setf x (logand (+ (* x 31) i) #xffff))))

(defun direct (x) (1+ (work x)))

(defun descend (depth x) (if (= depth 0) (1+ (work x)) (1+ (descend (1- depth) x))))

(defvar *result* 0)

(defun compare-by-work () (setf *result* (work *result*)) 0)

(define-alien-callable compare int ((a (* t)) (b (* t)))
  (declare (ignore a b))
  (compare-by-work))

(defun through-c (pair)
  (alien-funcall (extern-alien "qsort" (function void (* t) unsigned-long unsigned-long (* t)))
                 pair 2 4 (alien-sap (alien-callable-function 'compare)))
  (1+ *result*))

(defun main ()
  (let ((pair (make-alien int 2))
        (x 1)
        (last (car (last sb-ext:*posix-argv*))))
    (dotimes (i (or (parse-integer last :junk-allowed t) 300))
      (dotimes (j 5) (setf x (direct x)))
      (dotimes (j 3) (setf x (descend 8 x)))
      (dotimes (j 2) (setf x (logand (through-c pair) #xffff))))
    (format t "share direct;work 0.5~%share descend;work 0.3~%share through_c;work 0.2~%")))
