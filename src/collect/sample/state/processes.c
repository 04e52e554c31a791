#include "collect/sample/state/processes_parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/sample/stacks/deep_stack.h"
#include "collect/sample/state/proc.h"

struct processes *processes_new(struct profile *profile, struct modules *modules)
{
	struct processes *processes = calloc(1, sizeof(*processes));
	if (!processes)
		return NULL;
	processes->profile = profile;
	processes->modules = modules;
	hash_map_init(&processes->by_pid);
	hash_map_init(&processes->by_tid);
	starts_init(&processes->starts);
	kernel_threads_init(&processes->kernel_threads);
	return processes;
}

void processes_free(struct processes *processes)
{
	if (!processes)
		return;
	for (size_t i = 0; i < processes->count; i++) {
		maps_release(&processes->items[i].code);
		maps_release(&processes->items[i].data);
	}
	for (size_t i = 0; i < processes->thread_count; i++)
		deep_stack_free(processes->threads[i].deep);
	free(processes->items);
	free(processes->threads);
	free(processes->ended);
	hash_map_release(&processes->by_pid);
	hash_map_release(&processes->by_tid);
	starts_release(&processes->starts);
	kernel_threads_release(&processes->kernel_threads);
	moved_texts_release(&processes->moved);
	free(processes);
}

void processes_merge_kernel_threads(struct processes *processes)
{
	processes->merges_kernel_threads = true;
}

void processes_set_past(struct processes *processes)
{
	processes->is_past = true;
}

void processes_set_command(struct processes *processes, uint32_t pid, uint32_t user)
{
	processes->command = pid;
	processes->command_user = user;
}

bool processes_are_past(const struct processes *processes)
{
	return processes->is_past;
}

bool processes_is_merged(struct processes *processes, uint32_t pid)
{
	return processes->merges_kernel_threads && kernel_threads_has(&processes->kernel_threads, pid);
}

/* --- adding --- */

/* A process has one user in the profile, for the code before and behind an exec. Root that
 * becomes another user has that one's rights. After any other change the user is unknown: the
 * code before must not count as code of a user with more rights. */
static uint32_t user_after(uint32_t before, uint32_t now)
{
	enum { ROOT = 0 + 1 };
	return before == now || before == ROOT ? now : 0;
}

/* Records the current user and control group of a process. Keeps the old control group if it cannot be read. */
static int note_owner(const struct processes *processes, struct profile_process *shown, bool is_exec)
{
	char path[1024];
	if (processes->is_past)
		return 0;
	uint32_t user = process_user_read((pid_t)shown->pid);
	/* Read late, the user of a process that has ended stays that of its creator, or unknown since it executed a program. */
	if (is_exec || user != 0 || !processes->reads_owners_late)
		shown->user = is_exec ? user_after(shown->user, user) : user;
	if (shown->user == 0 && shown->pid == processes->command && processes->command_execs <= 1)
		shown->user = processes->command_user;
	cgroup_read((pid_t)shown->pid, path, sizeof(path));
	int64_t text = path[0] ? profile_add_string(processes->profile, path) : shown->cgroup;
	if (text < 0)
		return (int)text;
	shown->cgroup = (uint32_t)text;
	return 0;
}

static int64_t add_process(struct processes *processes, uint32_t pid, uint32_t parent_pid, uint64_t time_ns)
{
	if (ARRAY_RESERVE(processes->items, processes->capacity, processes->count + 1) < 0)
		return ERROR_MEMORY;
	struct profile_process shown = { .pid = pid, .parent_pid = parent_pid, .start_ns = time_ns };
	int64_t id = processes->reads_owners_late ? 0 : note_owner(processes, &shown, false);
	if (id == 0)
		id = profile_add_process(processes->profile, &shown);
	if (id < 0 || hash_map_put(&processes->by_pid, pid, (uint32_t)processes->count) < 0)
		return ERROR_MEMORY;
	processes->items[processes->count] = (struct process){ .pid = pid, .id = (uint32_t)id };
	return (int64_t)processes->count++;
}

void processes_read_owners_late(struct processes *processes)
{
	processes->reads_owners_late = true;
}

/* Marks a process, and those that have started it. */
static void keep(struct processes *processes, struct process *process)
{
	while (process && !process->is_kept) {
		process->is_kept = true;
		process = processes_find(processes, processes->profile->processes[process->id].parent_pid);
	}
}

int processes_sampled(struct processes *processes, const struct thread *thread)
{
	struct process *process = &processes->items[thread->process];
	bool is_exec = process->owner == OWNER_OF_PROGRAM_BEFORE;
	if (!processes->reads_owners_late || process->owner == OWNER_READ)
		return 0;
	keep(processes, process);
	process->owner = OWNER_READ;
	return note_owner(processes, &processes->profile->processes[process->id], is_exec);
}

/* Returns the index of a process or HASH_MAP_NONE. */
static uint32_t process_index(const struct processes *processes, uint32_t pid)
{
	uint32_t found = hash_map_get(&processes->by_pid, pid);
	return found != HASH_MAP_NONE && processes->items[found].pid == pid ? found : HASH_MAP_NONE;
}

/* Returns the index of a thread or HASH_MAP_NONE. */
static uint32_t thread_index(const struct processes *processes, uint32_t tid)
{
	uint32_t found = hash_map_get(&processes->by_tid, tid);
	return found != HASH_MAP_NONE && processes->threads[found].tid == tid ? found : HASH_MAP_NONE;
}

struct process *processes_find(const struct processes *processes, uint32_t pid)
{
	uint32_t found = process_index(processes, pid);
	return found == HASH_MAP_NONE ? NULL : &processes->items[found];
}

int64_t processes_find_or_add(struct processes *processes, uint32_t pid)
{
	uint32_t found = process_index(processes, pid);
	return found != HASH_MAP_NONE ? (int64_t)found : add_process(processes, pid, 0, 0);
}

static const struct start no_start = { .node = PROFILE_ROOT };

static void set_base(struct thread *thread, const struct start *start)
{
	thread->base_node = start->node;
	thread->base_markers = start->markers;
	thread->base_copied = start->copied;
	/* Later walks must not continue from its old nodes. */
	deep_stack_free(thread->deep);
	thread->deep = NULL;
}

/* Returns whether a reported thread and an observed start belong together: one system call causes both.
 * Thread ids are used again, but not so soon. `thread_ns` is 0 if unknown. */
static bool is_one_start(uint64_t start_ns, uint64_t thread_ns)
{
	static const uint64_t window_ns = 1000000000;
	uint64_t apart = start_ns > thread_ns ? start_ns - thread_ns : thread_ns - start_ns;
	return thread_ns == 0 || apart < window_ns;
}

static void begin_thread(struct processes *processes, struct thread *thread, uint64_t time_ns)
{
	struct process *process = &processes->items[thread->process];
	struct start start = starts_take(&processes->starts, thread->tid);
	if (start.pid == process->pid && is_one_start(start.time_ns, time_ns))
		set_base(thread, &start);
	process->living++;
	process->threads++;
}

static int64_t add_thread(struct processes *processes, uint32_t process, uint32_t tid, uint64_t time_ns)
{
	if (ARRAY_RESERVE(processes->threads, processes->thread_capacity, processes->thread_count + 1) < 0)
		return ERROR_MEMORY;
	uint32_t process_id = processes->items[process].id;
	struct profile_thread shown = { .tid = tid, .process = process_id, .start_ns = time_ns };
	/* A new thread has its process's name until it takes another. */
	shown.name = processes->profile->processes[process_id].name;
	int64_t id = profile_add_thread(processes->profile, &shown);
	if (id < 0 || hash_map_put(&processes->by_tid, tid, (uint32_t)processes->thread_count) < 0)
		return ERROR_MEMORY;
	struct thread *thread = &processes->threads[processes->thread_count];
	*thread = (struct thread){ .tid = tid, .id = (uint32_t)id, .process = process };
	begin_thread(processes, thread, time_ns);
	return (int64_t)processes->thread_count++;
}

/* Returns the thread that represents all kernel threads, or NULL if memory ran out. */
static struct thread *kernel_thread(struct processes *processes)
{
	uint32_t found = thread_index(processes, KERNEL_THREADS);
	if (found != HASH_MAP_NONE)
		return &processes->threads[found];
	int64_t name = profile_add_string(processes->profile, KERNEL_THREADS_NAME);
	int64_t process = name < 0 ? name : processes_find_or_add(processes, KERNEL_THREADS);
	if (process < 0)
		return NULL;
	processes->profile->processes[processes->items[process].id].name = (uint32_t)name;
	int64_t added = add_thread(processes, (uint32_t)process, KERNEL_THREADS, 0);
	return added < 0 ? NULL : &processes->threads[added];
}

struct thread *processes_thread(struct processes *processes, uint32_t pid, uint32_t tid)
{
	if (processes_is_merged(processes, pid))
		return kernel_thread(processes);
	uint32_t found = thread_index(processes, tid);
	if (found != HASH_MAP_NONE && processes->items[processes->threads[found].process].pid == pid)
		return &processes->threads[found];
	int64_t process = processes_find_or_add(processes, pid);
	int64_t added = process < 0 ? process : add_thread(processes, (uint32_t)process, tid, 0);
	return added < 0 ? NULL : &processes->threads[added];
}

struct process *processes_of(struct processes *processes, const struct thread *thread)
{
	return &processes->items[thread->process];
}

/* Returns the running thread that began at about that time, or NULL. */
static struct thread *find_begun(struct processes *processes, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint32_t found = thread_index(processes, tid);
	struct thread *thread = found == HASH_MAP_NONE ? NULL : &processes->threads[found];
	if (!thread || processes_of(processes, thread)->pid != pid)
		return NULL;
	const struct profile_thread *shown = &processes->profile->threads[thread->id];
	return shown->end_ns == 0 && shown->start_ns != 0 && is_one_start(time_ns, shown->start_ns) ? thread : NULL;
}

int processes_starts(struct processes *processes, uint32_t tid, const struct start *start)
{
	struct thread *thread = find_begun(processes, start->pid, tid, start->time_ns);
	if (!thread || thread->base_node != PROFILE_ROOT)
		return starts_put(&processes->starts, tid, start);
	set_base(thread, start);
	return 0;
}

/* --- events of processes --- */

/* In the exec of a set-user-ID program the kernel reports the end of the process when it ends the events
 * that were bound to it. A process that maps memory has not ended. */
void processes_revive(struct processes *processes, struct process *process)
{
	uint32_t found = thread_index(processes, process->pid);
	uint64_t *end_ns = &processes->profile->processes[process->id].end_ns;
	if (process->living > 0 || *end_ns == 0 || found == HASH_MAP_NONE)
		return;
	*end_ns = 0;
	process->living = 1;
	processes->profile->threads[processes->threads[found].id].end_ns = 0;
}

static void end_thread(struct processes *processes, struct thread *thread, uint64_t time_ns)
{
	starts_take(&processes->starts, thread->tid);
	processes->profile->threads[thread->id].end_ns = time_ns;
	deep_stack_free(thread->deep);
	thread->deep = NULL;
}

/* After an exec one thread remains, with the process's number, whichever thread called it. The kernel
 * reports neither the end of that thread's former number nor the end of the other threads. Returns NULL if
 * memory ran out. */
static struct thread *remain_alone(struct processes *processes, uint32_t pid, uint64_t time_ns)
{
	struct thread *thread = processes_thread(processes, pid, pid);
	if (thread && processes->profile->threads[thread->id].end_ns != 0) {
		/* The first thread had ended before. */
		int64_t added = add_thread(processes, thread->process, pid, time_ns);
		thread = added < 0 ? NULL : &processes->threads[added];
	}
	if (!thread)
		return NULL;
	struct process *process = processes_of(processes, thread);
	for (size_t i = 0; i < processes->thread_count && process->living > 1; i++) {
		struct thread *other = &processes->threads[i];
		bool lives = other->process == thread->process && processes->profile->threads[other->id].end_ns == 0;
		if (!lives || other == thread)
			continue;
		end_thread(processes, other, time_ns);
		set_base(other, &no_start);
		process->living--;
	}
	process->living = 1;
	processes->profile->processes[process->id].end_ns = 0;
	return thread;
}

int processes_name(struct processes *processes, uint32_t pid, uint32_t tid, const char *name, bool is_exec,
		   uint64_t time_ns)
{
	if (is_exec && processes->merges_kernel_threads && kernel_threads_exec(&processes->kernel_threads, pid) < 0)
		return ERROR_MEMORY;
	if (processes_is_merged(processes, pid))
		return kernel_thread(processes) ? 0 : ERROR_MEMORY;
	struct thread *thread = is_exec ? remain_alone(processes, pid, time_ns) : processes_thread(processes, pid, tid);
	int64_t text = thread ? profile_add_string(processes->profile, name) : ERROR_MEMORY;
	if (text < 0)
		return ERROR_MEMORY;
	struct process *process = processes_of(processes, thread);
	processes->profile->threads[thread->id].name = (uint32_t)text;
	if (pid == tid || is_exec)
		processes->profile->processes[process->id].name = (uint32_t)text;
	if (is_exec) {
		maps_clear(&process->code);
		maps_clear(&process->data);
		processes_renew_code(processes, process);
		process->between_programs = true;
		process->runs_lisp = false;
		process->stack_limit = 0;
		process->has_stack_start = false;
		process->vain_lookups = 0;
		processes->command_execs += pid == processes->command;
		process->is_interpreted = false;
		process->needs_all = false;
		process->has_copied_stack = false;
		set_base(thread, &no_start);
		if (processes->reads_owners_late) {
			if (process->owner == OWNER_UNREAD)
				processes->profile->processes[process->id].user = 0;
			else
				process->owner = OWNER_OF_PROGRAM_BEFORE;
			return 0;
		}
		return note_owner(processes, &processes->profile->processes[process->id], true);
	}
	return 0;
}

/* --- places of processes that have ended without a sample --- */

/* Notes such a process. Without memory, its place is not used again. */
static void offer_place(struct processes *processes, const struct thread *thread, uint64_t time_ns)
{
	const struct process *process = &processes->items[thread->process];
	if (!processes->reads_owners_late || process->is_kept || process->threads != 1 ||
	    ARRAY_RESERVE(processes->ended, processes->ended_capacity, processes->ended_count + 1) < 0)
		return;
	processes->ended[processes->ended_count++] =
		(struct ended){ thread->process, (uint32_t)(thread - processes->threads), time_ns };
}

/* Takes the place that was offered first, if that was a second ago: samples of a process may come after its end. Returns whether there is one. */
static bool take_place(struct processes *processes, uint32_t parent, uint64_t time_ns, struct ended *place)
{
	enum { MANY = 1024 };
	static const uint64_t rest_ns = 1000000000;
	while (processes->ended_first < processes->ended_count) {
		*place = processes->ended[processes->ended_first];
		if (time_ns < place->time_ns || time_ns - place->time_ns < rest_ns)
			return false;
		processes->ended_first++;
		if (processes->ended_first >= MANY) {
			processes->ended_count -= processes->ended_first;
			memmove(processes->ended, processes->ended + processes->ended_first,
				processes->ended_count * sizeof(*processes->ended));
			processes->ended_first = 0;
		}
		const struct process *process = &processes->items[place->process];
		if (!process->is_kept && process->living == 0 && process->threads == 1 && place->process != parent)
			return true;
	}
	return false;
}

/* Makes a process that has ended another one, which has no thread yet. Returns 0 or ERROR_MEMORY. */
static int give_place(struct processes *processes, const struct ended *place, uint32_t pid, uint32_t parent_pid,
		      uint64_t time_ns)
{
	struct process *process = &processes->items[place->process];
	if (hash_map_put(&processes->by_pid, pid, place->process) < 0)
		return ERROR_MEMORY;
	processes->profile->processes[process->id] =
		(struct profile_process){ .pid = pid, .parent_pid = parent_pid, .start_ns = time_ns };
	*process = (struct process){ .pid = pid, .id = process->id };
	return 0;
}

static int give_thread(struct processes *processes, const struct ended *place, uint32_t tid, uint64_t time_ns)
{
	struct thread *thread = &processes->threads[place->thread];
	const uint32_t id = processes->items[place->process].id;
	if (hash_map_put(&processes->by_tid, tid, place->thread) < 0)
		return ERROR_MEMORY;
	processes->profile->threads[thread->id] = (struct profile_thread){
		.tid = tid, .process = id, .start_ns = time_ns, .name = processes->profile->processes[id].name
	};
	*thread = (struct thread){ .tid = tid, .id = thread->id, .process = place->process };
	begin_thread(processes, thread, time_ns);
	return 0;
}

static int fork_process(struct processes *processes, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	int64_t parent = processes_find_or_add(processes, parent_pid);
	struct ended place;
	bool is_given = parent >= 0 && take_place(processes, (uint32_t)parent, time_ns, &place);
	int64_t child = parent < 0 ? parent
			: is_given ? place.process
				   : add_process(processes, pid, parent_pid, time_ns);
	if (is_given && give_place(processes, &place, pid, parent_pid, time_ns) < 0)
		return ERROR_MEMORY;
	if (child < 0)
		return (int)child;
	const struct process *from = &processes->items[parent];
	struct process *to = &processes->items[child];
	if (maps_copy(&to->code, &from->code) < 0 || maps_copy(&to->data, &from->data) < 0)
		return ERROR_MEMORY;
	to->runs_lisp = from->runs_lisp;
	to->is_interpreted = from->is_interpreted;
	to->is_code_passed = from->is_code_passed;
	to->has_copied_stack = from->has_copied_stack;
	to->needs_all = from->needs_all;
	to->code_version = from->code_version;
	to->stack_start = from->stack_start;
	to->has_stack_start = from->has_stack_start;
	struct profile_process *shown = processes->profile->processes;
	shown[to->id].name = shown[from->id].name;
	if (shown[to->id].cgroup == 0) /* it ended before it could be read */
		shown[to->id].cgroup = shown[from->id].cgroup;
	if (shown[to->id].user == 0 && !processes->is_past)
		shown[to->id].user = shown[from->id].user;
	if (is_given)
		return give_thread(processes, &place, tid, time_ns);
	int64_t thread = add_thread(processes, (uint32_t)child, tid, time_ns);
	return thread < 0 ? (int)thread : 0;
}

int processes_fork(struct processes *processes, uint32_t parent_pid, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	if (processes->merges_kernel_threads && parent_pid != pid &&
	    kernel_threads_fork(&processes->kernel_threads, parent_pid, pid) < 0)
		return ERROR_MEMORY;
	if (processes_is_merged(processes, pid))
		return kernel_thread(processes) ? 0 : ERROR_MEMORY;
	if (find_begun(processes, pid, tid, time_ns))
		return 0; /* reported twice */
	if (parent_pid != pid)
		return fork_process(processes, parent_pid, pid, tid, time_ns);
	int64_t process = processes_find_or_add(processes, pid);
	int64_t thread = process < 0 ? process : add_thread(processes, (uint32_t)process, tid, time_ns);
	return thread < 0 ? (int)thread : 0;
}

bool processes_exit(struct processes *processes, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint32_t found = processes_is_merged(processes, pid) ? HASH_MAP_NONE : thread_index(processes, tid);
	if (found == HASH_MAP_NONE)
		return false;
	struct thread *thread = &processes->threads[found];
	struct process *process = processes_of(processes, thread);
	if (process->pid != pid)
		return false;
	if (processes->profile->threads[thread->id].end_ns != 0)
		return false; /* reported twice */
	end_thread(processes, thread, time_ns);
	if (process->living > 0 && --process->living > 0)
		return false;
	processes->profile->processes[process->id].end_ns = time_ns;
	maps_release(&process->code);
	maps_release(&process->data);
	processes_renew_code(processes, process);
	offer_place(processes, thread, time_ns);
	return true;
}

size_t processes_running(const struct processes *processes)
{
	size_t running = 0;
	for (size_t i = 0; i < processes->count; i++)
		running += processes->profile->processes[processes->items[i].id].end_ns == 0;
	return running;
}
