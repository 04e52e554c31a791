;;; The example of the paper that introduced call path profiling, in Common Lisp, the paper's second language: it does what
;;; process_db.c does, and prints the same.
;;;
;;;     sbcl --load process_db.lisp --eval '(process-db:main "employees.db")' --quit
(defpackage :process-db
  (:use :cl)
  (:export #:main))
(in-package :process-db)

(declaim (optimize (speed 1) (safety 1) (debug 2)))
(declaim (notinline read-db build-db-ptrs name-field-lt merge-adjacent-records uniquify-db extract-salaries stat-summary
                    print-salary-stats process))

(defstruct employee
  (id 0 :type fixnum)
  (revision 0 :type fixnum)
  (salary 0 :type fixnum)
  (name "" :type simple-string)
  (title "" :type simple-string)
  (address "" :type simple-string))

(defun fields (line)
  "Returns the fields of a line, which tabs separate."
  (loop for start = 0 then (1+ end)
        for end = (position #\Tab line :start start)
        collect (subseq line start end)
        while end))

(defun parse-record (line)
  "Returns the employee of a line. Signals an error if it has none."
  (destructuring-bind (id revision salary name title address) (fields line)
    (make-employee :id (parse-integer id) :revision (parse-integer revision) :salary (parse-integer salary)
                   :name name :title title :address address)))

(defun read-db (path)
  "Returns the list of all records in a file, which has at least one."
  (with-open-file (in path :external-format :latin-1)
    (or (loop for line = (read-line in nil)
              while line
              collect (parse-record line))
        (error "~a: there are no records" path))))

(defun build-db-ptrs (db)
  (coerce db 'simple-vector))

(defun name-field-lt (a b)
  "Orders by name, then by id, then by revision, the newest first."
  (let ((difference (string/= (employee-name a) (employee-name b))))
    (cond (difference (and (string< (employee-name a) (employee-name b)) t))
          ((/= (employee-id a) (employee-id b)) (< (employee-id a) (employee-id b)))
          (t (> (employee-revision a) (employee-revision b))))))

(defun merge-adjacent-records (pointers)
  "Returns a vector of the first record of each employee."
  (let ((kept (make-array (length pointers) :fill-pointer 0))
        (last nil))
    (loop for employee across pointers
          unless (eql (employee-id employee) last)
            do (vector-push employee kept)
               (setf last (employee-id employee)))
    kept))

(defun uniquify-db (db)
  (let ((pointers (sort (build-db-ptrs db) #'name-field-lt)))
    (merge-adjacent-records pointers)))

(defun extract-salaries (pointers)
  (map 'simple-vector #'employee-salary pointers))

(defun stat-summary (salaries)
  "Prints statistics of sorted salaries."
  (let ((count (length salaries)))
    (format t "employees  ~d~%" count)
    (format t "range      ~d to ~d~%" (aref salaries 0) (aref salaries (1- count)))
    (format t "mean       ~,2f~%" (/ (coerce (reduce #'+ salaries) 'double-float) count))
    (dolist (percent '(10 25 50 75 90 99))
      (format t "~2d% below  ~d~%" percent (aref salaries (floor (* (1- count) percent) 100))))))

(defun print-salary-stats (pointers)
  (let ((salaries (sort (extract-salaries pointers) #'<)))
    (stat-summary salaries)))

(defun process (path)
  (let ((pointers (uniquify-db (read-db path))))
    (print-salary-stats pointers)
    pointers))

(defun main (path)
  (process path)
  (values))
