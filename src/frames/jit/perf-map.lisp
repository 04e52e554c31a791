;;; Writes the names of all Lisp functions of this SBCL to /tmp/perf-PID.map, for cpprof, perf and other profilers:
;;;
;;;     cpprof record -- sbcl --load perf-map.lisp --load program.lisp ...
;;;
;;; It writes when it is loaded and adds functions when the program exits, so that functions are named that the program has
;;; compiled or that the garbage collector has moved meanwhile. (cpprof-perf-map:write-map) adds them at any other time. A saved
;;; core loses its hook: load this file in the new process.
(defpackage :cpprof-perf-map
  (:use :cl)
  (:export #:write-map))
(in-package :cpprof-perf-map)

(defvar *known* (make-hash-table :test 'equal) "Keys (start size name) of lines that were written.")
(defvar *pid* nil "The process that wrote them: a forked one has a map of its own.")

(defun function-name-text (name)
  "Returns the name as Lisp reads it, on one line."
  (let ((text (handler-case
                  (with-standard-io-syntax
                    (let ((*print-readably* nil)
                          (*print-length* 12)
                          (*print-level* 4))
                      (prin1-to-string name)))
                (error () "(a name that cannot be printed)"))))
    (substitute-if #\Space (lambda (character) (not (graphic-char-p character))) text)))

(defun list-functions (code add)
  "Calls ADD with the start, size and name of each function in a code object."
  (let* ((start (sb-sys:sap-int (sb-kernel:code-instructions code)))
         (end (sb-kernel:%code-text-size code))
         (count (sb-kernel:code-n-entries code)))
    (dotimes (i count)
      (let ((from (sb-kernel:%code-fun-offset code i))
            (to (if (< (1+ i) count) (sb-kernel:%code-fun-offset code (1+ i)) end)))
        (funcall add (+ start from) (- to from) (sb-kernel:%simple-fun-name (sb-kernel:%code-entry-point code i)))))))

(defun list-routines (add)
  "Calls ADD for the runtime's routines in assembler, such as GENERIC-+."
  (let* ((code sb-fasl:*assembler-routines*)
         (start (sb-sys:sap-int (sb-kernel:code-instructions code)))
         (table (sb-kernel:%code-debug-info code)))
    (maphash (lambda (name place)
               (when (>= (cadr place) (car place))
                 (funcall add (+ start (car place)) (1+ (- (cadr place) (car place))) name)))
             (if (consp table) (car table) table))))

(defun list-stub (object type add)
  "Calls ADD for the instruction by which a global function's name leads to its code."
  (when (= type sb-vm:fdefn-widetag)
    (funcall add
             (logandc2 (sb-kernel:get-lisp-obj-address object) sb-vm:lowtag-mask)
             (* sb-vm:n-word-bytes sb-vm:fdefn-size)
             (sb-kernel:fdefn-name object))))

(defun all-functions ()
  "Returns a list of (start size name), with names that are not yet text."
  (let ((found '()))
    (flet ((add (start size name)
             (when (plusp size)
               (push (list start size name) found))))
      (sb-sys:without-gcing
        (sb-vm:map-allocated-objects
         (lambda (object type size)
           (declare (ignore size))
           (if (and (= type sb-vm:code-header-widetag) (typep object 'sb-kernel:code-component))
               (list-functions object #'add)
               (list-stub object type #'add)))
         :all)
        (list-routines #'add)))
    (nreverse found)))

(defun write-map ()
  "Adds the functions that are not in the map yet. Returns the path of the map."
  (let* ((pid (sb-unix:unix-getpid))
         (path (format nil "/tmp/perf-~d.map" pid))
         (functions (all-functions)))
    (unless (eql pid *pid*)
      (clrhash *known*)
      (ignore-errors (delete-file path)))
    (setf *pid* pid)
    (with-open-file (out path :direction :output :if-exists :append :if-does-not-exist :create :external-format :utf-8)
      (dolist (function functions path)
        (destructuring-bind (start size name) function
          (let ((key (list start size (function-name-text name))))
            (unless (gethash key *known*)
              (setf (gethash key *known*) t)
              (format out "~x ~x ~a~%" start size (third key)))))))))

(defun write-map-at-exit ()
  "Writes the map. A failure must not change how the program ends."
  (handler-case (write-map)
    (error (problem) (format *error-output* "cpprof: cannot write the perf map: ~a~%" problem))))

(write-map)
(pushnew 'write-map-at-exit sb-ext:*exit-hooks*)
