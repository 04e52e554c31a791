#include "collect/sample/probes/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *const mounts[] = { "/sys/kernel/tracing", "/sys/kernel/debug/tracing" };
enum { MOUNTS = sizeof(mounts) / sizeof(mounts[0]) };

/* Tests for the events: where tracefs is not mounted there may be an empty folder. (faccessat() would test
 * for the real user, who lacks the capabilities of the program's file.) */
static bool has_events(int root)
{
	int events = openat(root, "events", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (events >= 0)
		close(events);
	return events >= 0;
}

/* Returns the root folder of a mounted tracefs, or -1. Sets *refusal to EACCES if only permission is
 * missing. */
static int open_mounted(int *refusal)
{
	for (size_t i = 0; i < MOUNTS; i++) {
		int root = open(mounts[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (root >= 0 && has_events(root))
			return root;
		if (errno == EACCES || errno == EPERM)
			*refusal = EACCES;
		if (root >= 0)
			close(root);
	}
	return -1;
}

/* Mounts a tracefs of our own. Returns its root folder, or -1 with errno. Uses system calls, because the C
 * library may be older than they are. */
static int mount_detached(void)
{
	int context = (int)syscall(SYS_fsopen, "tracefs", FSOPEN_CLOEXEC);
	if (context < 0)
		return -1;
	int root = -1;
	if (syscall(SYS_fsconfig, context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
		root = (int)syscall(SYS_fsmount, context, FSMOUNT_CLOEXEC, 0);
	int refusal = errno;
	close(context);
	errno = refusal;
	return root;
}

int tracefs_open(struct error *error)
{
	int refusal = 0;
	int root = open_mounted(&refusal);
	if (root >= 0)
		return root;
	root = mount_detached();
	if (root >= 0)
		return root;
	if (refusal == EACCES)
		return error_set(error, ERROR_PERMISSION,
				 "cannot read the list of tracepoints (%s): permission denied (run cpprof as root)",
				 mounts[0]);
	if (errno == EPERM || errno == EACCES)
		return error_set(error, ERROR_PERMISSION,
				 "cannot read the list of tracepoints: tracefs is not mounted (run cpprof as root, or "
				 "'mount -t tracefs tracefs %s')",
				 mounts[0]);
	if (errno == ENODEV)
		return error_set(
			error, ERROR_UNSUPPORTED,
			"this kernel has no list of tracepoints (tracefs): it was built without CONFIG_TRACING");
	return error_set_errno(error, "cannot mount tracefs, the list of tracepoints ('mount -t tracefs tracefs %s')",
			       mounts[0]);
}

int tracefs_access(struct error *error)
{
	int root = tracefs_open(error);
	if (root >= 0)
		close(root);
	return root < 0 ? root : 0;
}
