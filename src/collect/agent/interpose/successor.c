#include "collect/agent/interpose/successor.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "collect/agent/core/filter.h"
#include "collect/agent/core/runtime.h"
#include "collect/agent/hooks/hooks.h"
#include "processor/agent/machine.h"

/* --- the filters --- */

/* The system calls that the agent makes in any program. A test compares them with its sources. */
static const struct filter_call calls[] = {
	{ SYS_clock_nanosleep, { 0 } },
	{ SYS_close, { 0 } },
	{ SYS_fcntl, { 0, F_GET_SEALS } },
	{ SYS_fstat, { 0 } },
	{ SYS_futex, { 0, FUTEX_WAIT } },
	{ SYS_futex, { 0, FUTEX_WAKE } },
	{ SYS_getdents64, { 0 } },
	{ SYS_geteuid, { 0 } },
	{ SYS_getpid, { 0 } },
	{ SYS_getrusage, { 0 } },
	{ SYS_getsockopt, { 0 } },
	{ SYS_gettid, { 0 } },
	{ SYS_kill, { 1, 0 } },
	{ SYS_mmap, { 0, 0, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE } },
	{ SYS_mmap, { 0, 0, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS } },
	{ SYS_mlock, { 0 } },
	{ SYS_mlock2, { 0 } },
	{ SYS_mremap, { 0 } },
	{ SYS_munlock, { 0 } },
	{ SYS_munmap, { 0 } },
	{ SYS_nanosleep, { 0 } },
	{ SYS_newfstatat, { 0 } }, /* the C library's fstat */
	{ SYS_openat, { AT_FDCWD, 0, O_RDWR | O_CLOEXEC | O_NONBLOCK } },
	{ SYS_prctl, { PR_GET_NAME } },
	{ SYS_prlimit64, { 0 } },
	{ SYS_process_vm_readv, { 0 } },
	{ SYS_read, { 0 } },
	{ SYS_readlink, { 0 } },
	{ SYS_rt_sigaction, { SIGTRAP } },
	{ SYS_rt_sigprocmask, { SIG_BLOCK } },
	{ SYS_rt_sigprocmask, { SIG_SETMASK } },
	{ SYS_rt_sigreturn, { 0 } },
	{ SYS_rt_tgsigqueueinfo, { 0 } },
	{ SYS_sched_getaffinity, { 0 } },
	{ SYS_sched_yield, { 0 } },
	{ SYS_sigaltstack, { 0 } },
	{ SYS_tgkill, { 0 } },
	{ SYS_timer_create, { CLOCK_MONOTONIC } },
	{ SYS_timer_create, { CLOCK_THREAD_CPUTIME_ID } },
	{ SYS_timer_delete, { 0 } },
	{ SYS_timer_settime, { 0, 0 } },
	{ SYS_timer_settime, { 0, TIMER_ABSTIME } },
};

static bool harm(const struct machine_filter *filters)
{
	return filter_harms(filters, calls, sizeof(calls) / sizeof(calls[0])) || hooks_are_harmed(filters);
}

bool successor_dies(const struct machine_filter *filters)
{
	const struct machine_filter *all = __atomic_load_n(&machine_filters_of_all, __ATOMIC_ACQUIRE);
	return (filters && harm(filters)) || (all && harm(all));
}

/* --- the entry of our libraries --- */

static const char variable[] = "LD_PRELOAD=";
#define VARIABLE_BYTES (sizeof(variable) - 1)

static bool is_separator(char c)
{
	return c == ':' || c == ' ';
}

static bool is_ours(const char *path, size_t bytes)
{
	static const char *const names[] = { "libcpprof-preload.so", "libcpprof-hooks.so", "libcpprof-wrap.so" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t length = strlen(names[i]);
		if (bytes >= length && memcmp(path + bytes - length, names[i], length) == 0)
			return true;
	}
	return false;
}

/* Copies an entry without our libraries. */
static void copy_others(char *to, const char *entry)
{
	const char *at = entry + VARIABLE_BYTES;
	memcpy(to, variable, VARIABLE_BYTES);
	to += VARIABLE_BYTES;
	for (const char *start = to; *at;) {
		size_t bytes = 0;
		while (at[bytes] && !is_separator(at[bytes]))
			bytes++;
		if (bytes && !is_ours(at, bytes)) {
			if (to > start)
				*to++ = ':';
			memcpy(to, at, bytes);
			to += bytes;
		}
		at += bytes;
		at += *at != 0;
	}
	*to = 0;
}

/* --- exec --- */

/* Finds the entry, and counts all. Returns false if there is none, or if the environment is not readable. */
static bool find_entry(char *const environment[], size_t *found, size_t *count)
{
	enum { MOST = 65536 };
	bool has = false;
	for (*count = 0; environment && *count < MOST; ++*count) {
		const char *entry = NULL;
		char start[VARIABLE_BYTES];
		if (!runtime_copy(&entry, sizeof(entry), (uint64_t)(uintptr_t)&environment[*count]))
			return false;
		if (!entry)
			return has;
		if (has || !runtime_copy(start, sizeof(start), (uint64_t)(uintptr_t)entry) ||
		    memcmp(start, variable, VARIABLE_BYTES) != 0)
			continue;
		has = true;
		*found = *count;
	}
	return false;
}

size_t successor_room(char *const environment[])
{
	size_t found, count;
	if (!successor_dies(machine_filters) || !find_entry(environment, &found, &count))
		return 0;
	return (count + 1) * sizeof(char *) + strlen(environment[found]) + 1;
}

char *const *successor_environment(char *const environment[], void *room)
{
	char **copy = room;
	size_t found, count;
	if (!find_entry(environment, &found, &count))
		return environment;
	memcpy(copy, environment, (count + 1) * sizeof(char *));
	copy[found] = (char *)(copy + count + 1);
	copy_others(copy[found], environment[found]);
	return copy;
}

/* --- the process's own environment --- */

static char **own_entry(void)
{
	char **at = environ;
	while (at && *at && strncmp(*at, variable, VARIABLE_BYTES) != 0)
		at++;
	return at && *at ? at : NULL;
}

char *successor_prepare(void)
{
	char **entry = own_entry();
	char *text = entry ? runtime_map(strlen(*entry) + 1) : NULL;
	if (text)
		copy_others(text, *entry);
	return text;
}

void successor_prepared(char *text, bool is_installed)
{
	char **entry = own_entry();
	if (text && is_installed && entry)
		*entry = text;
	else if (text && !is_installed)
		runtime_unmap(text, strlen(text) + 1);
}
