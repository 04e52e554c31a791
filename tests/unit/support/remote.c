#include "remote.h"

#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/user.h>
#include <unistd.h>

enum { MOST_MODULES = 64, MOST_TABLES = 256, PAGE_BYTES = 4096, PAGES = 16, PATH_BYTES = 512, VDSO_BYTES = 16384 };

struct mapping {
	uint64_t start;
	uint64_t end;
	struct unwind_module module;
	char path[PATH_BYTES];
};

struct page {
	uint64_t address;
	bool present;
	uint8_t bytes[PAGE_BYTES];
};

struct remote {
	pid_t pid;
	struct mapping mappings[MOST_MODULES];
	unsigned mapping_count;
	struct page pages[PAGES];
	unsigned oldest;
	Dwfl *dwfl;
};

/* Shared by all processes, since a table depends on its file only. */
static struct {
	char path[PATH_BYTES];
	struct elf_file *file;
	struct unwind_table *table;
} tables[MOST_TABLES];
static unsigned table_count;

static void require(bool holds, const char *what)
{
	if (holds)
		return;
	fprintf(stderr, "remote: %s\n", what);
	abort();
}

/* --- memory --- */

static bool read_bytes(const struct remote *remote, uint64_t address, void *bytes, size_t size)
{
	struct iovec local = { bytes, size };
	struct iovec there = { (void *)(uintptr_t)address, size };
	return process_vm_readv(remote->pid, &local, 1, &there, 1, 0) == (ssize_t)size;
}

static const struct page *page_at(struct remote *remote, uint64_t address)
{
	for (unsigned i = 0; i < PAGES; i++)
		if (remote->pages[i].present && remote->pages[i].address == address)
			return &remote->pages[i];
	struct page *page = &remote->pages[remote->oldest++ % PAGES];
	page->present = read_bytes(remote, address, page->bytes, PAGE_BYTES);
	page->address = address;
	return page->present ? page : NULL;
}

static int read_word(void *context, uint64_t address, uint64_t *value)
{
	struct remote *remote = context;
	uint64_t offset = address % PAGE_BYTES;
	if (offset > PAGE_BYTES - sizeof(*value))
		return read_bytes(remote, address, value, sizeof(*value)) ? 0 : -1;
	const struct page *page = page_at(remote, address - offset);
	if (!page)
		return -1;
	memcpy(value, page->bytes + offset, sizeof(*value));
	return 0;
}

void remote_forget(struct remote *remote)
{
	for (unsigned i = 0; i < PAGES; i++)
		remote->pages[i].present = false;
}

/* --- modules --- */

static struct elf_file *open_vdso(const struct remote *remote, uint64_t start, uint64_t size)
{
	static uint8_t bytes[VDSO_BYTES];
	require(size <= sizeof(bytes) && read_bytes(remote, start, bytes, size), "cannot read the vDSO");
	return elf_file_from_memory(bytes, size, "vDSO", NULL);
}

static unsigned table_of(const struct remote *remote, const char *path, uint64_t start, uint64_t size)
{
	for (unsigned i = 0; i < table_count; i++)
		if (strcmp(tables[i].path, path) == 0)
			return i;
	require(table_count < MOST_TABLES, "too many modules");
	unsigned index = table_count++;
	snprintf(tables[index].path, PATH_BYTES, "%s", path);
	if (strcmp(path, "[vdso]") == 0) {
		tables[index].file = open_vdso(remote, start, size);
	} else {
		int fd = open(path, O_RDONLY | O_CLOEXEC);
		tables[index].file = elf_file_open(fd, path, NULL);
		close(fd);
	}
	require(tables[index].file, path);
	tables[index].table = unwind_table_new(tables[index].file, NULL);
	require(tables[index].table, "no table");
	return index;
}

static void add_mapping(struct remote *remote, uint64_t start, uint64_t end, uint64_t offset, const char *path)
{
	uint64_t address = 0;
	require(remote->mapping_count < MOST_MODULES, "too many mappings");
	struct mapping *mapping = &remote->mappings[remote->mapping_count];
	unsigned index = table_of(remote, path, start, end - start);
	*mapping = (struct mapping){ .start = start, .end = end };
	require(elf_file_address_of_offset(tables[index].file, offset, &address), "mapping outside of all segments");
	mapping->module = (struct unwind_module){
		.table = tables[index].table,
		.bias = start - address,
		.id = remote->mapping_count,
	};
	snprintf(mapping->path, sizeof(mapping->path), "%s", path);
	remote->mapping_count++;
}

static void read_maps(struct remote *remote)
{
	char name[64];
	char line[1024];
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)remote->pid);
	FILE *maps = fopen(name, "re");
	require(maps, "no maps");
	remote->mapping_count = 0;
	while (fgets(line, sizeof(line), maps)) {
		uint64_t start, end, offset;
		char rights[8];
		char path[PATH_BYTES] = "";
		int fields = sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %511s", &start, &end, rights,
				    &offset, path);
		if (fields == 5 && rights[2] == 'x' && (path[0] == '/' || strcmp(path, "[vdso]") == 0))
			add_mapping(remote, start, end, offset, path);
	}
	fclose(maps);
}

static const struct mapping *find_mapping(const struct remote *remote, uint64_t pc)
{
	for (unsigned i = 0; i < remote->mapping_count; i++)
		if (pc >= remote->mappings[i].start && pc < remote->mappings[i].end)
			return &remote->mappings[i];
	return NULL;
}

static int module_at(void *context, uint64_t pc, struct unwind_module *module)
{
	struct remote *remote = context;
	const struct mapping *mapping = find_mapping(remote, pc);
	if (!mapping) {
		read_maps(remote);
		mapping = find_mapping(remote, pc);
	}
	if (!mapping)
		return -1;
	*module = mapping->module;
	return 0;
}

const char *remote_location(struct remote *remote, uint64_t pc)
{
	static char text[PATH_BYTES + 32];
	const struct mapping *mapping = find_mapping(remote, pc);
	const char *slash = mapping ? strrchr(mapping->path, '/') : NULL;
	snprintf(text, sizeof(text), "%s+0x%" PRIx64, mapping ? (slash ? slash + 1 : mapping->path) : "?",
		 mapping ? pc - mapping->module.bias : pc);
	return text;
}

/* --- life cycle --- */

struct remote *remote_new(pid_t pid)
{
	struct remote *remote = calloc(1, sizeof(*remote));
	require(remote, "out of memory");
	remote->pid = pid;
	read_maps(remote);
	return remote;
}

void remote_free(struct remote *remote)
{
	if (remote->dwfl)
		dwfl_end(remote->dwfl);
	free(remote);
}

struct unwind_source remote_source(struct remote *remote)
{
	return (struct unwind_source){ .module_at = module_at, .read = read_word, .context = remote };
}

struct arch_registers remote_registers(pid_t tid)
{
	struct user_regs_struct regs;
	require(ptrace(PTRACE_GETREGS, tid, NULL, &regs) == 0, "no registers");
	return (struct arch_registers){
		{ regs.rax, regs.rdx, regs.rcx, regs.rbx, regs.rsi, regs.rdi, regs.rbp, regs.rsp, regs.r8, regs.r9,
		  regs.r10, regs.r11, regs.r12, regs.r13, regs.r14, regs.r15, regs.rip },
	};
}

/* --- the reference --- */

static int no_debug_file(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base, const char *file,
			 const char *link, GElf_Word checksum, char **found)
{
	(void)module, (void)data, (void)name, (void)base, (void)file, (void)link, (void)checksum, (void)found;
	return -1;
}

struct reference {
	uint64_t *pcs;
	size_t count;
	size_t limit;
};

static int keep_frame(Dwfl_Frame *frame, void *argument)
{
	struct reference *reference = argument;
	Dwarf_Addr pc;
	bool exact;
	if (!dwfl_frame_pc(frame, &pc, &exact))
		return DWARF_CB_ABORT;
	if (pc == 0 || reference->count == reference->limit)
		return DWARF_CB_ABORT;
	reference->pcs[reference->count++] = pc - !exact;
	return DWARF_CB_OK;
}

size_t remote_reference_walk(struct remote *remote, pid_t tid, uint64_t *pcs, size_t limit)
{
	static const Dwfl_Callbacks callbacks = {
		.find_elf = dwfl_linux_proc_find_elf,
		.find_debuginfo = no_debug_file,
	};
	struct reference reference = { .pcs = pcs, .limit = limit };
	if (!remote->dwfl) {
		remote->dwfl = dwfl_begin(&callbacks);
		require(remote->dwfl && dwfl_linux_proc_report(remote->dwfl, remote->pid) == 0 &&
				dwfl_report_end(remote->dwfl, NULL, NULL) == 0,
			"libdwfl cannot read the process");
		require(dwfl_linux_proc_attach(remote->dwfl, remote->pid, true) == 0, "libdwfl cannot attach");
	}
	int status = dwfl_getthread_frames(remote->dwfl, tid, keep_frame, &reference);
	return status == 0 ? reference.count : 0;
}
