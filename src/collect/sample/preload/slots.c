#include "collect/sample/preload/slots.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

struct preload_slots *preload_slots_new(struct channel *channel, struct error *error)
{
	struct preload_slots *slots = calloc(1, sizeof(*slots));
	if (!slots) {
		error_memory(error);
		return NULL;
	}
	slots->channel = channel;
	slots->deaths = epoll_create1(EPOLL_CLOEXEC);
	if (slots->deaths >= 0)
		return slots;
	error_set_errno(error, "cannot observe processes (epoll)");
	free(slots);
	return NULL;
}

static void close_pidfd(struct preload_process *process)
{
	if (process->pidfd >= 0)
		close(process->pidfd); /* this removes it from the epoll */
	process->pidfd = -1;
}

void preload_slots_free(struct preload_slots *slots)
{
	if (!slots)
		return;
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		if (!slots->processes[i].is_known)
			continue;
		close_pidfd(&slots->processes[i]);
		preload_maps_release(&slots->processes[i].maps);
	}
	for (size_t i = 0; i < CHANNEL_THREADS; i++)
		free(slots->threads[i].waits_at);
	preload_starts_release(&slots->starts);
	close(slots->deaths);
	free(slots);
}

struct channel_process *preload_slots_shared(const struct preload_slots *slots, const struct preload_process *process)
{
	return &slots->channel->processes[process - slots->processes];
}

static bool is_over(const struct preload_process *process)
{
	return process->is_dead || process->is_replaced;
}

struct preload_process *preload_slots_find(struct preload_slots *slots, uint32_t pid)
{
	struct preload_process *found = NULL;
	int best = -1;
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		struct preload_process *process = &slots->processes[i];
		int rank = 2 * process->has_begun + !is_over(process);
		if (!process->is_known || process->pid != pid || rank <= best)
			continue;
		found = process;
		best = rank;
	}
	return found;
}

/* --- starts and ends --- */

/* Returns the transfers of a process that its agent has observed. Threads count whether or not they are
 * known yet. */
static struct preload_seen seen_of(const struct preload_slots *slots, const struct preload_process *process)
{
	const uint32_t number = (uint32_t)(process - slots->processes);
	struct preload_seen seen = process->ended;
	for (size_t i = 0; i < CHANNEL_THREADS; i++) {
		const struct channel_thread *thread = &slots->channel->threads[i];
		uint32_t state = __atomic_load_n(&thread->state, __ATOMIC_ACQUIRE);
		if ((state != CHANNEL_LIVE && state != CHANNEL_ENDED) || thread->process != number ||
		    thread->pid != process->pid)
			continue;
		preload_moved_add(&seen.all, &thread->moved);
		if (thread->tid == thread->pid)
			preload_moved_add(&seen.main, &thread->moved);
	}
	return seen;
}

/* Reads the kernel's figures for a process. Returns false if they may be those of another program that
 * runs in it by now, or of another process with its pid. */
static bool read_own(const struct preload_slots *slots, const struct preload_process *process,
		     struct preload_state *state)
{
	const struct channel_process *shared = preload_slots_shared(slots, process);
	return process->account.is_kept && process->pidfd >= 0 && !process->is_replaced &&
	       preload_state_read(state, process->pid) && __atomic_load_n(&shared->execs, __ATOMIC_SEQ_CST) == 0 &&
	       syscall(SYS_pidfd_send_signal, process->pidfd, 0, NULL, 0) == 0;
}

static void update_account(struct preload_slots *slots, struct preload_process *process)
{
	struct preload_state state;
	if (is_over(process) || !read_own(slots, process, &state))
		return;
	const struct preload_seen seen = seen_of(slots, process);
	preload_account_update(&process->account, &state, &seen);
}

static void close_account(struct preload_slots *slots, struct preload_process *process)
{
	struct preload_state state;
	if (!read_own(slots, process, &state))
		return;
	const struct preload_seen seen = seen_of(slots, process);
	preload_account_close(&process->account, &state, &seen);
}

void preload_slots_account(struct preload_slots *slots, struct preload_process *process, bool is_forked)
{
	if (!slots->keeps_accounts)
		return;
	if (is_forked)
		preload_account_begin_forked(&process->account);
	else
		preload_account_begin(&process->account, process->pid);
	update_account(slots, process);
}

static void find_ended(struct preload_slots *slots, uint64_t now_ns)
{
	enum { AT_ONCE = 64 };
	struct epoll_event events[AT_ONCE];
	int count;
	do {
		count = epoll_wait(slots->deaths, events, AT_ONCE, 0);
		for (int i = 0; i < count; i++) {
			uint32_t number = events[i].data.u32;
			if (number < CHANNEL_PROCESSES) {
				close_account(slots, &slots->processes[number]);
				slots->processes[number].is_dead = true;
				close_pidfd(&slots->processes[number]);
			} else if (preload_starts_died(&slots->starts, number - CHANNEL_PROCESSES, now_ns)) {
				slots->sums.not_connected++;
			}
		}
	} while (count == AT_ONCE);
}

/* Returns whether /proc shows that all threads of a process have ended. It exists until its parent has reaped it. */
static bool is_zombie(uint32_t pid)
{
	char text[512];
	char state = 0;
	long threads = 0;
	snprintf(text, sizeof(text), "/proc/%u/stat", pid);
	FILE *file = fopen(text, "re");
	size_t bytes = file ? fread(text, 1, sizeof(text) - 1, file) : 0;
	text[bytes] = 0;
	if (file)
		fclose(file);
	const char *name_end = strrchr(text, ')');
	return name_end &&
	       sscanf(name_end, ") %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %ld", &state,
		      &threads) == 2 &&
	       (state == 'Z' || state == 'X') && threads <= 1;
}

static bool has_died(const struct preload_process *process)
{
	struct pollfd descriptor = { .fd = process->pidfd, .events = POLLIN };
	if (process->pidfd < 0)
		return (kill((pid_t)process->pid, 0) < 0 && errno == ESRCH) || is_zombie(process->pid);
	return poll(&descriptor, 1, 0) > 0;
}

static void watch_for_death(struct preload_slots *slots, struct preload_process *process)
{
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = (uint32_t)(process - slots->processes) };
	process->pidfd = (int)syscall(SYS_pidfd_open, process->pid, 0);
	if (process->pidfd < 0)
		process->is_dead = errno == ESRCH;
	else if (epoll_ctl(slots->deaths, EPOLL_CTL_ADD, process->pidfd, &event) < 0)
		close_pidfd(process); /* its end is then polled */
}

static void replace(struct preload_process *older, struct preload_process *newer)
{
	older->is_dead = has_died(older);
	older->is_replaced = !older->is_dead;
	newer->follows |= older->is_replaced;
	older->is_followed = true;
	close_pidfd(older);
}

static bool has_come_before(const struct preload_slots *slots, const struct preload_process *process,
			    const struct preload_process *other)
{
	uint32_t order = preload_slots_shared(slots, process)->order;
	return (int32_t)(order - preload_slots_shared(slots, other)->order) < 0;
}

/* A new process has the pid of a known one: it executes another program, unless the known process has
 * ended and the pid is used again. Both may be new to us; then the order of their slots means nothing. */
static void compare_with_namesakes(struct preload_slots *slots, struct preload_process *process)
{
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		struct preload_process *other = &slots->processes[i];
		if (other == process || !other->is_known || other->pid != process->pid)
			continue;
		bool is_newer = has_come_before(slots, other, process);
		struct preload_process *older = is_newer ? other : process, *newer = is_newer ? process : other;
		if (is_over(older))
			older->is_followed = true;
		else
			replace(older, newer);
	}
}

static void register_process(struct preload_slots *slots, struct preload_process *process, uint32_t pid)
{
	struct preload_process found = { .pid = pid, .pidfd = -1 };
	*process = found;
	process->is_known = true;
	preload_starts_connected(&slots->starts, pid);
	slots->had_any = true;
	watch_for_death(slots, process);
	compare_with_namesakes(slots, process);
}

/* Clears pid and tid before freeing the slot: its next owner may not have written them when the monitor
 * reads the slot, which must not find those of the previous owner. */
static void free_thread_slot(struct channel_thread *shared)
{
	__atomic_store_n(&shared->pid, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->tid, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->state, CHANNEL_FREE, __ATOMIC_RELEASE);
}

static void free_process_slot(struct channel_process *shared)
{
	__atomic_store_n(&shared->pid, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&shared->state, CHANNEL_FREE, __ATOMIC_RELEASE);
}

static bool is_gone(uint32_t pid)
{
	return pid > 0 && kill((pid_t)pid, 0) < 0 && errno == ESRCH;
}

static void update_processes(struct preload_slots *slots)
{
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		struct channel_process *shared = &slots->channel->processes[i];
		struct preload_process *process = &slots->processes[i];
		uint32_t state = __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE);
		uint32_t pid = __atomic_load_n(&shared->pid, __ATOMIC_RELAXED);
		if (process->is_known && !process->is_dead && process->pidfd < 0 && !process->is_replaced)
			process->is_dead = has_died(process);
		if (process->is_known || state == CHANNEL_FREE)
			continue;
		if (state == CHANNEL_LIVE && pid > 0 && pid <= INT32_MAX)
			register_process(slots, process, pid);
		else if (is_gone(pid)) /* it ended before its slot was complete */
			free_process_slot(shared);
	}
}

/* Returns whether the slot of a thread may be used: it names its owner, and the owner's process is known. */
static bool register_thread(struct preload_slots *slots, uint32_t number)
{
	const struct channel_thread *shared = &slots->channel->threads[number];
	struct preload_thread *thread = &slots->threads[number];
	struct preload_thread found = { .pid = __atomic_load_n(&shared->pid, __ATOMIC_RELAXED),
					.tid = __atomic_load_n(&shared->tid, __ATOMIC_RELAXED),
					.process = __atomic_load_n(&shared->process, __ATOMIC_RELAXED) };
	if (found.process >= CHANNEL_PROCESSES)
		return false;
	struct preload_process *process = &slots->processes[found.process];
	if (!process->is_known || process->pid != found.pid || found.tid == 0 || found.tid > INT32_MAX)
		return false;
	*thread = found;
	preload_ring_init(&thread->ring, slots->channel, number);
	thread->is_known = true;
	process->threads++;
	return true;
}

static void update_thread(struct preload_slots *slots, uint32_t number)
{
	struct channel_thread *shared = &slots->channel->threads[number];
	struct preload_thread *thread = &slots->threads[number];
	uint32_t state = __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE);
	uint32_t tid = __atomic_load_n(&shared->tid, __ATOMIC_RELAXED);
	uint32_t pid = __atomic_load_n(&shared->pid, __ATOMIC_RELAXED);
	if (!thread->is_known && (state == CHANNEL_LIVE || state == CHANNEL_ENDED)) {
		/* A slot without a known process is freed when the process that it names does not exist. */
		if (!register_thread(slots, number) && is_gone(pid))
			free_thread_slot(shared);
	} else if (!thread->is_known && state == CHANNEL_TAKEN && is_gone(pid)) {
		free_thread_slot(shared);
	}
	if (!thread->is_known)
		return;
	thread->has_ended |= state != CHANNEL_LIVE || tid != thread->tid || pid != thread->pid ||
			     is_over(&slots->processes[thread->process]);
	preload_ring_update(&thread->ring);
}

struct search {
	struct preload_slots *slots;
	uint64_t now_ns;
};

static void on_child(void *context, uint32_t child)
{
	const struct search *search = context;
	if (!preload_slots_find(search->slots, child))
		preload_starts_add(&search->slots->starts, search->slots->deaths, CHANNEL_PROCESSES, child,
				   search->now_ns);
}

/* Looks from time to time for children that are not connected. Programs that run only briefly may be
 * overlooked. */
static void find_strangers(struct preload_slots *slots, uint64_t now_ns)
{
	static const uint64_t every_ns = 250 * 1000 * 1000;
	struct search search = { .slots = slots, .now_ns = now_ns };
	if (now_ns < slots->starts.looked_ns + every_ns)
		return;
	slots->starts.looked_ns = now_ns;
	for (size_t i = 0; i < CHANNEL_THREADS; i++) {
		const struct preload_thread *thread = &slots->threads[i];
		if (thread->is_known && !thread->has_ended)
			preload_starts_children(thread->pid, thread->tid, on_child, &search);
	}
}

/* Determines why programs are not connected, while they run. */
static void find_reasons(struct preload_slots *slots, uint64_t now_ns)
{
	preload_starts_find_reasons(&slots->starts, now_ns);
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		struct preload_process *process = &slots->processes[i];
		if (!process->is_known || is_over(process) || process->execs_ns == process->asked_ns ||
		    now_ns < process->execs_ns + PRELOAD_LIVED_NS)
			continue;
		process->asked_ns = process->execs_ns;
		if (process->execs_ns)
			preload_starts_find_reason_of(&slots->starts, process->pid);
	}
}

/* Reads the accounts from time to time. For a process that its parent reaps at once, the last reading
 * remains. */
static void update_accounts(struct preload_slots *slots, uint64_t now_ns)
{
	static const uint64_t every_ns = 100 * 1000 * 1000;
	if (!slots->keeps_accounts || now_ns < slots->accounts_ns + every_ns)
		return;
	slots->accounts_ns = now_ns;
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++)
		if (slots->processes[i].is_known && !is_over(&slots->processes[i]))
			update_account(slots, &slots->processes[i]);
}

/* Closes the accounts of processes that have ended. For a process that runs, the state of the last reading
 * is compared with the calls that the agent has noted since: an agent notes a call some time after the
 * kernel has accounted it. */
void preload_slots_close_accounts(struct preload_slots *slots)
{
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		struct preload_process *process = &slots->processes[i];
		if (process->is_known && !is_over(process) && has_died(process))
			close_account(slots, process);
		else if (process->is_known)
			update_account(slots, process);
	}
}

bool preload_slots_lingers(const struct preload_process *process, uint64_t now_ns)
{
	static const uint64_t lingers_ns = 20 * 1000 * 1000;
	return process->is_dead && now_ns < process->over_ns + lingers_ns;
}

static void note_ends(struct preload_slots *slots, uint64_t now_ns)
{
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		struct preload_process *process = &slots->processes[i];
		if (process->is_known && is_over(process) && process->over_ns == 0)
			process->over_ns = now_ns;
	}
}

void preload_slots_update(struct preload_slots *slots, uint64_t now_ns)
{
	find_ended(slots, now_ns);
	update_processes(slots);
	note_ends(slots, now_ns);
	for (uint32_t i = 0; i < CHANNEL_THREADS; i++)
		update_thread(slots, i);
	find_strangers(slots, now_ns);
	find_reasons(slots, now_ns);
	update_accounts(slots, now_ns);
}

/* --- the end --- */

static void add_thread(struct preload_sums *sums, const struct preload_thread *thread)
{
	const struct channel_thread *shared = thread->ring.shared;
	for (size_t i = 0; i < SAMPLE_REQUESTS; i++) {
		sums->totals[i] += shared->clocks[i].total;
		sums->lost[i] += shared->lost[i];
	}
	sums->bounded |= shared->bounded;
	sums->lost_events += shared->lost_events;
	preload_unobserved_add_seen(&sums->unobserved, &shared->moved);
	sums->broken_rings += thread->ring.is_broken;
}

/* Returns whether the process announced that it executes another program, the call has not failed, and the
 * process ran on without connecting. */
static bool has_lost_its_program(const struct preload_process *process, const struct channel_process *shared,
				 uint64_t now_ns)
{
	return process->execs_ns && __atomic_load_n(&shared->execs, __ATOMIC_ACQUIRE) > 0 && !process->is_followed &&
	       now_ns > process->execs_ns + PRELOAD_LIVED_NS;
}

static void add_process(struct preload_sums *sums, const struct preload_slots *slots,
			const struct preload_process *process, uint64_t now_ns)
{
	const struct channel_process *shared = preload_slots_shared(slots, process);
	sums->unwatched += shared->threads_unwatched;
	sums->untimed += shared->threads_untimed;
	sums->late_ticks += shared->late_ticks;
	sums->stretch = shared->stretch_max > sums->stretch ? shared->stretch_max : sums->stretch;
	sums->flags |= shared->findings;
	if (has_lost_its_program(process, shared, now_ns)) {
		sums->not_connected++;
		sums->absence = process->absence.reason ? process->absence : sums->absence;
	}
	preload_unobserved_add_account(&sums->unobserved, &process->account);
}

static void finish_process(struct preload_slots *slots, struct preload_process *process, uint64_t now_ns)
{
	struct channel_process *shared = preload_slots_shared(slots, process);
	add_process(&slots->sums, slots, process, process->over_ns ? process->over_ns : now_ns);
	close_pidfd(process);
	preload_maps_release(&process->maps);
	process->is_known = false;
	free_process_slot(shared);
}

void preload_slots_finish_thread(struct preload_slots *slots, uint32_t number, uint64_t now_ns)
{
	struct preload_thread *thread = &slots->threads[number];
	struct preload_process *process = &slots->processes[thread->process];
	struct channel_thread *shared = thread->ring.shared;
	uint32_t state = __atomic_load_n(&shared->state, __ATOMIC_ACQUIRE);
	uint32_t tid = __atomic_load_n(&shared->tid, __ATOMIC_RELAXED);
	add_thread(&slots->sums, thread);
	preload_moved_add(&process->ended.all, &shared->moved);
	if (thread->tid == thread->pid)
		preload_moved_add(&process->ended.main, &shared->moved);
	free(thread->waits_at);
	thread->waits_at = NULL;
	thread->is_known = false;
	process->threads--;
	/* A new owner that has taken the slot meanwhile keeps it. */
	if (state != CHANNEL_FREE && tid == thread->tid)
		free_thread_slot(shared);
	if (is_over(process) && process->threads == 0)
		finish_process(slots, process, now_ns);
}

void preload_slots_finish_processes(struct preload_slots *slots, uint64_t now_ns)
{
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++) {
		struct preload_process *process = &slots->processes[i];
		if (process->is_known && is_over(process) && process->threads == 0)
			finish_process(slots, process, now_ns);
	}
}

struct preload_sums preload_slots_sums(const struct preload_slots *slots, uint64_t now_ns)
{
	struct preload_sums sums = slots->sums;
	sums.not_connected += preload_starts_living(&slots->starts, now_ns);
	for (size_t i = 0; i < CHANNEL_THREADS; i++)
		if (slots->threads[i].is_known)
			add_thread(&sums, &slots->threads[i]);
	for (size_t i = 0; i < CHANNEL_PROCESSES; i++)
		if (slots->processes[i].is_known)
			add_process(&sums, slots, &slots->processes[i],
				    slots->processes[i].over_ns ? slots->processes[i].over_ns : now_ns);
	return sums;
}
