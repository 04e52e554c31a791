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

#include <stdbool.h>
#include <stdint.h>

/* Starts the control thread, which listens after `delay_ms`. Does nothing if CPPROF_CONTROL is 0 or if the program
 * runs with more rights than its caller. Async-signal-safe. */
void control_begin(uint32_t delay_ms);
/* Called in the child of a fork: starts a control thread if the parent has one. The thread waits before it
 * listens, so that a child that exits or calls exec at once creates no socket. */
void control_forked(void);
/* Called when the process ends: removes the socket. */
void control_end(void);

/* socket.c: the socket to which `cpprof control` connects: /tmp/cpprof-UID/PID. The control
 * thread calls these functions, which use system calls only. */

/* Less than the 108 bytes of sockaddr_un.sun_path. */
enum { CONTROL_PATH_MAX = 64 };
struct control_path {
	char folder[CONTROL_PATH_MAX], socket[CONTROL_PATH_MAX];
};

/* Sets the paths for this process and its user. */
void control_path_make(struct control_path *path);

/* Creates the socket, listens to it and removes the sockets of ended processes. Returns a descriptor, or a
 * negative error: for example if the folder belongs to another user. */
long control_listen(const struct control_path *path);

/* Waits for the next client with our uid and accepts it. Returns its descriptor, or a negative error if the system
 * call fails. */
long control_accept(long listener);

/* Removes the socket, and the folder if it is empty then. */
void control_remove(const struct control_path *path);

/*
 * serve.c: serves clients of `cpprof control`: a client sends a line, and the agent answers with a
 * line, or for `list` with several lines.
 *
 *     list \t PATTERN ...            "ok KNOWN\n", then a line for each registered probe point that matches one of
 *                                    the patterns, or for each one if there is no pattern:
 *                                    STATE \t KIND \t LEVEL \t NAME \t SIGNATURE \t FILE \t LINE \t GROUP
 *                                    STATE is on, off or throttled; KIND and LEVEL are numbers; control characters
 *                                    in texts are replaced by '?'
 *     a rule (probes/registry.h)     "ok KNOWN MATCHING CHANGED\n", all of them numbers of probe points
 *     an invalid request             "error WHY\n"
 */

/* Reads one request from the connected client and answers it. Gives up a slow or invalid client after some
 * seconds. Called by the control thread. */
void control_answer(long fd);

#endif
