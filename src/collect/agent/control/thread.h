/*
 * `cpprof control` in the process: a thread of the agent that listens to a socket, /tmp/cpprof-UID/PID.
 *
 *   control/thread.c   the thread
 *   control/socket.c   the socket, and the check of its clients
 *   control/serve.c    the requests and their answers
 *
 * The C library does not list this thread. The agent creates it with clone(), with registers and memory of its own
 * where the library keeps the state of a thread, and it calls only system calls and functions that need no such
 * state, like memcpy. So the library still treats a program with one thread as single-threaded and takes no locks
 * in malloc and stdio. The thread has a descriptor table of its own: the program may close all of its descriptors,
 * or count them, and the thread keeps none of them open.
 */
#ifndef COLLECT_AGENT_CONTROL_THREAD_H
#define COLLECT_AGENT_CONTROL_THREAD_H

#include <stdint.h>

/* Starts the control thread, which listens after `delay_ms`. Does nothing if CPPROF_CONTROL is 0 or if the program
 * runs with more rights than its caller. Async-signal-safe. */
void control_begin(uint32_t delay_ms);
/* Called in the child of a fork: starts a control thread if the parent has one. The thread waits before it
 * listens, so that a child that exits or calls exec at once creates no socket. */
void control_forked(void);
/* Called when the process ends: removes the socket. */
void control_end(void);

#endif
