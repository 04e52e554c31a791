/* The memory of processes: their mappings, the modules of their code, and the lists of code for backends. */
#include <string.h>
#include <sys/resource.h>

#include "base/array.h"
#include "collect/sample/state/proc.h"
#include "collect/sample/state/processes_parts.h"

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

/* Returns whether generated code is CPython's trampolines, which stay as they are. */
static bool has_trampolines(const struct processes *processes, const struct process *process, struct mapping *mapping)
{
	if (mapping->knows_trampolines)
		return mapping->has_trampolines;
	const char *name = profile_string(processes->profile, mapping->name);
	mapping->knows_trampolines = true;
	mapping->has_trampolines =
		!processes->is_past && process->is_interpreted && arch_trampoline.size > 0 &&
		strcmp(name, anonymous_name) == 0 &&
		process_has_bytes((pid_t)process->pid, mapping->start, arch_trampoline.code, arch_trampoline.size);
	return mapping->has_trampolines;
}

/* Returns the module of a mapping of code with its table for a run-time address, and the position of the module. */
static struct unwind_module module_of(struct processes *processes, const struct process *process,
				      struct mapping *mapping, uint64_t pc)
{
	struct module *module = open_module(processes, process, mapping);
	bool has_lisp = is_lisp(process, module), is_plain = has_trampolines(processes, process, mapping);
	modules_walk(processes->modules, module);
	return (struct unwind_module){ .table = has_lisp   ? modules_lisp_table(processes->modules)
						: is_plain ? &unwind_table_trampolines
							   : modules_table_for(processes->modules, module,
									       pc - mapping->bias),
				       .bias = mapping->bias,
				       .id = module->id,
				       .is_generated = module->kind == MODULE_ANON && !has_lisp && !is_plain };
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
		processes_renew_code(processes, process);
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
	if (processes_is_merged(processes, map->pid))
		return 0; /* it prepares to execute a program */
	int64_t index = processes_find_or_add(processes, map->pid);
	if (index < 0)
		return (int)index;
	struct process *process = &processes->items[index];
	processes_revive(processes, process);
	struct mapping mapping = { .start = map->start,
				   .file_offset = map->file_offset,
				   .order = ++processes->maps_reported };
	mapping.end = end_of(map);
	if (mapping.end == mapping.start)
		return 0;
	if (map->is_gone) {
		processes_renew_code(processes, process);
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
	processes_renew_code(processes, process);
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
	code.table = is_lisp(process, module)                       ? modules_lisp_table(processes->modules)
		     : has_trampolines(processes, process, mapping) ? &unwind_table_trampolines
		     : is_generated                                 ? &unwind_table_generated
		     : process->needs_all                           ? modules_whole_table(module)
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
