#include "frames/jail/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <pwd.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file_place.h"

/* --- files and memory --- */

static int close_other_descriptors(int socket)
{
	/* First the socket: a later failure is reported by it. */
	if (socket != CONFINED_SOCKET && dup3(socket, CONFINED_SOCKET, O_CLOEXEC) < 0)
		return -1;
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)
		return -1;
	for (int i = 0; i < CONFINED_SOCKET; i++)
		if (dup2(null, i) < 0)
			return -1;
	closefrom(CONFINED_SOCKET + 1);
	return 0;
}

static int unmap_shared(void)
{
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "re");
	if (!maps)
		return -1;
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end;
		char protection[5] = "";
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s", &start, &end, protection) == 3 && protection[3] == 's')
			munmap((void *)(uintptr_t)start, end - start); /* NOLINT(performance-no-int-to-ptr) */
		while (!strchr(line, '\n') && fgets(line, sizeof(line), maps))
			; /* the rest of a long line */
	}
	fclose(maps);
	return 0;
}

/* --- limits --- */

static uint64_t address_space(void)
{
	unsigned long long pages = 0;
	FILE *file = fopen("/proc/self/statm", "re");
	if (file && fscanf(file, "%llu", &pages) != 1)
		pages = 0;
	if (file)
		fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

/* Lowers a limit. One that is lower already stays. */
static int lower(__rlimit_resource_t resource, uint64_t most)
{
	struct rlimit limit;
	if (getrlimit(resource, &limit) < 0)
		return -1;
	limit.rlim_max = limit.rlim_max < most ? limit.rlim_max : most;
	limit.rlim_cur = limit.rlim_max < limit.rlim_cur ? limit.rlim_max : limit.rlim_cur;
	return setrlimit(resource, &limit);
}

static int set_limits(const struct confinement *confinement)
{
	enum { FILES_MAX = 1024 };
	uint64_t now = address_space();
	if (now == 0 || lower(RLIMIT_AS, now + confinement->memory_bytes) < 0 ||
	    lower(RLIMIT_CPU, confinement->cpu_seconds) < 0 || lower(RLIMIT_FSIZE, confinement->file_bytes) < 0 ||
	    lower(RLIMIT_CORE, 0) < 0 || lower(RLIMIT_MEMLOCK, 0) < 0)
		return -1;
	/* The recorder may have a high priority. */
	const struct sched_param ordinary = { .sched_priority = 0 };
	if (sched_getscheduler(0) != SCHED_OTHER && sched_setscheduler(0, SCHED_OTHER, &ordinary) < 0)
		return -1;
	setpriority(PRIO_PROCESS, 0, 0);
	return lower(RLIMIT_NOFILE, FILES_MAX);
}

/* --- user --- */

/* The range in which systemd gives services users of their own. These are not stored anywhere. */
enum { OWN_USER_FIRST = 61184, OWN_USERS = 4336 };

/* The kernel's list of capabilities (capget). */
static bool has_capability(int capability)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3] = { 0 };
	return syscall(SYS_capget, &header, data) == 0 &&
	       (data[CAP_TO_INDEX(capability)].effective & CAP_TO_MASK(capability));
}

/* Root becomes a user who owns nothing. Root of a user namespace may be its only user: then the capabilities are all that there is to
 * drop. So they are where root may not end processes of other users: the recorder must be able to end this one. */
static int become_nobody(void)
{
	uid_t user = OWN_USER_FIRST + (uid_t)getpid() % OWN_USERS;
	bool may_change = geteuid() == 0 && has_capability(CAP_KILL) && setgroups(0, NULL) == 0 &&
			  setresgid(user, user, user) == 0;
	return may_change && setresuid(user, user, user) < 0 && errno != EINVAL ? -1 : 0;
}

/* Root under sudo becomes the user who called it, with that user's folder. */
static int become_caller(void)
{
	uid_t user;
	gid_t group;
	if (!file_place_caller(&user, &group))
		return 0;
	errno = EPERM;
	if (!has_capability(CAP_KILL))
		return -1; /* nobody could end this process */
	if (setgroups(0, NULL) < 0 || setresgid(group, group, group) < 0 || setresuid(user, user, user) < 0)
		return -1;
	const struct passwd *entry = getpwuid(user);
	return entry ? setenv("HOME", entry->pw_dir, 1) : unsetenv("HOME");
}

static int drop_capabilities(pid_t parent)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { 0 };
	if (syscall(SYS_capset, &header, none) < 0 || prctl(PR_SET_DUMPABLE, 0) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	errno = ESRCH;
	return getppid() == parent ? 0 : -1;
}

/* --- system calls --- */

/* Permitted without conditions. */
static const int permitted[] = {
	SYS_read,      SYS_pread64, SYS_lseek,   SYS_close,          SYS_fstat,       SYS_munmap,
	SYS_mremap,    SYS_brk,     SYS_madvise, SYS_rt_sigreturn,   SYS_sendto,      SYS_sendmsg,
	SYS_recvfrom,  SYS_recvmsg, SYS_exit,    SYS_exit_group,     SYS_futex,       SYS_clock_gettime,
	SYS_getrandom, SYS_getpid,  SYS_gettid,  SYS_rt_sigprocmask, SYS_sched_yield, SYS_restart_syscall,
};

/* They raise SIGSYS. */
static const int trapped[] = {
	SYS_openat,
	SYS_readlinkat,
#ifdef SYS_open
	SYS_open,
#endif
#ifdef SYS_readlink
	SYS_readlink,
#endif
};

/* Permitted if arguments have certain bits. */
static const struct condition {
	int call;
	unsigned count;
	struct scmp_arg_cmp tests[2]; /* argument, comparison, mask, value */
} conditions[] = {
	/* No file is mapped, and no memory is executable. */
	{ SYS_mmap,
	  2,
	  { { 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0 }, { 3, SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, MAP_ANONYMOUS } } },
	{ SYS_mprotect, 1, { { 2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0 } } },
	{ SYS_fcntl, 1, { { 1, SCMP_CMP_MASKED_EQ, UINT32_MAX, F_DUPFD_CLOEXEC } } },
	/* fstat of some C libraries */
	{ SYS_newfstatat, 1, { { 3, SCMP_CMP_MASKED_EQ, AT_EMPTY_PATH, AT_EMPTY_PATH } } },
};

/* Makes a filter that does this with calls without a rule, and ends the process at a call of another ABI. */
static scmp_filter_ctx new_filter(uint32_t otherwise)
{
	scmp_filter_ctx filter = seccomp_init(otherwise);
	seccomp_attr_set(filter, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	seccomp_attr_set(filter, SCMP_FLTATR_API_SYSRAWRC, 1);
	return filter;
}

/* The following return 0 or -errno. */
static int add_rules(scmp_filter_ctx filter, uint32_t action, const int *calls, size_t count)
{
	int status = 0;
	for (size_t i = 0; i < count && status == 0; i++)
		status = seccomp_rule_add(filter, action, calls[i], 0);
	return status;
}

static int add_conditions(scmp_filter_ctx filter)
{
	int status = 0;
	for (size_t i = 0; i < sizeof(conditions) / sizeof(conditions[0]) && status == 0; i++)
		status = seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, conditions[i].call, conditions[i].count,
						conditions[i].tests);
	return status;
}

/* Installs a filter if its rules were added, and releases it. Returns 0, or -1 with errno set. */
static int install(scmp_filter_ctx filter, int status)
{
	if (status == 0)
		status = seccomp_load(filter);
	seccomp_release(filter);
	errno = -status;
	return status < 0 ? -1 : 0;
}

static int install_jail_filter(void)
{
	scmp_filter_ctx filter = new_filter(SCMP_ACT_ERRNO(EPERM));
	int status = add_rules(filter, SCMP_ACT_ALLOW, permitted, sizeof(permitted) / sizeof(permitted[0]));
	if (status == 0)
		status = add_rules(filter, SCMP_ACT_TRAP, trapped, sizeof(trapped) / sizeof(trapped[0]));
	if (status == 0)
		status = add_conditions(filter);
	return install(filter, status);
}

/* System calls that a client of servers never needs, or that would lead from it into other processes. */
static const int forbidden[] = {
	SYS_execve,
	SYS_execveat,
	SYS_ptrace,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_kill,
	SYS_pidfd_send_signal,
	SYS_pidfd_getfd,
	SYS_bpf,
	SYS_perf_event_open,
	SYS_userfaultfd,
	SYS_add_key,
	SYS_keyctl,
	SYS_mount,
	SYS_unshare,
	SYS_setns,
};

static int install_client_filter(void)
{
	scmp_filter_ctx filter = new_filter(SCMP_ACT_ALLOW);
	int status = add_rules(filter, SCMP_ACT_ERRNO(EPERM), forbidden, sizeof(forbidden) / sizeof(forbidden[0]));
	return install(filter, status);
}

/* Takes away what the process shares with others. */
static const char *separate(const struct confinement *confinement)
{
	if (close_other_descriptors(confinement->socket) < 0)
		return "closing files";
	if (unmap_shared() < 0)
		return "unmapping shared memory";
	if (set_limits(confinement) < 0)
		return "setting limits";
	return NULL;
}

const char *confine(const struct confinement *confinement)
{
	const char *failed_step = separate(confinement);
	if (failed_step)
		return failed_step;
	if (become_nobody() < 0 || drop_capabilities(confinement->parent) < 0)
		return "dropping privileges";
	if (install_jail_filter() < 0)
		return "installing a seccomp filter";
	return NULL;
}

const char *confine_client(const struct confinement *confinement)
{
	const char *failed_step = separate(confinement);
	if (failed_step)
		return failed_step;
	if (become_caller() < 0 || drop_capabilities(confinement->parent) < 0)
		return "dropping privileges";
	if (install_client_filter() < 0)
		return "installing a seccomp filter";
	return NULL;
}
