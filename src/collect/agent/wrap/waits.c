/* Functions that wait for time, processes, signals, and for locks and messages of other processes. */
#include <mqueue.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/msg.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/wait.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#include "collect/agent/wrap/wrap.h"

/* --- time --- */

WRAP_WAIT(unsigned, sleep, (unsigned seconds), (seconds))
WRAP_WAIT(int, usleep, (useconds_t microseconds), (microseconds))
WRAP_WAIT(int, nanosleep, (const struct timespec *time, struct timespec *rest), (time, rest))
WRAP_WAIT(int, clock_nanosleep, (clockid_t clock, int flags, const struct timespec *time, struct timespec *rest),
	  (clock, flags, time, rest))
WRAP_WAIT(int, thrd_sleep, (const struct timespec *time, struct timespec *rest), (time, rest))

/* --- processes --- */

WRAP_WAIT(pid_t, wait, (int *status), (status))
WRAP_WAIT(pid_t, waitpid, (pid_t pid, int *status, int options), (pid, status, options))
WRAP_WAIT(int, waitid, (idtype_t type, id_t id, siginfo_t *info, int options), (type, id, info, options))
WRAP_WAIT(pid_t, wait3, (int *status, int options, struct rusage *usage), (status, options, usage))
WRAP_WAIT(pid_t, wait4, (pid_t pid, int *status, int options, struct rusage *usage), (pid, status, options, usage))
WRAP_WAIT(int, system, (const char *command), (command))

/* --- signals --- */

WRAP_WAIT(int, pause, (void), ())
WRAP_WAIT(int, sigsuspend, (const sigset_t *mask), (mask))
WRAP_WAIT(int, sigwait, (const sigset_t *set, int *number), (set, number))
WRAP_WAIT(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info), (set, info))
WRAP_WAIT(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *timeout),
	  (set, info, timeout))

/* --- other processes --- */

WRAP_WAIT(int, flock, (int fd, int operation), (fd, operation))
WRAP_WAIT(int, lockf, (int fd, int command, off_t bytes), (fd, command, bytes))
WRAP_LIKE(lockf, int, lockf64, (int fd, int command, off64_t bytes), (fd, command, bytes))
WRAP_WAIT(int, semop, (int set, struct sembuf *operations, size_t count), (set, operations, count))
WRAP_WAIT(int, semtimedop, (int set, struct sembuf *operations, size_t count, const struct timespec *timeout),
	  (set, operations, count, timeout))
WRAP_WAIT(int, msgsnd, (int queue, const void *message, size_t bytes, int flags), (queue, message, bytes, flags))
WRAP_WAIT(ssize_t, msgrcv, (int queue, void *message, size_t bytes, long type, int flags),
	  (queue, message, bytes, type, flags))
WRAP_WAIT(int, mq_send, (mqd_t queue, const char *message, size_t bytes, unsigned priority),
	  (queue, message, bytes, priority))
WRAP_WAIT(int, mq_timedsend,
	  (mqd_t queue, const char *message, size_t bytes, unsigned priority, const struct timespec *until),
	  (queue, message, bytes, priority, until))
WRAP_WAIT(ssize_t, mq_receive, (mqd_t queue, char *message, size_t bytes, unsigned *priority),
	  (queue, message, bytes, priority))
WRAP_WAIT(ssize_t, mq_timedreceive,
	  (mqd_t queue, char *restrict message, size_t bytes, unsigned *restrict priority,
	   const struct timespec *restrict until),
	  (queue, message, bytes, priority, until))
