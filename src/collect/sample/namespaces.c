#include "collect/sample/namespaces.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Reads a link of /proc. Returns an empty text if there is none. */
static void read_link(const char *path, char *text, size_t bytes)
{
	ssize_t length = readlink(path, text, bytes - 1);
	text[length > 0 ? length : 0] = 0;
}

static int check_proc(struct error *error)
{
	char own[32], shown[32];
	snprintf(own, sizeof(own), "%d", (int)getpid());
	read_link("/proc/self", shown, sizeof(shown));
	if (strcmp(own, shown) == 0)
		return 0;
	return error_set(
		error, ERROR_UNSUPPORTED,
		"cannot record: /proc %s (mount it anew: 'mount -t proc proc /proc', or 'unshare --mount-proc')",
		shown[0] ? "shows another PID namespace" : "does not show this PID namespace");
}

/* A process may make a time namespace for those that it starts, and remain in its own. The
 * offset that the kernel shows is theirs. */
static int check_time(struct error *error)
{
	char own[64], theirs[64];
	read_link("/proc/self/ns/time", own, sizeof(own));
	read_link("/proc/self/ns/time_for_children", theirs, sizeof(theirs));
	if (strcmp(own, theirs) == 0)
		return 0;
	return error_set(error, ERROR_UNSUPPORTED,
			 "cannot record: the programs that cpprof starts have another time namespace than cpprof "
			 "(start cpprof in it: 'unshare --time --fork')");
}

int namespaces_check(struct error *error)
{
	int result = check_proc(error);
	return result < 0 ? result : check_time(error);
}
