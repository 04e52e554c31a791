/* The socket that `cpprof control` connects to: /tmp/cpprof-UID/PID. System calls alone; by the control thread. */
#ifndef COLLECT_AGENT_CONTROL_SOCKET_H
#define COLLECT_AGENT_CONTROL_SOCKET_H

#include <stdbool.h>
#include <stdint.h>

/* struct sockaddr_un has 108. */
enum { CONTROL_PATH_MAX = 64 };
struct control_path {
	char folder[CONTROL_PATH_MAX], socket[CONTROL_PATH_MAX];
};

/* For the present process and user. */
void control_path_make(struct control_path *path);

/* Listens there; whatever others have left behind there is removed. A descriptor, or negative: it cannot be; the folder belongs to somebody
 * else, say. */
long control_listen(const struct control_path *path);

/* Accepts the next client with our uid; waits. Returns its descriptor, or a
 * negative error on shutdown. */
long control_accept(long listener);

/* The socket, and the folder if there is no other in it. */
void control_remove(const struct control_path *path);

#endif
