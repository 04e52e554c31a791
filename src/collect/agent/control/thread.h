/*
 * `cpprof control`, as the process sees it: a thread of ours that listens to a socket, /tmp/cpprof-UID/PID.
 *
 *   control/thread.c   the thread
 *   control/socket.c   the socket and who may connect
 *   control/serve.c    what is asked, and what is answered
 *
 * The thread is one that the C library does not know: it is made by clone(), with registers and memory of its own where
 * the library keeps what belongs to a thread, and calls nothing but system calls and what needs no thread: memcpy and
 * its like. So the library still believes a process with one thread to have one, and takes no locks in malloc and stdio. The
 * thread has descriptors of its own, so the program may close all of its, or count them, and none of them is kept open.
 */
#ifndef COLLECT_AGENT_CONTROL_THREAD_H
#define COLLECT_AGENT_CONTROL_THREAD_H

#include <stdint.h>

/* Permits control of the process after `delay_ms`; unless CPPROF_CONTROL is 0,
 * or the program runs with more rights than its caller. Async-signal-safe. */
void control_begin(uint32_t delay_ms);
/* The child of a fork: it has one of its own if its parent has. One that ends at once, or becomes another program, has none. */
void control_forked(void);
/* The process ends: the socket is removed. */
void control_end(void);

#endif
