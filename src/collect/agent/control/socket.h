/* The socket to which `cpprof control` connects: /tmp/cpprof-UID/PID. The control thread calls these functions,
 * which use system calls only. */
#ifndef COLLECT_AGENT_CONTROL_SOCKET_H
#define COLLECT_AGENT_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
