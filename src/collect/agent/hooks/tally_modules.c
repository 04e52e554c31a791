/*
 * A process's chunk, and the modules in it: see struct tally_module.
 *
 * Modules are added in two ways. When code was loaded, tally_modules_changed visits all modules of the dynamic
 * linker, which takes the linker's locks. Before a measurement refers to an address, tally_register_code looks up its
 * module only, which takes no lock, because it may run in a handler. One thread at a time adds to the table. If the
 * table is busy, was_missed requests another visit, which the present or a later tally_modules_changed makes.
 */
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "collect/agent/core/real.h"
#include "collect/agent/hooks/hooks.h"
#include "collect/agent/hooks/system.h"
#include "collect/agent/hooks/tally.h"

/* --- known modules --- */

enum { MODULES_MAX = 4096, KEPT_MAX = 1024, KEPT_MAX_LIMITED = 256 };

static struct known {
	struct tally_module *module;
	uint64_t start, end;
	bool is_kept; /* it is unloaded, and its addresses are reserved */
	bool is_gone; /* ... and they are not: another module may be mapped there */
} known[MODULES_MAX];
static uint32_t known_count;
static uint32_t kept_count;
static uint32_t is_adding;
static uint32_t was_missed; /* dl_iterate_phdr has a module that is not in the table */

static bool has_address(const struct known *entry, uint64_t address)
{
	return address - entry->start < entry->end - entry->start && !entry->is_gone;
}

static bool is_registered(uint64_t address)
{
	static uint32_t last;
	uint32_t count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);
	uint32_t at = __atomic_load_n(&last, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < count; i++, at = at + 1 < count ? at + 1 : 0) {
		if (has_address(&known[at], address)) {
			__atomic_store_n(&last, at, __ATOMIC_RELAXED);
			return true;
		}
	}
	return false;
}

/* --- paths --- */

static size_t put(char *to, size_t at, size_t room, const char *text)
{
	size_t bytes = strnlen(text, room);
	if (at + bytes >= room)
		return at;
	memcpy(to + at, text, bytes + 1);
	return at + bytes;
}

/* Returns the name of the program if the user runs it by the dynamic linker (ld.so ./program),
 * which /proc/self/exe then names, or NULL. The dynamic linker corrects the auxiliary vector. */
static const char *name_by_linker(const char *executable)
{
	const char *last = executable;
	for (const char *at = executable; *at; at++)
		if (*at == '/')
			last = at + 1;
	bool is_linker = strncmp(last, "ld-", 3) == 0 || strncmp(last, "ld.", 3) == 0;
	return is_linker && getauxval(AT_BASE) == 0 ? (const char *)getauxval(AT_EXECFN) : NULL;
}

/* Writes the absolute path of a module; `name` is the dynamic linker's name for it. Returns its bytes without the
 * NUL. */
static size_t write_path(char *to, size_t room, const char *name, bool is_vdso)
{
	size_t bytes = 0;
	to[0] = 0;
	if (is_vdso)
		return put(to, 0, room, "[vdso]");
	if (!name || !name[0]) {
		long got = machine_syscall(SYS_readlink, (long)"/proc/self/exe", (long)to, (long)room - 1, 0, 0, 0);
		bytes = got > 0 ? (size_t)got : 0;
		to[bytes] = 0;
		name = name_by_linker(to);
		if (!name)
			return bytes;
		bytes = 0;
		to[0] = 0;
	}
	if (name[0] != '/' && machine_syscall(SYS_getcwd, (long)to, (long)room, 0, 0, 0, 0) > 0) {
		bytes = put(to, strnlen(to, room), room, "/");
		name += strncmp(name, "./", 2) == 0 ? 2 : 0;
	}
	return put(to, bytes, room, name);
}

/* --- adding one --- */

/* A module's addresses and build-id, according to its program headers. */
struct extent {
	uint64_t start, end;
	const uint8_t *build_id;
	uint64_t build_id_bytes;
};

static void find_build_id(struct extent *extent, const uint8_t *notes, uint64_t bytes, uint64_t alignment)
{
	static const char owner[] = "GNU";
	alignment = alignment == 8 ? 8 : 4;
	while (bytes >= sizeof(ElfW(Nhdr))) {
		const ElfW(Nhdr) *note = (const void *)notes;
		uint64_t name = sizeof(*note);
		uint64_t text = (name + note->n_namesz + alignment - 1) & -alignment;
		uint64_t next = (text + note->n_descsz + alignment - 1) & -alignment;
		if (text + note->n_descsz > bytes)
			return;
		if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == sizeof(owner) &&
		    memcmp(notes + name, owner, sizeof(owner)) == 0) {
			extent->build_id = notes + text;
			extent->build_id_bytes = note->n_descsz;
			return;
		}
		notes += next;
		bytes = next < bytes ? bytes - next : 0;
	}
}

static struct extent extent_of(uint64_t bias, const ElfW(Phdr) * segments, size_t count)
{
	static const uint64_t page = 4096;
	struct extent extent = { .start = UINT64_MAX };
	for (size_t i = 0; i < count; i++) {
		uint64_t start = bias + segments[i].p_vaddr, end = start + segments[i].p_memsz;
		if (segments[i].p_type == PT_LOAD) {
			extent.start = (start & -page) < extent.start ? start & -page : extent.start;
			extent.end = end > extent.end ? (end + page - 1) & -page : extent.end;
		} else if (segments[i].p_type == PT_NOTE && !extent.build_id) {
			find_build_id(&extent, (const uint8_t *)(uintptr_t)start, segments[i].p_memsz,
				      segments[i].p_align);
		}
	}
	return extent;
}

/* The offset of the process's chunk in the file, and how many of its bytes have disk space. */
static uint64_t process_at, process_reserved;

/* Returns the end of the chunk, where `bytes` bytes can be written, or NULL if there is no room. */
static void *take_bytes(struct tally_process *process, uint64_t bytes)
{
	uint64_t used = process->chunk.used;
	if (bytes > process->chunk.bytes - used)
		return NULL;
	if (used + bytes > process_reserved) {
		if (!tally_reserve(process_at + process_reserved, TALLY_GRANULE))
			return NULL;
		process_reserved += TALLY_GRANULE;
	}
	return (uint8_t *)process + used;
}

/* Returns true if the same module was loaded at the same addresses before; its entry is then valid again. */
static bool is_loaded_again(const struct extent *extent, const char *path)
{
	for (uint32_t i = 0; i < known_count; i++) {
		struct known *entry = &known[i];
		const struct tally_module *module = entry->module;
		if (!entry->is_gone || entry->start != extent->start || entry->end != extent->end ||
		    module->build_id_bytes != extent->build_id_bytes ||
		    memcmp(module->build_id, extent->build_id, module->build_id_bytes) != 0 ||
		    strcmp(module->path, path) != 0)
			continue;
		entry->is_gone = false;
		return true;
	}
	return false;
}

/* Returns true if a module lies where another one was before: the counts of the two cannot be separated. */
static bool overlaps_gone(const struct extent *extent)
{
	for (uint32_t i = 0; i < known_count; i++)
		if (known[i].is_gone && known[i].start < extent->end && extent->start < known[i].end)
			return true;
	return false;
}

/* Sets the mark in the last module of the table, because there may be no room for a new one. */
static void mark_mixed(void)
{
	if (known_count > 0)
		known[known_count - 1].module->others_mixed = 1;
}

static void write_module(struct tally_process *process, struct extent *extent, uint64_t bias, const char *name)
{
	enum { ALIGNMENT = 8 };
	static char path[PATH_MAX]; /* static, because only one thread at a time adds a module */
	bool is_vdso = extent->start == getauxval(AT_SYSINFO_EHDR);
	size_t path_bytes = write_path(path, sizeof(path), name, is_vdso) + 1;
	if (extent->build_id_bytes > TALLY_BUILD_ID_MAX)
		extent->build_id_bytes = 0;
	if (is_loaded_again(extent, path))
		return;
	uint64_t bytes = (sizeof(struct tally_module) + path_bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	struct tally_module *module = known_count < MODULES_MAX ? take_bytes(process, bytes) : NULL;
	if (!module || overlaps_gone(extent))
		mark_mixed();
	if (!module)
		return;
	module->bytes = (uint32_t)bytes;
	module->is_vdso = is_vdso;
	module->start = extent->start;
	module->end = extent->end;
	module->bias = bias;
	module->build_id_bytes = (uint8_t)extent->build_id_bytes;
	memcpy(module->build_id, extent->build_id, extent->build_id_bytes);
	memcpy(module->path, path, path_bytes);
	process->chunk.used += bytes;
	__atomic_store_n(&process->modules_bytes, process->modules_bytes + bytes, __ATOMIC_RELEASE);
	known[known_count] = (struct known){ .module = module, .start = extent->start, .end = extent->end };
	__atomic_store_n(&known_count, known_count + 1, __ATOMIC_RELEASE);
}

/* Returns false if another thread, or code that was interrupted, is adding a module. */
static bool begin_adding(void)
{
	return !__atomic_exchange_n(&is_adding, 1, __ATOMIC_ACQUIRE);
}

static void end_adding(void)
{
	__atomic_store_n(&is_adding, 0, __ATOMIC_RELEASE);
}

static void add(const char *name, uint64_t bias, const ElfW(Phdr) * segments, size_t count)
{
	struct extent extent = extent_of(bias, segments, count);
	if (extent.start >= extent.end || is_registered(extent.start))
		return;
	if (!begin_adding()) {
		__atomic_store_n(&was_missed, 1, __ATOMIC_RELAXED);
		return;
	}
	if (!is_registered(extent.start))
		write_module(hooks.process, &extent, bias, name);
	end_adding();
}

/* --- unloaded modules --- */

/* Reserved addresses count towards the limit of the program's address space. */
static uint32_t reserved_most(void)
{
	struct rlimit addresses;
	bool is_registered = machine_syscall(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&addresses, 0, 0) == 0;
	return is_registered && addresses.rlim_cur == RLIM_INFINITY ? KEPT_MAX : KEPT_MAX_LIMITED;
}

/* Reserves the addresses of unloaded code, so that they keep one meaning. If a program has unloaded too many
 * modules, the addresses of further modules are not reserved: the same library is then usually loaded at the same address again, and
 * is_loaded_again finds it. */
static void reserve_unloaded(void)
{
	struct dl_find_object found;
	uint32_t most = reserved_most();
	uint32_t count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);
	for (uint32_t i = 0; i < count; i++) {
		struct known *entry = &known[i];
		uint64_t bytes = entry->end - entry->start;
		if (entry->is_kept || entry->is_gone || entry->module->is_vdso ||
		    real_find_object(entry->start, &found))
			continue;
		long kept = -1;
		if (kept_count < most)
			kept = machine_syscall(SYS_mmap, (long)entry->start, (long)bytes, PROT_NONE,
					       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1,
					       0);
		entry->is_kept = kept == (long)entry->start;
		entry->is_gone = !entry->is_kept;
		kept_count += entry->is_kept;
	}
}

/* --- finding modules --- */

static int add_loaded(struct dl_phdr_info *info, size_t bytes, void *context)
{
	(void)bytes;
	(void)context;
	add(info->dlpi_name, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum);
	return 0;
}

void tally_modules_changed(void)
{
	int error = errno;
	if (hooks.process) {
		reserve_unloaded();
		__atomic_store_n(&was_missed, 0, __ATOMIC_RELAXED);
		dl_iterate_phdr(add_loaded, NULL);
		if (__atomic_load_n(&was_missed, __ATOMIC_RELAXED))
			dl_iterate_phdr(add_loaded, NULL);
	}
	errno = error;
}

void tally_register_code(uint64_t address)
{
	struct dl_find_object found;
	if (__builtin_expect(is_registered(address), 1) || !real_find_object(address, &found) || !found.dlfo_link_map)
		return;
	/* With all common linkers, a module's first page begins with its ELF header. In a statically linked program
	 * the C library reports the code only; the program headers are those that the kernel reports. */
	const struct link_map *map = found.dlfo_link_map;
	const ElfW(Ehdr) *header = found.dlfo_map_start;
	if (memcmp(header->e_ident, ELFMAG, SELFMAG) == 0)
		add(map->l_name, map->l_addr, (const void *)((const uint8_t *)header + header->e_phoff),
		    header->e_phnum);
	else if (!map->l_name || !map->l_name[0])
		add(map->l_name, map->l_addr, (const void *)getauxval(AT_PHDR), getauxval(AT_PHNUM));
}

/* --- the process --- */

static uint32_t is_noting;

void tally_note_time(struct tally_process *process)
{
	if (__atomic_exchange_n(&is_noting, 1, __ATOMIC_ACQUIRE))
		return;
	process->seen_ns = runtime_stamp_ns();
	process->end_ticks = machine_time_stamp();
	__atomic_store_n(&is_noting, 0, __ATOMIC_RELEASE);
}

static void write_name(struct tally_process *process)
{
	const char *name = program_invocation_short_name;
	if (name && name[0])
		memcpy(process->name, name, strnlen(name, sizeof(process->name) - 1));
	else
		machine_syscall(SYS_prctl, PR_GET_NAME, (long)process->name, 0, 0, 0, 0);
}

struct tally_process *tally_process_new(const struct tally_process *before)
{
	static const uint64_t room = 4ULL * TALLY_GRANULE; /* for some thousand modules */
	uint64_t reserved = before ? process_reserved : TALLY_GRANULE, at;
	struct tally_process *process = (struct tally_process *)tally_chunk_new_sparse(room, reserved, 0, &at);
	if (!process)
		return NULL;
	process_at = at;
	process_reserved = reserved;
	is_adding = is_noting = 0; /* set by a thread that does not exist after a fork */
	process->pid = system_pid();
	process->parent = before ? before->chunk.process : UINT32_MAX;
	process->start_ns = runtime_stamp_ns();
	process->start_ticks = machine_time_stamp();
	tally_note_time(process);
	process->chunk.used = sizeof(*process);
	if (before) {
		uint64_t bytes = __atomic_load_n(&before->modules_bytes, __ATOMIC_ACQUIRE);
		process->hooks = before->hooks;
		memcpy(process->name, before->name, sizeof(process->name));
		memcpy(process->modules, before->modules, bytes);
		process->modules_bytes = bytes;
		process->chunk.used += bytes;
	} else {
		write_name(process);
	}
	tally_chunk_finish(&process->chunk, TALLY_PROCESS);
	return process;
}
