#include "collect/sample/state/processes.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "collect/sample/stacks/deep_stack.h"
#include "collect/sample/state/kernel_threads.h"
#include "collect/sample/state/moved_text.h"
#include "collect/sample/state/proc.h"

struct processes {
	struct profile *profile;
	struct modules *modules;
	struct process *items;
	size_t count, capacity;
	struct thread *threads;
	size_t thread_count, thread_capacity;
	struct hash_map
		by_pid; /* pid -> index; the newest where a pid was used again; of another one, if it has given its place */
	struct hash_map by_tid;
	/* Processes without a sample that have ended, with their threads, in the order of their ends. */
	struct ended {
		uint32_t process, thread;
		uint64_t time_ns;
	} * ended;
	size_t ended_first, ended_count, ended_capacity;
	struct starts starts;   /* for threads without an event so far */
	uint32_t code_versions; /* given out so far */
	uint64_t maps_reported;
	bool merges_kernel_threads;
	bool reads_owners_late;
	bool is_past;                   /* they are gone; /proc may have others with their numbers */
	uint32_t command, command_user; /* of processes_set_command; pid 0: none */
	unsigned command_execs;         /* of it so far */
	struct kernel_threads kernel_threads;
	struct moved_texts moved;
	size_t moved_next; /* of processes_find_moved_text */
};

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

/* Returns whether the process is shown as one of the kernel threads. */
static bool is_merged(struct processes *processes, uint32_t pid)
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

/* Returns the index of a process, added if it is new, or ERROR_MEMORY. */
static int64_t find_process(struct processes *processes, uint32_t pid)
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
	int64_t process = name < 0 ? name : find_process(processes, KERNEL_THREADS);
	if (process < 0)
		return NULL;
	processes->profile->processes[processes->items[process].id].name = (uint32_t)name;
	int64_t added = add_thread(processes, (uint32_t)process, KERNEL_THREADS, 0);
	return added < 0 ? NULL : &processes->threads[added];
}

struct thread *processes_thread(struct processes *processes, uint32_t pid, uint32_t tid)
{
	if (is_merged(processes, pid))
		return kernel_thread(processes);
	uint32_t found = thread_index(processes, tid);
	if (found != HASH_MAP_NONE && processes->items[processes->threads[found].process].pid == pid)
		return &processes->threads[found];
	int64_t process = find_process(processes, pid);
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

/* --- maps --- */

static const char anonymous_name[] = "[anon]";

/* Returns the string with the name of memory that the kernel reports as mapped
 * from `path`. */
static int64_t name_of_path(struct processes *processes, const char *path)
{
	static const char *const anonymous[] = { "//anon", "[anon", "[stack:", "/dev/zero", "/anon_hugepage" };
	bool is_anonymous = path[0] == 0;
	for (size_t i = 0; i < sizeof(anonymous) / sizeof(anonymous[0]); i++)
		is_anonymous |= strncmp(path, anonymous[i], strlen(anonymous[i])) == 0;
	return profile_add_string(processes->profile, is_anonymous ? anonymous_name : path);
}

/* Marks the code of a process as changed. */
static void renew_code(struct processes *processes, struct process *process)
{
	process->code_version = ++processes->code_versions;
}

/* In the exec of a set-user-ID program the kernel reports the end of the process when it ends the events
 * that were bound to it. A process that maps memory has not ended. */
static void revive(struct processes *processes, struct process *process)
{
	uint32_t found = thread_index(processes, process->pid);
	uint64_t *end_ns = &processes->profile->processes[process->id].end_ns;
	if (process->living > 0 || *end_ns == 0 || found == HASH_MAP_NONE)
		return;
	*end_ns = 0;
	process->living = 1;
	processes->profile->threads[processes->threads[found].id].end_ns = 0;
}

static void find_bias(struct mapping *mapping, const struct module *module)
{
	uint64_t address = mapping->file_offset;
	/* Without its file, an address is given as an offset in the file. */
	if (module->file)
		elf_file_address_of_offset(module->file, mapping->file_offset, &address);
	/* A perf map has the addresses of generated code in the process. */
	mapping->bias = module->kind == MODULE_ANON ? 0 : mapping->start - address;
	mapping->has_bias = true;
}

/* Returns the module of a mapping of code, whose bias is then known. */
static struct module *open_module(struct processes *processes, const struct process *process, struct mapping *mapping)
{
	const struct mapped_file at = { .pid = (pid_t)process->pid, .start = mapping->start, .end = mapping->end };
	struct module *module = modules_get(processes->modules, mapping->module, &at, !mapping->has_bias);
	if (!mapping->has_bias)
		find_bias(mapping, module);
	return module;
}

static bool is_lisp(const struct process *process, const struct module *module)
{
	return process->runs_lisp && module->kind == MODULE_ANON;
}

/* Returns the module of a mapping of code with its table for a run-time address, and the position of the module. */
static struct unwind_module module_of(struct processes *processes, const struct process *process,
				      struct mapping *mapping, uint64_t pc)
{
	struct module *module = open_module(processes, process, mapping);
	bool has_lisp = is_lisp(process, module);
	modules_walk(processes->modules, module);
	return (struct unwind_module){ .table = has_lisp ? modules_lisp_table(processes->modules)
							 : modules_table_for(processes->modules, module,
									     pc - mapping->bias),
				       .bias = mapping->bias,
				       .id = module->id,
				       .is_generated = module->kind == MODULE_ANON && !has_lisp };
}

static uint64_t end_of(const struct backend_map *map)
{
	return map->size > UINT64_MAX - map->start ? UINT64_MAX : map->start + map->size;
}

static int64_t add_module(struct processes *processes, const struct backend_map *map)
{
	const struct mapped_file file = { .pid = (pid_t)map->pid,
					  .start = map->start,
					  .end = end_of(map),
					  .file_offset = map->file_offset,
					  .path = map->path,
					  .device = map->device,
					  .inode = map->inode,
					  .build_id = map->build_id,
					  .build_id_bytes = map->build_id_bytes };
	return modules_add(processes->modules, &file);
}

/* Finds the file whose text may be in executable memory without a file, before that replaces other mappings. Returns whether there is one, or a
 * negative error. */
static int find_origin(struct processes *processes, struct process *process, const struct backend_map *map,
		       const struct mapping *mapping, struct moved_text *text)
{
	if (processes->is_past || strcmp(profile_string(processes->profile, mapping->name), anonymous_name) != 0)
		return 0;
	struct mapping origin = { 0 };
	size_t replaced = maps_first_above(&process->code, mapping->start);
	int64_t before = map->before ? add_module(processes, map->before) : 0;
	if (before < 0)
		return (int)before;
	if (replaced < process->code.count && process->code.items[replaced].start < mapping->end)
		origin = process->code.items[replaced];
	else if (map->before)
		origin = (struct mapping){ .start = map->before->start,
					   .end = end_of(map->before),
					   .file_offset = map->before->file_offset,
					   .module = (uint32_t)before };
	else
		return 0;
	const struct mapped_file at = { .pid = (pid_t)process->pid, .start = origin.start, .end = origin.end };
	const struct module *module = modules_get(processes->modules, origin.module, &at, true);
	if (module->kind != MODULE_FILE || !module->file)
		return 0;
	if (!origin.has_bias)
		find_bias(&origin, module);
	uint64_t low, high;
	elf_file_text_range(module->file, &low, &high);
	*text = (struct moved_text){ .pid = process->pid,
				     .module = origin.module,
				     .start = mapping->start,
				     .end = mapping->end,
				     .order = mapping->order,
				     .bias = origin.bias };
	return mapping->start - origin.bias < high && mapping->end - origin.bias > low;
}

/* Makes memory code of the file if it has its bytes. Returns whether it has. */
static bool add_moved(struct processes *processes, struct moved_text *text)
{
	struct process *process = processes_find(processes, text->pid);
	struct mapping *mapping = process ? maps_at(&process->code, text->start) : NULL;
	const struct module *module = modules_get(processes->modules, text->module, NULL, true);
	text->tries++;
	if (!mapping || mapping->order != text->order || !module->file)
		text->tries = MOVED_TEXT_TRIES;
	else if (moved_text_is_equal(text, module->file)) {
		mapping->module = text->module;
		mapping->bias = text->bias;
		mapping->has_bias = true;
		text->tries = MOVED_TEXT_TRIES;
		renew_code(processes, process);
		return true;
	}
	return false;
}

bool processes_find_moved_text(struct processes *processes, uint32_t *pid)
{
	while (processes->moved_next < processes->moved.count) {
		struct moved_text *text = &processes->moved.items[processes->moved_next++];
		*pid = text->pid;
		if (add_moved(processes, text))
			return true;
	}
	processes->moved_next = 0;
	moved_texts_remove_tried(&processes->moved);
	return false;
}

int processes_map(struct processes *processes, const struct backend_map *map)
{
	if (is_merged(processes, map->pid))
		return 0; /* it prepares to execute a program */
	int64_t index = find_process(processes, map->pid);
	if (index < 0)
		return (int)index;
	struct process *process = &processes->items[index];
	revive(processes, process);
	struct mapping mapping = { .start = map->start,
				   .file_offset = map->file_offset,
				   .order = ++processes->maps_reported };
	mapping.end = end_of(map);
	if (mapping.end == mapping.start)
		return 0;
	if (map->is_gone) {
		renew_code(processes, process);
		return maps_remove(&process->code, mapping.start, mapping.end);
	}
	int64_t name = name_of_path(processes, map->path);
	if (name < 0)
		return (int)name;
	mapping.name = (uint32_t)name;
	if (map->is_data)
		return maps_insert(&process->data, &mapping);
	int64_t module = add_module(processes, map);
	if (module < 0)
		return (int)module;
	mapping.module = (uint32_t)module;
	struct moved_text text;
	int moved = find_origin(processes, process, map, &mapping, &text);
	process->runs_lisp |= modules_is_lisp_core(processes->modules, mapping.module);
	process->is_interpreted |= modules_is_interpreter(processes->modules, mapping.module);
	process->between_programs = false;
	renew_code(processes, process);
	int status = moved < 0 ? moved : maps_insert(&process->code, &mapping);
	if (status < 0 || moved == 0 || add_moved(processes, &text))
		return status;
	return moved_texts_add(&processes->moved, &text);
}

int processes_module_at(struct processes *processes, struct process *process, uint64_t pc, struct unwind_module *found)
{
	struct mapping *mapping = maps_at(&process->code, pc);
	if (!mapping)
		return -1;
	*found = module_of(processes, process, mapping, pc);
	return 0;
}

/* --- lists of code --- */

struct code_list {
	struct backend_code **items;
	size_t *capacity;
	size_t count;
};

static int list(struct code_list *list, const struct backend_code *code)
{
	if (ARRAY_RESERVE(*list->items, *list->capacity, list->count + 1) < 0)
		return ERROR_MEMORY;
	(*list->items)[list->count++] = *code;
	return 0;
}

/* Lists a range of code without a table. */
static int list_rest(struct code_list *codes, struct backend_code code, uint64_t start, uint64_t end)
{
	code.start = start;
	code.end = end;
	return start < end ? list(codes, &code) : 0;
}

/* Lists code whose table is in parts. */
static int list_parts(struct code_list *codes, const struct backend_code *code, const struct unwind_parts *parts)
{
	uint64_t at = code->start, low, high;
	size_t part = 0;
	int status = 0;
	struct backend_code item = *code;
	while (status == 0 && (item.table = unwind_parts_next(parts, &part, &low, &high))) {
		item.start = low + code->bias > at ? low + code->bias : at;
		item.end = high + code->bias < code->end ? high + code->bias : code->end;
		if (item.start >= item.end)
			continue;
		status = list_rest(codes, *code, at, item.start);
		if (status == 0)
			status = list(codes, &item);
		at = item.end;
	}
	return status < 0 ? status : list_rest(codes, *code, at, code->end);
}

static int list_mapping(struct processes *processes, const struct process *process, struct mapping *mapping,
			struct code_list *codes)
{
	struct backend_code code = { .start = mapping->start, .end = mapping->end };
	if (!process->needs_all && !modules_is_needed(processes->modules, mapping->module))
		return list(codes, &code);
	struct module *module = open_module(processes, process, mapping);
	bool is_generated = module->kind == MODULE_ANON;
	code.bias = mapping->bias;
	code.module = module->id;
	code.interpreter = module->interpreter.kind != INTERPRETER_NONE ? &module->interpreter : NULL;
	code.table = is_lisp(process, module) ? modules_lisp_table(processes->modules)
		     : is_generated           ? &unwind_table_generated
		     : process->needs_all     ? modules_whole_table(module)
					      : module->table;
	return code.table || !module->parts ? list(codes, &code) : list_parts(codes, &code, module->parts);
}

int64_t processes_list_code(struct processes *processes, struct process *process, struct backend_code **items,
			    size_t *capacity)
{
	struct code_list codes = { .items = items, .capacity = capacity };
	int status = 0;
	for (size_t i = 0; i < process->code.count && status == 0; i++)
		status = list_mapping(processes, process, &process->code.items[i], &codes);
	return status < 0 ? status : (int64_t)codes.count;
}

bool processes_code(struct processes *processes, struct process *process, uint64_t address, void *to, size_t size)
{
	struct unwind_module found;
	if (processes_module_at(processes, process, address, &found) < 0)
		return false;
	const struct module *module = modules_by_id(processes->modules, found.id);
	return module && module->file && elf_file_copy(module->file, address - found.bias, to, size);
}

/* Returns whether an address belongs to the main thread's stack, which grows
 * downwards without events: it is below the reported part, with nothing in
 * between. */
static bool is_grown_stack(struct processes *processes, struct process *process, uint64_t address)
{
	static const uint64_t default_limit = 8 * 1024 * 1024;
	static const uint64_t highest_limit = UINT64_C(1024) * 1024 * 1024; /* for processes without a limit */
	size_t data = maps_first_above(&process->data, address);
	size_t code = maps_first_above(&process->code, address);
	if (data == process->data.count)
		return false;
	const struct mapping *above = &process->data.items[data];
	if (strcmp(profile_string(processes->profile, above->name), "[stack]") != 0 ||
	    (code < process->code.count && process->code.items[code].start < above->start))
		return false;
	struct rlimit limit;
	if (process->stack_limit == 0) {
		process->stack_limit = default_limit;
		if (!processes->is_past && prlimit((pid_t)process->pid, RLIMIT_STACK, NULL, &limit) == 0 &&
		    limit.rlim_cur > default_limit)
			process->stack_limit = limit.rlim_cur < highest_limit ? limit.rlim_cur : highest_limit;
	}
	return above->end - address <= process->stack_limit;
}

/* Reads the mapping from /proc: the kernel does not report mremap, by which big arrays grow. If memory
 * runs out, the address stays unknown. */
static uint32_t read_mapping(struct processes *processes, struct process *process, uint64_t address)
{
	enum { VAIN_MAX = 100 }; /* each takes a while, so their number is limited */
	struct mapping mapping = { .order = processes->maps_reported };
	char path[4096];
	if (processes->is_past || process->vain_lookups == VAIN_MAX)
		return 0;
	int64_t name = -1;
	if (proc_maps_find((pid_t)process->pid, address, &mapping.start, &mapping.end, path, sizeof(path)))
		name = name_of_path(processes, path);
	mapping.name = (uint32_t)name;
	if (name >= 0 && maps_insert(&process->data, &mapping) == 0)
		return mapping.name;
	process->vain_lookups++;
	return 0;
}

uint32_t processes_name_of_memory(struct processes *processes, struct process *process, uint64_t address)
{
	const struct mapping *data = maps_at(&process->data, address);
	const struct mapping *code = maps_at(&process->code, address);
	/* The kernel does not report unmapping: the newer mapping counts. */
	if (data && (!code || code->order < data->order))
		return data->name;
	if (code)
		return code->name;
	if (is_grown_stack(processes, process, address))
		return process->data.items[maps_first_above(&process->data, address)].name;
	return read_mapping(processes, process, address);
}

uint64_t processes_stack_start(const struct processes *processes, struct process *process)
{
	if (!processes->is_past && !process->has_stack_start) {
		uint64_t start;
		process->stack_start = proc_stat_read(process->pid, PROC_STAT_STACK, &start) ? start : 0;
		process->has_stack_start = true;
	}
	return process->stack_start;
}

/* --- events of processes --- */

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
	if (is_merged(processes, pid))
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
		renew_code(processes, process);
		process->between_programs = true;
		process->runs_lisp = false;
		process->stack_limit = 0;
		process->has_stack_start = false;
		process->vain_lookups = 0;
		processes->command_execs += pid == processes->command;
		process->is_interpreted = false;
		process->needs_all = false;
		process->copied_stacks = 0;
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
	int64_t parent = find_process(processes, parent_pid);
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
	to->copied_stacks = from->copied_stacks;
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
	if (is_merged(processes, pid))
		return kernel_thread(processes) ? 0 : ERROR_MEMORY;
	if (find_begun(processes, pid, tid, time_ns))
		return 0; /* reported twice */
	if (parent_pid != pid)
		return fork_process(processes, parent_pid, pid, tid, time_ns);
	int64_t process = find_process(processes, pid);
	int64_t thread = process < 0 ? process : add_thread(processes, (uint32_t)process, tid, time_ns);
	return thread < 0 ? (int)thread : 0;
}

bool processes_exit(struct processes *processes, uint32_t pid, uint32_t tid, uint64_t time_ns)
{
	uint32_t found = is_merged(processes, pid) ? HASH_MAP_NONE : thread_index(processes, tid);
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
	renew_code(processes, process);
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
