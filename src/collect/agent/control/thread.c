/*
 * The thread in the target that serves the clients of `cpprof control`. It is made without the C library.
 *
 * One mapping holds all memory of the thread. It stays mapped until the process ends.
 *
 *     no access | stack ... | the thread's thread-local variables, below fs | block that fs points to, the rest
 *     4 KB      | 64 KB     | down to hook_thread, and 64 KB                | about 1 KB
 *
 * The thread-local variables are 0, except the variable that disables hooks in this thread: the program may define
 * memcpy and similar functions itself, with hooks or probe points in them.
 *
 * Code that changes the rights of the process (the C library's setuid, for example) cannot change the rights of a
 * thread that it does not list. Therefore the thread gives up its rights: it keeps its user but no capability, and
 * a filter permits only the system calls that serve a client. An attacker who takes over the program gains no
 * rights through this thread.
 */
#include "collect/agent/control/thread.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>

#include "collect/agent/hooks/hooks.h"
#include "collect/agent/hooks/system.h"
#include "collect/agent/hooks/tally.h"
#include "processor/agent/start_thread.h"

enum { GUARD_BYTES = 4096, STACK_BYTES = 64 * 1024, BELOW_BYTES = 64 * 1024, FORKED_DELAY_MS = 10 };

/* Lies at the end of the mapping. */
struct control_memory {
	uint8_t block[START_CONTROL_BLOCK];
	uint8_t *mapped;
	uint64_t bytes; /* size of the mapping */
	struct control_path path;
	uint32_t delay_ms;
	uint32_t is_listening;
};

static struct control_memory *memory; /* NULL: this process has no control thread */

/* --- the thread --- */

/* Replaces the program's descriptor table by an empty one for this thread only. Returns false if the kernel
 * refuses. */
static bool has_own_descriptors(void)
{
	enum { CLOSE_RANGE_OF_ITS_OWN = 1 << 1, LAST = 1 << 16 };
	if (machine_syscall(SYS_close_range, 0, UINT32_MAX, CLOSE_RANGE_OF_ITS_OWN, 0, 0, 0) == 0)
		return true;
	if (machine_syscall(SYS_unshare, CLONE_FILES, 0, 0, 0, 0, 0) < 0)
		return false;
	for (long fd = 0; fd < LAST; fd++)
		machine_syscall(SYS_close, fd, 0, 0, 0, 0, 0);
	return true;
}

#define PERMIT(number) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1), BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)

/* Returns false if the kernel refuses; the thread exits then. */
static bool drop_rights(void)
{
	enum { ALLOWED_MODE = 1 };
	static const struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		PERMIT(SYS_accept4),
		PERMIT(SYS_getsockopt),
		PERMIT(SYS_setsockopt),
		PERMIT(SYS_recvfrom),
		PERMIT(SYS_sendto),
		PERMIT(SYS_close),
		PERMIT(SYS_geteuid),
		PERMIT(SYS_getpid),
		PERMIT(SYS_clock_gettime),
		PERMIT(SYS_futex),
		PERMIT(SYS_rt_sigprocmask),
		PERMIT(SYS_process_vm_readv),
		PERMIT(SYS_process_vm_writev),
		PERMIT(SYS_exit),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	};
	const struct sock_fprog program = { .len = sizeof(rules) / sizeof(*rules),
					    .filter = (struct sock_filter *)(uintptr_t)rules };
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = { { 0 } };
	machine_syscall(SYS_capset, (long)&header, (long)none, 0, 0, 0, 0);
	return machine_syscall(SYS_prctl, PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0) == 0 &&
	       machine_syscall(SYS_seccomp, ALLOWED_MODE, 0, (long)&program, 0, 0, 0) == 0;
}

static void wait_ms(uint32_t ms)
{
	enum { NS_PER_MS = 1000000 };
	const struct timespec time = { .tv_nsec = (long)ms * NS_PER_MS };
	machine_syscall(SYS_nanosleep, (long)&time, 0, 0, 0, 0, 0);
}

static void serve(void *argument)
{
	struct control_memory *own = argument;
	hooks_refuse_thread();
	machine_syscall(SYS_prctl, PR_SET_NAME, (long)"cpprof-control", 0, 0, 0, 0);
	long listener = has_own_descriptors() ? 0 : -1;
	if (listener == 0 && own->delay_ms)
		wait_ms(own->delay_ms);
	if (listener == 0)
		listener = control_listen(&own->path);
	bool is_served = listener >= 0;
	__atomic_store_n(&own->is_listening, is_served, __ATOMIC_RELEASE);
	is_served = is_served && drop_rights();
	while (is_served) {
		long client = control_accept(listener);
		is_served = client >= 0;
		if (is_served)
			control_answer(client);
		machine_syscall(SYS_close, client, 0, 0, 0, 0, 0);
	}
	for (;;)
		machine_syscall(SYS_exit, 0, 0, 0, 0, 0, 0);
}

/* --- its process --- */

/* Defined in programs that are built with ThreadSanitizer. Its interposed functions (memcpy, ...) use a state of
 * the thread that the control thread does not have. */
extern void __tsan_init(void) __attribute__((weak));

/* Under valgrind, which runs in the same process, the filter would also apply to valgrind's own system calls. A
 * library that valgrind preloads shows its presence. */
static bool is_wanted(void)
{
	if (__tsan_init)
		return false;
	const char *value = hooks_environment_value("CPPROF_CONTROL");
	const char *preloaded = hooks_environment_value("LD_PRELOAD");
	return !(value && value[0] == '0' && value[1] == 0) && !(preloaded && strstr(preloaded, "/vgpreload_")) &&
	       !getauxval(AT_SECURE);
}

static struct control_memory *map_memory(void)
{
	uint64_t below = machine_thread_pointer() - (uint64_t)(uintptr_t)&hook_thread;
	below = (below + BELOW_BYTES + GUARD_BYTES - 1) / GUARD_BYTES * GUARD_BYTES;
	uint64_t before = GUARD_BYTES + STACK_BYTES + below, bytes = before + sizeof(struct control_memory);
	long mapped = machine_syscall(SYS_mmap, 0, (long)bytes, PROT_READ | PROT_WRITE,
				      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (system_is_error(mapped))
		return NULL;
	machine_syscall(SYS_mprotect, mapped, GUARD_BYTES, PROT_NONE, 0, 0, 0);
	struct control_memory *own = (struct control_memory *)(mapped + (long)before);
	own->mapped = (uint8_t *)mapped;
	own->bytes = bytes;
	return own;
}

static void unmap_memory(struct control_memory *own)
{
	machine_syscall(SYS_munmap, (long)own->mapped, (long)own->bytes, 0, 0, 0, 0);
}

void control_begin(uint32_t delay_ms)
{
	const uint64_t flags =
		CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS;
	uint64_t signals;
	struct control_memory *own = is_wanted() ? map_memory() : NULL;
	if (!own)
		return;
	start_control_block(own->block);
	control_path_make(&own->path);
	own->delay_ms = delay_ms;
	/* The thread inherits this mask, so that it never runs a handler of the program. */
	system_block_signals(&signals);
	long tid = start_thread(flags, own->mapped + GUARD_BYTES + STACK_BYTES, own->block, serve, own);
	system_restore_signals(&signals);
	if (system_is_error(tid))
		unmap_memory(own);
	else
		memory = own;
}

void control_forked(void)
{
	struct control_memory *parent_s = memory;
	memory = NULL;
	if (!parent_s)
		return;
	unmap_memory(parent_s);
	control_begin(FORKED_DELAY_MS);
}

void control_end(void)
{
	if (memory && __atomic_load_n(&memory->is_listening, __ATOMIC_ACQUIRE))
		control_remove(&memory->path);
}
