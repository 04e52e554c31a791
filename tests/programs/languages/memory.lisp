;;; FEW touches 4,000 pages, MANY 12,000. C's malloc is called by both: 1 MiB and 3 MiB.
(defpackage :memory (:use :cl :sb-alien))
(in-package :memory)
(declaim (notinline touch few many))

(define-alien-routine malloc (* char) (size unsigned-long))
(define-alien-routine mmap (* char) (address unsigned-long) (size unsigned-long) (protection int) (flags int) (file int) (offset long))

(defun touch (pages)
  (let ((memory (mmap 0 (* pages 4096) 3 #x4022 -1 0)))
    (dotimes (i pages)
      (setf (deref memory (* i 4096)) 1)))
  (malloc (* pages 262)))

(defun few () (touch 4000) t)
(defun many () (touch 12000) t)
(few)
(many)
(format t "amount page-faults FEW 4000~%amount page-faults MANY 12000~%amount alloc-bytes FEW 1048000~%amount alloc-bytes MANY 3144000~%")
