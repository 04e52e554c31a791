#include "collect/sample/state/modules.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/array.h"
#include "base/hash_map.h"
#include "base/path.h"

struct modules {
	struct profile *profile;
	struct module *items;
	size_t count, capacity;
	struct hash_map by_key; /* hash of path and build-id -> index */
};

struct modules *modules_new(struct profile *profile)
{
	struct modules *modules = calloc(1, sizeof(*modules));
	if (!modules)
		return NULL;
	modules->profile = profile;
	hash_map_init(&modules->by_key);
	return modules;
}

void modules_free(struct modules *modules)
{
	if (!modules)
		return;
	for (size_t i = 0; i < modules->count; i++) {
		struct module *module = &modules->items[i];
		unwind_table_free(module->table);
		elf_file_free(module->file);
		if (module->fd >= 0)
			close(module->fd);
	}
	free(modules->items);
	hash_map_release(&modules->by_key);
	free(modules);
}

/* `is_elf`: the kernel found a build-id in it. */
static uint8_t kind_of_path(const char *path, bool is_elf)
{
	if (strcmp(path, "[vdso]") == 0)
		return MODULE_VDSO;
	if (strncmp(path, "/memfd:", 7) == 0) /* generated code, or a program that was never on disk */
		return is_elf ? MODULE_FILE : MODULE_ANON;
	if (path[0] == '/' && strncmp(path, "//anon", 6) != 0 && strncmp(path, "/dev/zero", 9) != 0 &&
	    strncmp(path, "/SYSV", 5) != 0)
		return MODULE_FILE;
	return MODULE_ANON;
}

/* One module represents all executable memory without a file. */
static const char *shown_path(const char *path, uint8_t kind)
{
	return kind == MODULE_ANON ? "[anon]" : path;
}

static int64_t add(struct modules *modules, const char *path, uint8_t kind, const uint8_t *build_id,
		   size_t build_id_bytes)
{
	uint64_t key = hash_bytes(path, strlen(path)) ^ (build_id ? hash_bytes(build_id, build_id_bytes) : 0) ^ kind;
	uint32_t found = hash_map_get(&modules->by_key, key);
	if (found != HASH_MAP_NONE)
		return found;
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
	modules->items[modules->count] = (struct module){ .id = (uint32_t)id, .kind = kind, .fd = -1 };
	return (int64_t)modules->count++;
}

int64_t modules_add(struct modules *modules, const char *path, const uint8_t *build_id, size_t build_id_bytes)
{
	uint8_t kind = kind_of_path(path, build_id != NULL);
	if (kind != MODULE_FILE)
		build_id = NULL;
	return add(modules, shown_path(path, kind), kind, build_id, build_id ? build_id_bytes : 0);
}

int64_t modules_add_name(struct modules *modules, const char *name, enum module_kind kind)
{
	return add(modules, name, (uint8_t)kind, NULL, 0);
}

/* Returns whether an opened file can be the mapped one. */
static bool is_the_build(struct elf_file *file, const struct profile_module *wanted)
{
	const uint8_t *id;
	size_t size = elf_file_build_id(file, &id);
	return wanted->build_id_bytes == 0 ||
	       (size == wanted->build_id_bytes && memcmp(id, wanted->build_id, size) == 0);
}

static bool open_path(struct module *module, const char *path, const struct profile_module *wanted)
{
	int fd = path_open_regular(path);
	if (fd < 0)
		return false;
	struct elf_file *file = elf_file_open(fd, path, NULL);
	if (!file || !is_the_build(file, wanted)) {
		elf_file_free(file);
		close(fd);
		return false;
	}
	module->fd = fd;
	module->file = file;
	return true;
}

/* The kernel marks the path of a file that was unlinked. */
static void without_deleted_mark(char *path)
{
	static const char mark[] = " (deleted)";
	size_t length = strlen(path);
	if (length > sizeof(mark) - 1 && strcmp(path + length - (sizeof(mark) - 1), mark) == 0)
		path[length - (sizeof(mark) - 1)] = 0;
}

/* Opens a container's files through a process in it; the executable also if it
 * was deleted. If the process has ended, uses our own view. */
static void open_file(struct module *module, const char *path, pid_t pid, const struct profile_module *wanted)
{
	char name[4096 + 64];
	char plain[4096];
	snprintf(plain, sizeof(plain), "%s", path);
	without_deleted_mark(plain);
	snprintf(name, sizeof(name), "/proc/%d/root%s", (int)pid, plain);
	if (open_path(module, name, wanted) || open_path(module, plain, wanted))
		return;
	snprintf(name, sizeof(name), "/proc/%d/exe", (int)pid);
	if (wanted->build_id_bytes > 0)
		open_path(module, name, wanted);
}

/* The vDSO is equal in all processes of a kernel, so ours is read. Its section
 * headers come last in it, which gives its size. */
static void open_vdso(struct module *module)
{
	const uint8_t *vdso = (const uint8_t *)getauxval(AT_SYSINFO_EHDR); /* NOLINT(performance-no-int-to-ptr) */
	if (!vdso)
		return;
	uint64_t section_offset;
	uint16_t section_bytes, section_count;
	enum { E_SHOFF = 40, E_SHENTSIZE = 58, E_SHNUM = 60 }; /* in Elf64_Ehdr */
	memcpy(&section_offset, vdso + E_SHOFF, sizeof(section_offset));
	memcpy(&section_bytes, vdso + E_SHENTSIZE, sizeof(section_bytes));
	memcpy(&section_count, vdso + E_SHNUM, sizeof(section_count));
	size_t size = (size_t)section_offset + (size_t)section_bytes * section_count;
	module->file = elf_file_from_memory(vdso, size, "[vdso]", NULL);
}

/* Reads a build-id from the file if the kernel did not report it. */
static void note_build_id(struct modules *modules, const struct module *module)
{
	struct profile_module *shown = &modules->profile->modules[module->id];
	const uint8_t *id;
	size_t size = elf_file_build_id(module->file, &id);
	if (shown->build_id_bytes == 0 && size > 0 && size <= sizeof(shown->build_id)) {
		memcpy(shown->build_id, id, size);
		shown->build_id_bytes = (uint8_t)size;
	}
}

static void load(struct modules *modules, struct module *module, pid_t pid)
{
	module->loaded = true;
	const struct profile_module *wanted = &modules->profile->modules[module->id];
	if (module->kind == MODULE_VDSO)
		open_vdso(module);
	else if (module->kind == MODULE_FILE)
		open_file(module, profile_string(modules->profile, wanted->path), pid, wanted);
	if (!module->file)
		return;
	note_build_id(modules, module);
	module->table = unwind_table_new(module->file, NULL);
}

struct module *modules_get(struct modules *modules, uint32_t index, pid_t pid)
{
	struct module *module = &modules->items[index];
	if (!module->loaded)
		load(modules, module, pid);
	return module;
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

int modules_open_for_names(void *context, uint32_t profile_module)
{
	const struct module *module = modules_by_id(context, profile_module);
	return module && module->fd >= 0 ? fcntl(module->fd, F_DUPFD_CLOEXEC, 0) : -1;
}
