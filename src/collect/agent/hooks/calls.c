/* The system calls that the hooks, the probe points and their control make, in addition to the calls
 * of the rest of the agent (interpose/successor.c). A test compares them with the sources. */
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#include "collect/agent/core/filter.h"
#include "collect/agent/hooks/hooks.h"

static const struct filter_call calls[] = {
	{ SYS_accept4, { 0 } },     { SYS_bind, { 0 } },       { SYS_capset, { 0 } },
	{ SYS_close_range, { 0 } }, { SYS_connect, { 0 } },    { SYS_exit, { 0 } },
	{ SYS_fallocate, { 0 } },   { SYS_fchmod, { 0 } },     { SYS_flock, { 0 } },
	{ SYS_getcwd, { 0 } },      { SYS_ioctl, { 0 } },      { SYS_listen, { 0 } },
	{ SYS_lstat, { 0 } },       { SYS_madvise, { 0 } },    { SYS_mkdir, { 0 } },
	{ SYS_mprotect, { 0 } },    { SYS_pread64, { 0 } },    { SYS_process_vm_writev, { 0 } },
	{ SYS_pwrite64, { 0 } },    { SYS_pwritev, { 0 } },    { SYS_recvfrom, { 0 } },
	{ SYS_rename, { 0 } },      { SYS_rmdir, { 0 } },      { SYS_seccomp, { 0 } },
	{ SYS_sendto, { 0 } },      { SYS_setsockopt, { 0 } }, { SYS_socket, { AF_UNIX } },
	{ SYS_unlink, { 0 } },      { SYS_unshare, { 0 } },    { SYS_writev, { 0 } },
};

bool hooks_are_harmed(const struct machine_filter *filters)
{
	return filter_harms(filters, calls, sizeof(calls) / sizeof(calls[0]));
}
