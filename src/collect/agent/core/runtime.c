/* The process: connects to the monitor, continues in a forked process, and reports to the monitor that code has
 * changed. */
#include "collect/agent/core/runtime.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/futex.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "collect/agent/core/channel.h"
#include "collect/agent/core/real.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/signals/signals.h"
#include "processor/agent/machine.h"

struct runtime runtime;

enum { NS_PER_MS = 1000000 };

/* --- connecting --- */

/* Returns whether our pid is also the pid in /proc, which the monitor uses. In another pid namespace it belongs to
 * another process there. */
static bool has_own_pid(void)
{
	enum { DECIMAL = 10 };
	char text[32];
	uint32_t pid = 0;
	long bytes = machine_syscall(SYS_readlink, (long)"/proc/self", (long)text, sizeof(text), 0, 0, 0);
	for (long i = 0; i < bytes; i++)
		pid = pid * DECIMAL + (uint32_t)(text[i] - '0');
	return bytes <= 0 || pid == (uint32_t)machine_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
}

/* Finds our own code. Walks leave its frames out. */
static int find_text(struct dl_phdr_info *info, size_t bytes, void *context)
{
	(void)bytes;
	(void)context;
	uint64_t here = (uint64_t)(uintptr_t)&find_text;
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + segment->p_vaddr;
		if (segment->p_type != PT_LOAD || !(segment->p_flags & PF_X) || here - start >= segment->p_memsz)
			continue;
		runtime.text_start = start;
		runtime.text_end = start + segment->p_memsz;
		return 1;
	}
	return 0;
}

/* The same by a call that is allowed anywhere. If the library is linked into the program, it has no code range of
 * its own. */
static void find_text_of_library(void)
{
	struct dl_find_object found;
	if (!real_find_object((uint64_t)(uintptr_t)&find_text, &found) || !found.dlfo_link_map ||
	    !found.dlfo_link_map->l_name || !*found.dlfo_link_map->l_name)
		return;
	runtime.text_start = (uint64_t)(uintptr_t)found.dlfo_map_start;
	runtime.text_end = (uint64_t)(uintptr_t)found.dlfo_map_end;
}

static void read_requests(void)
{
	const struct channel *channel = runtime.channel;
	for (uint32_t i = 0; i < channel->request_count && i < SAMPLE_REQUESTS; i++) {
		const struct channel_request *request = &channel->requests[i];
		if (request->counter >= COUNTER_COUNT)
			continue;
		runtime.requests_of[request->counter] |= (uint16_t)(1U << i);
		if (request->counter != COUNTER_FP)
			continue;
		runtime.fp_kinds |= request->fp_kinds;
		for (int kind = 0; kind < FP_KIND_COUNT; kind++)
			if (request->fp_kinds >> kind & 1)
				runtime.fp_requests[kind] |= (uint16_t)(1U << i);
	}
}

/* Takes a process slot. Returns false if none is free. `code` is the parent's code table, which a forked process
 * uses until the monitor has read of the fork; else 0. */
static bool take_process(uint64_t code)
{
	const struct channel_process *parent = runtime.process;
	struct channel *channel = runtime.channel;
	for (uint32_t i = 0; i < CHANNEL_PROCESSES; i++) {
		struct channel_process *process = &channel->processes[i];
		uint32_t expected = CHANNEL_FREE;
		if (!__atomic_compare_exchange_n(&process->state, &expected, CHANNEL_TAKEN, false, __ATOMIC_ACQUIRE,
						 __ATOMIC_RELAXED))
			continue;
		process->pid = runtime.pid;
		process->code = code;
		process->code_version = 0;
		process->code_wanted = 1;
		process->code_loaded = 0;
		process->flush_wanted = process->flush_done = 0;
		process->findings = 0;
		process->threads_unwatched = 0;
		process->threads_untimed = 0;
		process->late_ticks = 0;
		process->execs = 0;
		process->stretch_max = 0;
		process->order = __atomic_fetch_add(&channel->processes_taken, 1, __ATOMIC_RELAXED);
		process->program = parent ? parent->program : process->order;
		runtime.process = process;
		runtime.process_number = i;
		__atomic_store_n(&process->state, CHANNEL_LIVE, __ATOMIC_RELEASE);
		return true;
	}
	__atomic_add_fetch(&channel->processes_refused, 1, __ATOMIC_RELAXED);
	return false;
}

static bool kernel_copies(void)
{
	uint32_t from = 1, to = 0;
	const struct iovec here = { .iov_base = &to, .iov_len = sizeof(to) };
	const struct iovec there = { .iov_base = &from, .iov_len = sizeof(from) };
	return machine_syscall(SYS_process_vm_readv, runtime.pid, (long)&here, 1, (long)&there, 1, 0) == sizeof(to);
}

/* --- waiting for the monitor --- */

enum { STEP_MS = 10 };

/* The monitor's beat while one call waits for it. */
struct monitor_watch {
	uint32_t beat;
	uint64_t silent_ns;
};

/* 2^32 + the beat at which a call gave up waiting: until the beat changes, no call waits for the monitor again. */
static uint64_t given_up;

static uint32_t beat_now(void)
{
	return __atomic_load_n(&runtime.channel->beat, __ATOMIC_RELAXED);
}

/* Returns whether to wait on. It also checks the beat, because a killed monitor has a pid until its parent has read
 * its status. */
static bool monitor_lives(struct monitor_watch *watch)
{
	static const uint64_t longest_ns = 1000ULL * NS_PER_MS;
	static const uint64_t was_given_up = 1ULL << 32;
	const struct channel *channel = runtime.channel;
	uint32_t beat = beat_now();
	if (beat != watch->beat)
		*watch = (struct monitor_watch){ .beat = beat };
	if (watch->silent_ns >= longest_ns)
		__atomic_store_n(&given_up, was_given_up | beat, __ATOMIC_RELAXED);
	return !__atomic_load_n(&channel->is_over, __ATOMIC_ACQUIRE) &&
	       __atomic_load_n(&given_up, __ATOMIC_RELAXED) != (was_given_up | beat) &&
	       machine_syscall(SYS_kill, channel->monitor_pid, 0, 0, 0, 0, 0) != -ESRCH;
}

/* Returns the time that the step took, at most STEP_MS: while the process was stopped, no more time counts. */
static uint64_t wait_a_step(uint32_t *futex, uint32_t value)
{
	const struct timespec step = { .tv_nsec = STEP_MS * NS_PER_MS };
	uint64_t before_ns = runtime_now_ns(CLOCK_MONOTONIC);
	machine_syscall(SYS_futex, (long)futex, FUTEX_WAIT, value, (long)&step, 0, 0);
	uint64_t ns = runtime_now_ns(CLOCK_MONOTONIC) - before_ns;
	return ns < (uint64_t)step.tv_nsec ? ns : (uint64_t)step.tv_nsec;
}

bool runtime_wait_for(uint32_t *futex, uint32_t at_least, uint32_t milliseconds)
{
	struct monitor_watch watch = { .beat = beat_now() };
	uint64_t left_ns = (uint64_t)milliseconds * NS_PER_MS;
	for (;;) {
		uint32_t now = __atomic_load_n(futex, __ATOMIC_ACQUIRE);
		if ((int32_t)(now - at_least) >= 0)
			return true;
		if (left_ns == 0 || !monitor_lives(&watch))
			return false;
		uint64_t ns = wait_a_step(futex, now);
		watch.silent_ns += ns;
		left_ns -= ns < left_ns ? ns : left_ns;
	}
}

/* A slow monitor delays the program by a second, at most TIMEOUTS_MAX times. */
static void wait_for_code(uint32_t wanted)
{
	enum { LONGEST_MS = 1000, TIMEOUTS_MAX = 5 };
	static uint32_t timeouts;
	runtime_ring_bell();
	if (timeouts < TIMEOUTS_MAX && !runtime_wait_for(&runtime.process->code_loaded, wanted, LONGEST_MS))
		timeouts++;
}

void runtime_code_changed(void)
{
	int error = errno;
	tally_modules_changed();
	if (runtime.alone)
		return;
	struct runtime_thread *thread = runtime_thread_begin(NULL);
	if (thread && runtime_set_busy(thread, RUNTIME_HERE)) {
		uint32_t wanted = __atomic_add_fetch(&runtime.process->code_wanted, 1, __ATOMIC_ACQ_REL);
		runtime_write_event(thread, CHANNEL_CODE, 0, 0, NULL, 0);
		wait_for_code(wanted);
		runtime_leave(thread);
	}
	errno = error;
}

/* --- fork --- */

/* The child has a copy of a private channel, in which its own process is the only one. */
static bool take_forked_process(uint64_t code)
{
	if (runtime.alone)
		return true;
	/* Pid 1 is in a pid namespace of its own: see has_own_pid, whose system call a filter may forbid here. */
	return !runtime.channel->is_over && runtime.pid != 1 && take_process(code);
}

void runtime_cloned(const struct sample_record *creator)
{
	int64_t parent_pid = runtime.pid;
	machine_calls = 0; /* the calls of threads that the child does not have */
	if (runtime.channel || hooks.header)
		runtime_find_time_offset();
	hooks_forked();
	if (!runtime.channel)
		return;
	uint64_t code = runtime.process->code;
	long pid = machine_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0); /* a filter may forbid it */
	runtime.pid = (uint32_t)pid;
	if (pid < 0 || !take_forked_process(code))
		runtime.channel = NULL;
	runtime_thread_forked(parent_pid, creator);
	if (runtime.channel)
		runtime_ring_bell();
	else
		runtime.on = false;
}

void runtime_forked(void)
{
	runtime_cloned(NULL);
}

/* --- begin --- */

static void begin_clocks(void)
{
	read_requests();
	if (tick_install() < 0 || (runtime.fp_kinds && fp_install() < 0))
		__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_SIGNAL, __ATOMIC_RELAXED);
	runtime.has_experiments = runtime.channel->experiment.is_wanted != 0;
	runtime.on = !runtime.channel->starts_paused;
	if (!runtime.on)
		__atomic_or_fetch(&runtime.process->findings, CHANNEL_FINDING_WINDOWS, __ATOMIC_RELAXED);
}

static void init_process(void)
{
	enum { BELOW_LAST = 3 };
	runtime.pid = (uint32_t)machine_syscall(SYS_getpid, 0, 0, 0, 0, 0, 0);
	runtime.signal = SIGRTMAX - BELOW_LAST;
	runtime.kernel_copies = kernel_copies();
}

static void connect(void)
{
	init_process();
	runtime_find_time_offset();
	if (!take_process(0)) {
		runtime.channel = NULL;
		return;
	}
	dl_iterate_phdr(find_text, NULL);
	begin_clocks();
	if (runtime_thread_begin_main(CHANNEL_STARTED, 0, program_invocation_short_name))
		wait_for_code(1);
}

/* Makes a private channel. It ends before the rings and the code tables, because nothing is written to them. */
static struct channel *make_channel(void)
{
	const struct tally_header *header = hooks.header;
	struct channel *channel = runtime_map(CHANNEL_RINGS);
	if (!channel)
		return NULL;
	channel->magic = CHANNEL_MAGIC;
	channel->versions = CHANNEL_VERSIONS;
	channel->starts_paused = header->starts_paused || hooks.awaits_start;
	channel->tick_ns = header->tick_ns;
	for (uint32_t i = 0; i < header->request_count && i < SAMPLE_REQUESTS; i++) {
		const struct tally_request *from = &header->requests[i];
		struct channel_request *to = &channel->requests[i];
		to->interval = from->interval;
		to->counter = from->counter;
		to->fp_kinds = from->fp_kinds;
		memcpy(to->name, from->own, sizeof(to->name));
		channel->request_count = i + 1;
	}
	return channel;
}

enum { NOT_YET, MAY_BEGIN, BEGUN };
static uint32_t alone_state;

void runtime_begin_alone(void)
{
	uint32_t expected = MAY_BEGIN;
	int error = errno;
	if (__atomic_load_n(&alone_state, __ATOMIC_RELAXED) == MAY_BEGIN && hooks.header && !runtime.channel &&
	    __atomic_compare_exchange_n(&alone_state, &expected, BEGUN, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
		init_process();
		find_text_of_library();
		struct channel *channel = make_channel();
		runtime.alone = channel != NULL;
		runtime.channel = channel;
		if (channel) {
			(void)take_process(0);
			begin_clocks();
		}
	}
	if (runtime.alone && !runtime_thread)
		(void)runtime_thread_begin(NULL);
	errno = error;
}

/* Returns 1 if the program, which is the first object, contains the C library or needs a library, else 2. */
static int find_needs(struct dl_phdr_info *info, size_t size, void *nothing)
{
	bool is_dynamic = false, needs = false;
	(void)size;
	(void)nothing;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		is_dynamic |= segment->p_type == PT_INTERP;
		const ElfW(Dyn) *tag = (const void *)(info->dlpi_addr + segment->p_vaddr);
		while (segment->p_type == PT_DYNAMIC && tag->d_tag != DT_NULL && !needs)
			needs = tag++->d_tag == DT_NEEDED;
	}
	return is_dynamic && !needs ? 2 : 1;
}

/* Returns whether the C library works in the program's threads. A position-independent program of Go without C has a dynamic linker and needs
 * no library: Go uses the thread pointer for itself. */
static bool has_c_library(void)
{
	return dl_iterate_phdr(find_needs, NULL) == 1;
}

void cpprof_runtime_begin(void)
{
	static uint32_t has_begun;
	if (__atomic_exchange_n(&has_begun, 1, __ATOMIC_ACQ_REL))
		return;
	int error = errno;
	real_signals_begin();
	hooks_begin_recorded();
	if (!hooks.header && has_own_pid() && has_c_library() && channel_find())
		connect();
	if (!runtime.channel)
		__atomic_store_n(&alone_state, MAY_BEGIN, __ATOMIC_RELEASE);
	if (hooks.header)
		runtime_begin_alone();
	pthread_atfork(NULL, NULL, runtime_forked);
	errno = error;
}

__attribute__((constructor)) static void begin(void)
{
	cpprof_runtime_begin();
}
