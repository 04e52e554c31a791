#include "collect/sample/state/modules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "collect/sample/state/perf_map_file.h"
#include "frames/interpreters/interpreters.h"

struct modules {
	struct profile *profile;
	int64_t since_s; /* when the recording began, in seconds of CLOCK_REALTIME */
	bool makes_parts;
	uint32_t walked; /* modules_walked */
	uint32_t walked_at_settle;
	bool is_past;                       /* the processes are gone: only paths lead to files */
	bool is_other_kernel;               /* ... and another kernel ran them */
	struct perf_map_process *generated; /* the processes with generated code */
	size_t generated_count, generated_capacity;
	struct module *items;
	size_t count, capacity;
	size_t open_count;               /* descriptors that modules have */
	size_t dump_count;               /* of them, the descriptors of jitdumps */
	size_t hand;                     /* the module at which the next search for a file to close begins */
	struct hash_map by_key;          /* hash of path and build-id, or of path, device and inode -> index */
	struct hash_map by_inode;        /* hash of path, device and inode -> index */
	struct unwind_table *lisp_table; /* NULL: not made yet */
};

struct modules *modules_new(struct profile *profile)
{
	struct modules *modules = calloc(1, sizeof(*modules));
	if (!modules)
		return NULL;
	modules->profile = profile;
	modules->since_s = time(NULL);
	hash_map_init(&modules->by_key);
	hash_map_init(&modules->by_inode);
	return modules;
}

void modules_free(struct modules *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = &modules->items[i];
		unwind_table_free(module->table);
		unwind_parts_free(module->parts);
		elf_file_free(module->file);
		if (module->fd >= 0)
			close(module->fd);
	}
	unwind_table_free(modules->lisp_table);
	free(modules->items);
	free(modules->generated);
	hash_map_release(&modules->by_key);
	hash_map_release(&modules->by_inode);
	free(modules);
}

void modules_set_past(struct modules *modules, int64_t since_s, bool is_other_kernel)
{
	modules->is_past = true;
	modules->since_s = since_s;
	modules->is_other_kernel = is_other_kernel;
}

static const char anonymous[] = "[anon]";

/* Returns whether a path is a memfd's: generated code, or a program that was never on disk. */
static bool is_in_memory(const char *path)
{
	return strncmp(path, "/memfd:", 7) == 0;
}

static uint8_t kind_of_path(const char *path)
{
	if (strcmp(path, "[vdso]") == 0)
		return MODULE_VDSO;
	if (path[0] == '/' && !is_in_memory(path) && strncmp(path, "//anon", 6) != 0 &&
	    strncmp(path, "/dev/zero", 9) != 0 && strncmp(path, "/SYSV", 5) != 0 &&
	    strncmp(path, "/anon_hugepage", 14) != 0)
		return MODULE_FILE;
	return MODULE_ANON;
}

/* The vDSO is equal in all processes of a kernel, so ours is read. Its section
 * headers come last in it, which gives its size. */
static struct elf_file *open_vdso(void)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT(performance-no-int-to-ptr) */
	if (!vdso)
		return NULL;
	uint64_t section_offset;
	uint16_t section_bytes, section_count;
	enum { E_SHOFF = 40, E_SHENTSIZE = 58, E_SHNUM = 60 }; /* in Elf64_Ehdr */
	memcpy(&section_offset, vdso + E_SHOFF, sizeof(section_offset));
	memcpy(&section_bytes, vdso + E_SHENTSIZE, sizeof(section_bytes));
	memcpy(&section_count, vdso + E_SHNUM, sizeof(section_count));
	size_t size = (size_t)section_offset + (size_t)section_bytes * section_count;
	return elf_file_from_memory(vdso, size, "[vdso]", NULL);
}

/* --- descriptors --- */

static void drop_file(struct modules *modules, struct module *module)
{
	elf_file_free(module->file);
	module->file = NULL;
	module->loaded = false;
	close(module->fd);
	module->fd = -1;
	modules->open_count--;
}

/* Returns how many descriptors modules may have. */
static size_t most_open(void)
{
	enum { FEWEST = 8, PART = 4 }; /* elf_file has a descriptor of its own, so this is a half */
	struct rlimit limit;
	size_t most = getrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur / PART : FEWEST;
	return most > FEWEST ? most : FEWEST;
}

/* Closes a file that was not used since the last search (the clock algorithm), if there are as
 * many as there may be. A jitdump stays: it is reachable only while it is mapped. */
static void make_room(struct modules *modules)
{
	bool is_wanted = modules->open_count > 0 && modules->open_count >= most_open();
	for (size_t i = 0; is_wanted && i < 2 * modules->count; i++) {
		struct module *module = &modules->items[modules->hand++ % modules->count];
		bool is_held = module->fd < 0 || module->has_dump || module->was_used;
		module->was_used = false;
		if (is_held || fstat(module->fd, &module->closed) < 0)
			continue;
		drop_file(modules, module);
		is_wanted = false;
	}
}

/* Gives a module a descriptor; -1: none. */
static void hold(struct modules *modules, struct module *module, int fd)
{
	if (fd >= 0)
		make_room(modules);
	modules->open_count += (fd >= 0) - (size_t)(module->fd >= 0);
	if (module->fd >= 0)
		close(module->fd);
	module->fd = fd;
	module->was_used = true;
}

/* Returns whether a file that was opened again is the file that was closed. */
static bool is_the_closed(const struct module *module, int fd)
{
	struct stat now;
	const struct stat *closed = &module->closed;
	return closed->st_ino == 0 ||
	       (fstat(fd, &now) == 0 && now.st_dev == closed->st_dev && now.st_ino == closed->st_ino &&
		now.st_mtim.tv_sec == closed->st_mtim.tv_sec && now.st_mtim.tv_nsec == closed->st_mtim.tv_nsec);
}

/* Gives a module its opened file (fd -1: none, for the reason in `why`), and reads its build-id. */
static void adopt(struct modules *modules, struct module *module, int fd, struct elf_file *elf, const struct error *why)
{
	struct profile_module *shown = &modules->profile->modules[module->id];
	const uint8_t *id;
	size_t size = elf ? elf_file_build_id(elf, &id) : 0;
	if (shown->build_id_bytes == 0 && size > 0 && size <= sizeof(shown->build_id)) {
		memcpy(shown->build_id, id, size);
		shown->build_id_bytes = (uint8_t)size;
	}
	hold(modules, module, fd);
	module->loaded = true;
	module->file = elf;
	module->why_no_file = *why;
}

/* Returns a mapping without its process, if that is gone. */
static struct mapped_file reachable(const struct modules *modules, const struct mapped_file *mapped)
{
	struct mapped_file file = *mapped;
	if (modules->is_past) {
		file.pid = 0;
		file.start = file.end = 0;
	}
	return file;
}

static void load(struct modules *modules, struct module *module, const struct mapped_file *at)
{
	const struct profile_module *shown = &modules->profile->modules[module->id];
	struct mapped_file mapped = at ? reachable(modules, at) : (struct mapped_file){ 0 };
	struct elf_file *elf = NULL;
	struct error why = { 0 };
	int fd = -1;
	mapped.path = profile_string(modules->profile, shown->path);
	mapped.build_id = shown->build_id_bytes ? shown->build_id : NULL;
	mapped.build_id_bytes = shown->build_id_bytes;
	if (module->kind == MODULE_VDSO && !modules->is_other_kernel)
		elf = open_vdso();
	else if (module->kind == MODULE_FILE)
		fd = mapped_file_open(&mapped, &elf, &why);
	if (fd >= 0 && !is_the_closed(module, fd)) {
		elf_file_free(elf);
		elf = NULL;
		close(fd);
		fd = error_set(&why, ERROR_NOT_FOUND, "'%s' was replaced while others were read", mapped.path);
	}
	adopt(modules, module, fd < 0 ? -1 : fd, elf, &why);
}

/* All files beyond MODULES_MAX. */
static const char further[] = "[further files]";

static uint64_t key_of_path(const char *path, uint8_t kind)
{
	return hash_bytes(path, strlen(path)) ^ kind;
}

/* Returns the index of the module with a key, added with the path and build-id shown if it is new. */
static int64_t add(struct modules *modules, uint64_t key, const char *path, uint8_t kind, const uint8_t *build_id,
		   size_t build_id_bytes)
{
	uint32_t found = hash_map_get(&modules->by_key, key);
	if (found != HASH_MAP_NONE)
		return found;
	if (kind == MODULE_FILE && modules->count >= MODULES_MAX)
		return add(modules, key_of_path(further, MODULE_KERNEL), further, MODULE_KERNEL, NULL, 0);
	if (ARRAY_RESERVE(modules->items, modules->capacity, modules->count + 1) < 0 ||
	    hash_map_reserve(&modules->by_key, modules->count + 1) < 0)
		return ERROR_MEMORY;
	int64_t name = profile_add_string(modules->profile, path);
	if (name < 0)
		return name;
	struct profile_module shown = { .path = (uint32_t)name, .kind = kind };
	if (build_id && build_id_bytes <= sizeof(shown.build_id)) {
		memcpy(shown.build_id, build_id, build_id_bytes);
		shown.build_id_bytes = (uint8_t)build_id_bytes;
	}
	int64_t id = profile_add_module(modules->profile, &shown);
	if (id < 0)
		return id;
	hash_map_put(&modules->by_key, key, (uint32_t)modules->count);
	modules->items[modules->count] =
		(struct module){ .id = (uint32_t)id,
				 .kind = kind,
				 .fd = -1,
				 .is_interpreter = kind == MODULE_FILE && interpreters_are_named(path) };
	return (int64_t)modules->count++;
}

/* One module represents all executable memory of a process that has no file, another one a core
 * of SBCL that it maps. Their addresses are run-time addresses of the process, because a perf map has these. */
static int64_t add_generated(struct modules *modules, uint32_t pid, const char *path)
{
	size_t before = modules->count;
	if (ARRAY_RESERVE(modules->generated, modules->generated_capacity, modules->generated_count + 1) < 0)
		return ERROR_MEMORY;
	int64_t index = add(modules, key_of_path(path, MODULE_ANON) ^ hash_u64(pid), path, MODULE_ANON, NULL, 0);
	if (index >= 0 && modules->count > before) {
		modules->items[index].generated = (uint32_t)modules->generated_count;
		modules->generated[modules->generated_count++] =
			perf_map_process(pid, modules->since_s, modules->is_past);
	}
	return index;
}

/* Returns whether a path leads to a jitdump, "jit-PID.dump", which the process maps to show where it is. */
static bool is_jitdump(const char *path)
{
	enum { DIGITS_MOST = 10 };
	const char *name = strrchr(path, '/');
	if (!name || strncmp(name, "/jit-", strlen("/jit-")) != 0)
		return false;
	size_t digits = strspn(name + strlen("/jit-"), "0123456789");
	const char *rest = name + strlen("/jit-") + digits;
	return digits > 0 && digits <= DIGITS_MOST && strncmp(rest, ".dump", strlen(".dump")) == 0;
}

/* Opens the jitdump of a process for its generated code, in place of a perf map. The first jitdump
 * counts, and so do the first jitdumps of all processes: they take half of the descriptors for files
 * at most. */
static int take_jitdump(struct modules *modules, const struct mapped_file *mapped)
{
	int64_t index = add_generated(modules, (uint32_t)mapped->pid, anonymous);
	struct module *module = index < 0 ? NULL : &modules->items[index];
	if (!module || module->has_dump || modules->dump_count >= most_open() / 2)
		return index < 0 ? (int)index : 0;
	const struct mapped_file file = reachable(modules, mapped);
	int fd = mapped_file_open_any(&file);
	if (fd < 0)
		return 0;
	hold(modules, module, fd);
	module->has_dump = module->loaded = true;
	modules->dump_count++;
	return 0;
}

/* Looks for the perf map of generated code. */
static void seek_map(struct modules *modules, struct module *module, bool is_last)
{
	hold(modules, module, perf_map_open(&modules->generated[module->generated], is_last));
}

/* A file with a build-id. The same build at two paths is two modules. */
static int64_t add_build(struct modules *modules, const char *path, const uint8_t *build_id, size_t build_id_bytes)
{
	char plain[MAPPED_FILE_PATH_BYTES];
	mapped_file_plain_path(path, plain);
	uint64_t key = key_of_path(plain, MODULE_FILE) ^ hash_bytes(build_id, build_id_bytes);
	return add(modules, key, plain, MODULE_FILE, build_id, build_id_bytes);
}

/* A file without build-id keeps the mark of an unlinked one in its path, so that later readers do not use another
 * file for it. */
static int64_t add_opened(struct modules *modules, const struct mapped_file *mapped, uint64_t file_key,
			  struct elf_file *elf)
{
	const uint8_t *id;
	size_t id_bytes = elf ? elf_file_build_id(elf, &id) : 0;
	if (id_bytes > 0 && id_bytes <= PROFILE_BUILD_ID_MAX)
		return add_build(modules, mapped->path, id, id_bytes);
	if (!elf && is_in_memory(mapped->path))
		return add_generated(modules, (uint32_t)mapped->pid, anonymous);
	return add(modules, file_key, mapped->path, MODULE_FILE, NULL, 0);
}

static int64_t add_lisp_core(struct modules *modules, uint32_t pid, const char *path)
{
	int64_t index = add_generated(modules, pid, path);
	if (index >= 0)
		modules->items[index].is_lisp_core = true;
	return index;
}

static bool is_one_file(int fd, int other)
{
	struct stat a, b;
	return fstat(fd, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Adds a file of which the kernel reported device and inode, and opens it: a file with a build-id is the same module
 * as where the kernel reports that. Remembers the inode only while we hold the file open, because the number is used
 * again for other files; a file that could not be read has no names in any case. */
static int64_t add_inode(struct modules *modules, const struct mapped_file *mapped)
{
	char plain[MAPPED_FILE_PATH_BYTES];
	mapped_file_plain_path(mapped->path, plain);
	uint64_t file_key = key_of_path(plain, MODULE_FILE) ^ hash_u64(hash_u64(mapped->inode) ^ mapped->device);
	uint32_t known = hash_map_get(&modules->by_inode, file_key);
	if (known != HASH_MAP_NONE && modules->items[known].fd >= 0)
		return known;
	if (hash_map_reserve(&modules->by_inode, modules->by_inode.count + 1) < 0)
		return ERROR_MEMORY;
	struct elf_file *elf;
	struct error why = { 0 };
	const struct mapped_file file = reachable(modules, mapped);
	int fd = mapped_file_open(&file, &elf, &why);
	if (fd >= 0 && !elf) {
		close(fd);
		return add_lisp_core(modules, (uint32_t)mapped->pid, plain);
	}
	int64_t index = add_opened(modules, mapped, file_key, elf);
	struct module *module = index < 0 ? NULL : &modules->items[index];
	bool is_new = module && !module->loaded;
	if (module && (is_new || fd < 0 || is_one_file(fd, module->fd)))
		hash_map_put(&modules->by_inode, file_key, (uint32_t)index);
	if (is_new) {
		adopt(modules, module, fd, elf, &why);
		return index;
	}
	elf_file_free(elf);
	if (fd >= 0)
		close(fd);
	return index;
}

/* Returns whether a mapping of a program is in its core of SBCL. The core is mapped below 1 TB, where programs and libraries are not, unless
 * they are not position-independent. */
static bool is_in_own_core(struct modules *modules, uint32_t index, const struct mapped_file *mapped)
{
	static const uint64_t cores_end = UINT64_C(1) << 40;
	if (mapped->file_offset == 0 || mapped->start >= cores_end || modules->items[index].kind != MODULE_FILE)
		return false;
	const struct module *module = modules_get(modules, index, mapped, true);
	uint64_t core = module->file && module->fd >= 0 ? mapped_file_lisp_core(module->fd) : 0;
	return core != 0 && mapped->file_offset >= core;
}

static int64_t add_mapped(struct modules *modules, const struct mapped_file *mapped)
{
	uint8_t kind = kind_of_path(mapped->path);
	bool is_file = kind == MODULE_FILE || is_in_memory(mapped->path);
	if (is_jitdump(mapped->path) && take_jitdump(modules, mapped) < 0)
		return ERROR_MEMORY;
	if (is_file && mapped->build_id)
		return add_build(modules, mapped->path, mapped->build_id, mapped->build_id_bytes);
	if (is_file && mapped->inode)
		return add_inode(modules, mapped);
	if (kind == MODULE_ANON)
		return add_generated(modules, (uint32_t)mapped->pid, anonymous);
	return modules_add_name(modules, mapped->path, kind);
}

int64_t modules_add(struct modules *modules, const struct mapped_file *mapped)
{
	int64_t index = add_mapped(modules, mapped);
	if (index < 0 || !is_in_own_core(modules, (uint32_t)index, mapped))
		return index;
	char plain[MAPPED_FILE_PATH_BYTES];
	mapped_file_plain_path(mapped->path, plain);
	return add_lisp_core(modules, (uint32_t)mapped->pid, plain);
}

int64_t modules_add_name(struct modules *modules, const char *name, enum module_kind kind)
{
	return add(modules, key_of_path(name, (uint8_t)kind), name, (uint8_t)kind, NULL, 0);
}

struct module *modules_get(struct modules *modules, uint32_t index, const struct mapped_file *mapped, bool needs_file)
{
	struct module *module = &modules->items[index];
	module->was_used = true;
	if (!module->loaded && (needs_file || !module->table_tried || module->parts))
		load(modules, module, mapped);
	if (module->kind == MODULE_ANON && module->fd < 0)
		seek_map(modules, module, false);
	if (module->file && !module->table_tried) {
		module->parts = modules->makes_parts ? unwind_parts_new(module->file, module->id) : NULL;
		module->table = module->parts ? NULL : unwind_table_new(module->file, NULL);
		module->table_tried = true;
		const struct interpreter_row *row =
			interpreters_find(module->file, &module->interpreter, &module->interpreter_version);
		module->language = row ? row->language : NULL;
		module->is_interpreter |= row != NULL;
		elf_file_release_parts(module->file);
	}
	return module;
}

bool modules_is_lisp_core(const struct modules *modules, uint32_t index)
{
	return modules->items[index].is_lisp_core;
}

void modules_make_parts(struct modules *modules)
{
	modules->makes_parts = true;
}

void modules_walk(struct modules *modules, struct module *module)
{
	modules->walked += !module->is_walked;
	module->is_walked = true;
}

uint32_t modules_walked(const struct modules *modules)
{
	return modules->walked;
}

bool modules_is_needed(const struct modules *modules, uint32_t index)
{
	return !modules->makes_parts || modules->items[index].is_walked || modules->items[index].is_interpreter;
}

const struct unwind_table *modules_whole_table(struct module *module)
{
	if (module->table || !module->parts || !module->file)
		return module->table;
	module->table = unwind_table_new(module->file, NULL);
	elf_file_release_parts(module->file);
	return module->table;
}

const struct unwind_table *modules_table_for(struct modules *modules, struct module *module, uint64_t address)
{
	if (module->table || !module->parts)
		return module->table;
	size_t bytes = unwind_parts_bytes(module->parts);
	const struct unwind_table *part = unwind_parts_make(module->parts, module->file, address);
	modules->walked += unwind_parts_bytes(module->parts) != bytes;
	return part ? part : modules_whole_table(module);
}

const struct unwind_table *modules_table_at(const struct module *module, uint64_t address)
{
	if (!module || module->table || !module->parts)
		return module ? module->table : NULL;
	return unwind_parts_at(module->parts, address);
}

void modules_settle(struct modules *modules)
{
	enum { PARTS_BYTES_MOST = 6 << 20 };
	size_t bytes = 0;
	if (modules->walked == modules->walked_at_settle)
		return;
	modules->walked_at_settle = modules->walked;
	for (size_t i = 0; i < modules->count && modules->makes_parts; i++)
		bytes += modules->items[i].parts ? unwind_parts_bytes(modules->items[i].parts) : 0;
	for (size_t i = 0; i < modules->count && bytes > PARTS_BYTES_MOST; i++)
		if (modules->items[i].parts)
			unwind_parts_clear(modules->items[i].parts);
}

void modules_end_walks(struct modules *modules)
{
	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = &modules->items[i];
		unwind_table_free(module->table);
		unwind_parts_free(module->parts);
		elf_file_free(module->file);
		module->table = NULL;
		module->parts = NULL;
		module->file = NULL;
	}
}

bool modules_is_interpreter(const struct modules *modules, uint32_t index)
{
	return modules->items[index].is_interpreter;
}

const struct unwind_table *modules_lisp_table(struct modules *modules)
{
	if (!modules->lisp_table)
		modules->lisp_table = unwind_table_of_lisp();
	return modules->lisp_table;
}

/* All modules of the profile are added here, so an id is normally the index; otherwise it is searched for. */
const struct module *modules_by_id(const struct modules *modules, uint32_t id)
{
	if (id < modules->count && modules->items[id].id == id)
		return &modules->items[id];
	for (size_t i = 0; i < modules->count; i++)
		if (modules->items[i].id == id)
			return &modules->items[i];
	return NULL;
}

int modules_open_for_names(void *context, uint32_t profile_module, struct error *error)
{
	struct modules *modules = context;
	const struct module *found = modules_by_id(modules, profile_module);
	struct module *module = found ? &modules->items[found - modules->items] : NULL;
	if (module && module->kind == MODULE_ANON && module->fd < 0)
		seek_map(modules, module, true);
	else if (module && module->kind == MODULE_FILE && module->closed.st_ino && module->fd < 0)
		load(modules, module, NULL);
	if (module && module->why_no_file.code) {
		if (error)
			*error = module->why_no_file;
		return module->why_no_file.code;
	}
	if (!module || module->fd < 0)
		return error_set(error, ERROR_NOT_FOUND, "the recording did not open this file");
	int fd = fcntl(module->fd, F_DUPFD_CLOEXEC, 0);
	return fd >= 0 ? fd : error_set_errno(error, "cannot duplicate a descriptor");
}
