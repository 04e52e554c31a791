#include "frames/native/module_file.h"

#include <elf.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "arch/arch.h"
#include "frames/native/debug_search.h"
#include "frames/native/empty_dwarf.h"
#include "profile/module_name.h"

/* Gives libdwfl the ELF file of a part, which it would map. */
static int pass_elf(Dwfl_Module *module, void **part, const char *name, Dwarf_Addr base, char **path, Elf **elf)
{
	(void)module;
	(void)name;
	(void)base;
	(void)path;
	*elf = ((struct module_part *)*part)->image.elf;
	return -1;
}

/* libdwfl would open and map whatever the file names. debug_search opens it instead. */
static int find_nothing(Dwfl_Module *module, void **part, const char *name, Dwarf_Addr base, const char *path,
			const char *link, GElf_Word crc, char **found)
{
	(void)module;
	(void)part;
	(void)name;
	(void)base;
	(void)path;
	(void)link;
	(void)crc;
	(void)found;
	errno = 0; /* "there is none", not "the search failed" */
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = pass_elf,
	.find_debuginfo = find_nothing,
	.section_address = dwfl_offline_section_address,
};

/* Finds the addresses of a file's segments. The start is that from which libdwfl counts, so that its addresses are the addresses
 * of the file. */
static void find_extent(Elf *elf, uint64_t *start, uint64_t *end)
{
	size_t segments = 0;
	GElf_Phdr segment;
	bool found = false;
	*start = 0;
	*end = 1;
	if (elf_getphdrnum(elf, &segments) != 0 || segments > INT_MAX)
		return;
	for (int i = 0; i < (int)segments; i++) {
		if (!gelf_getphdr(elf, i, &segment) || segment.p_type != PT_LOAD)
			continue;
		if (!found)
			*start = segment.p_align > 1 ? segment.p_vaddr & -segment.p_align : segment.p_vaddr;
		found = true;
		if (segment.p_vaddr + segment.p_memsz > *end)
			*end = segment.p_vaddr + segment.p_memsz;
	}
	if (*end <= *start)
		*end = *start + 1;
}

static void part_close(struct module_part *part)
{
	if (part->dwfl)
		dwfl_end(part->dwfl);
	else
		elf_end(part->image.elf);
	elf_image_release(&part->image);
	free(part->path);
	*part = (struct module_part){ 0 };
}

/* Makes libdwfl's module of the part's image. Takes ownership of `path`, which may be NULL. */
static int part_open(struct module_part *part, char *path, const char *name, struct error *error)
{
	uint64_t start, end;
	void **context = NULL;
	GElf_Addr bias;
	GElf_Ehdr header;
	part->path = path;
	find_extent(part->image.elf, &start, &end);
	if (!gelf_getehdr(part->image.elf, &header) || (header.e_type != ET_EXEC && header.e_type != ET_DYN)) {
		part_close(part);
		return error_set(error, ERROR_FORMAT, "'%s' is neither a program nor a shared library", name);
	}
	struct elf_image image = part->image;
	part->dwfl = dwfl_begin(&callbacks);
	if (part->dwfl) {
		dwfl_report_begin(part->dwfl);
		part->module = dwfl_report_module(part->dwfl, name, start, end);
		dwfl_report_end(part->dwfl, NULL, NULL);
	}
	if (!part->module || !dwfl_module_info(part->module, &context, NULL, NULL, NULL, NULL, NULL, NULL)) {
		if (part->dwfl)
			elf_end(image.elf); /* libdwfl does not have it yet */
		part_close(part);
		return error_set(error, ERROR_MEMORY, "out of memory");
	}
	*context = part;
	if (dwfl_module_getelf(part->module, &bias))
		return 0;
	error_set(error, ERROR_FORMAT, "%s: %s", name, dwfl_errmsg(-1));
	part_close(part);
	return ERROR_FORMAT;
}

/* Reads the tags of PT_DYNAMIC that distinguish a program from a library. */
static void read_dynamic(struct module_file *file, uint64_t address, bool *is_pie, bool *has_soname)
{
	enum { DYNAMIC_BYTES_MAX = 1 << 20 };
	struct elf_bytes dynamic = { 0 };
	if (file->bytes)
		dynamic = elf_file_from(file->bytes, address, DYNAMIC_BYTES_MAX);
	for (size_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic.size; at += sizeof(Elf64_Dyn)) {
		Elf64_Dyn entry;
		memcpy(&entry, dynamic.bytes + at, sizeof(entry));
		if (entry.d_tag == DT_NULL)
			return;
		if (entry.d_tag == DT_FLAGS_1 && (entry.d_un.d_val & DF_1_PIE))
			*is_pie = true;
		if (entry.d_tag == DT_SONAME)
			*has_soname = true;
	}
}

static uint64_t main_of_start(struct module_file *file)
{
	enum { ENTRY_CODE_BYTES = 4096 };
	struct elf_bytes code = elf_file_from(file->bytes, file->entry, ENTRY_CODE_BYTES);
	uint64_t low, high;
	elf_file_text_range(file->bytes, &low, &high);
	return arch_main_of_start(code.bytes, code.size, file->entry, low, high);
}

static void classify(struct module_file *file, Elf *elf, const char *path)
{
	GElf_Ehdr header;
	size_t segments = 0;
	bool has_interpreter = false, is_pie = false, has_soname = false;
	file->is_c_library = module_name_is_c_library(path);
	file->is_dynamic_linker = module_name_is_dynamic_linker(path);
	file->is_runtime = module_name_is_agent(path);
	if (!gelf_getehdr(elf, &header) || elf_getphdrnum(elf, &segments) != 0 || segments > INT_MAX)
		return;
	for (int i = 0; i < (int)segments; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf, i, &segment))
			continue;
		if (segment.p_type == PT_INTERP)
			has_interpreter = true;
		if (segment.p_type == PT_DYNAMIC)
			read_dynamic(file, segment.p_vaddr, &is_pie, &has_soname);
	}
	file->is_executable = !file->is_c_library && !file->is_dynamic_linker &&
			      (header.e_type == ET_EXEC || is_pie || (has_interpreter && !has_soname));
	file->is_static = file->is_executable && !has_interpreter;
	if (file->is_executable || file->is_dynamic_linker)
		file->entry = header.e_entry;
	if (file->is_executable && file->entry && file->bytes)
		file->main = main_of_start(file);
}

/* Adopts the image in file->own. */
static int adopt(struct module_file *file, const char *path, struct error *error)
{
	char *own_path = strdup(path);
	int status = 0;
	if (!own_path)
		status = error_set(error, ERROR_MEMORY, "out of memory");
	if (status == 0)
		status = part_open(&file->own, own_path, path, error);
	if (status == 0)
		classify(file, dwfl_module_getelf(file->own.module, &file->bias), path);
	else
		module_file_close(file);
	return status;
}

int module_file_open(struct module_file *file, int fd, const char *path, struct error *error)
{
	*file = (struct module_file){ 0 };
	int status = elf_image_open(&file->own.image, fd, path, error);
	/* The bytes are NULL for a file of another machine; its symbols can still be read. */
	if (status == 0)
		file->bytes = elf_file_open(fd, path, NULL);
	close(fd);
	return status == 0 ? adopt(file, path, error) : status;
}

/* Returns the size of the image, which ends with the kernel's section headers. */
static size_t vdso_bytes(const Elf64_Ehdr *header)
{
	return header->e_shoff + (size_t)header->e_shnum * header->e_shentsize;
}

int module_file_open_vdso(struct module_file *file, struct error *error)
{
	static const char name[] = "[vdso]";
	Elf64_Ehdr *header = (Elf64_Ehdr *)getauxval(AT_SYSINFO_EHDR);
	*file = (struct module_file){ 0 };
	if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0)
		return error_set(error, ERROR_NOT_FOUND, "this process has no [vdso]");
	size_t size = vdso_bytes(header);
	int status = elf_image_from_memory(&file->own.image, header, size, name, error);
	if (status < 0)
		return status;
	file->bytes = elf_file_from_memory(header, size, name, NULL);
	return adopt(file, name, error);
}

void module_file_close(struct module_file *file)
{
	part_close(&file->own);
	part_close(&file->debug);
	dwarf_end(file->shared_dwarf);
	elf_end(file->shared.elf);
	elf_image_release(&file->shared);
	unwind_table_free(file->table);
	elf_file_free(file->bytes);
	*file = (struct module_file){ 0 };
}

Elf *module_file_elf(struct module_file *file)
{
	return file->own.image.elf;
}

/* --- separate debug information --- */

static struct module_part *debug_part(struct module_file *file)
{
	char *path;
	struct module_part *part = &file->debug;
	if (file->debug_tried)
		return part;
	file->debug_tried = true;
	int status = 0;
	if (debug_search(file->own.image.elf, file->own.path, &part->image, &path, &file->lacks_memory))
		status = part_open(part, path, path ? path : file->own.path, NULL);
	file->lacks_memory |= status == ERROR_MEMORY;
	return part;
}

static bool has_symbols(Elf *elf)
{
	GElf_Shdr header;
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));)
		if (gelf_getshdr(section, &header) && header.sh_type == SHT_SYMTAB)
			return true;
	return false;
}

Dwfl_Module *module_file_symbols(struct module_file *file)
{
	if (file->symbols)
		return file->symbols;
	file->symbols = file->own.module;
	if (!has_symbols(file->own.image.elf)) {
		struct module_part *debug = debug_part(file);
		if (debug->module && has_symbols(debug->image.elf))
			file->symbols = debug->module;
	}
	return file->symbols;
}

/* Links the debug information with the file that it shares with others. libdw would search for that file itself, and
 * would open whatever has its name; so it gets another one, which is empty, where there is none. */
static void link_shared(struct module_file *file, Dwarf *dwarf, const char *path)
{
	const char *name;
	const void *id;
	if (file->shared_tried || dwelf_dwarf_gnu_debugaltlink(dwarf, &name, &id) <= 0)
		return;
	file->shared_tried = true;
	if (debug_search_shared(dwarf, path, &file->shared))
		file->shared_dwarf = dwarf_begin_elf(file->shared.elf, DWARF_C_READ, NULL);
	if (!file->shared_dwarf && !file->shared.elf)
		file->shared_dwarf = empty_dwarf(&file->shared);
	dwarf_setalt(dwarf, file->shared_dwarf);
}

/* Returns the debug information of a part, or NULL. libdwfl has no public code for a lack of memory. */
static Dwarf *dwarf_of(struct module_file *file, const struct module_part *part, Dwarf_Addr *address)
{
	errno = 0;
	Dwarf *dwarf = part->module ? dwfl_module_getdwarf(part->module, address) : NULL;
	file->lacks_memory |= !dwarf && errno == ENOMEM;
	return dwarf;
}

Dwarf *module_file_dwarf(struct module_file *file, uint64_t *bias)
{
	struct module_part *part = &file->own;
	Dwarf_Addr address = 0;
	Dwarf *dwarf = dwarf_of(file, part, &address);
	if (!dwarf) {
		part = debug_part(file);
		dwarf = dwarf_of(file, part, &address);
	}
	if (dwarf)
		link_shared(file, dwarf, part->path);
	*bias = address;
	return dwarf;
}

/* --- queries --- */

bool module_file_is_another(struct module_file *file, const uint8_t *id, size_t id_bytes)
{
	const unsigned char *bits;
	GElf_Addr address;
	int bytes = dwfl_module_build_id(file->own.module, &bits, &address);
	return bytes <= 0 || (size_t)bytes != id_bytes || memcmp(bits, id, id_bytes) != 0;
}

const struct unwind_table *module_file_table(struct module_file *file)
{
	if (!file->table_tried && file->bytes)
		file->table = unwind_table_new(file->bytes, NULL);
	file->table_tried = true;
	return file->table;
}

static bool has_section(struct elf_file *file, const char *name)
{
	struct elf_bytes found = elf_file_section(file, name);
	elf_file_release_part(file, &found);
	return found.bytes;
}

/* Returns the search for single functions: the table of a large file takes a tenth of a second and dozens of MB. NULL: the table is there. */
static const struct fde_search *fdes_of(struct module_file *file)
{
	if (file->table_tried || !file->bytes)
		return NULL;
	if (!file->has_fdes) {
		fde_search_init(&file->fdes, file->bytes);
		file->has_only_fdes = file->fdes.table && !has_section(file->bytes, ".debug_frame") &&
				      !has_section(file->bytes, ".gopclntab") &&
				      !has_section(file->bytes, ".note.go.buildid");
	}
	file->has_fdes = true;
	return &file->fdes;
}

uint64_t module_file_function(struct module_file *file, uint64_t address)
{
	const struct fde_search *fdes = fdes_of(file);
	uint64_t start, end;
	/* The table leaves out empty functions. */
	bool is_found = fdes && fde_search_last(fdes, address, &start, &end) && start < end;
	if (is_found && (address < end || file->has_only_fdes))
		return address < end ? start : 0;
	const struct unwind_table *table = module_file_table(file);
	return table ? unwind_table_function(table, address, NULL) : 0;
}

uint64_t module_file_function_end(struct module_file *file, uint64_t address)
{
	const struct fde_search *fdes = fdes_of(file);
	uint64_t start, end;
	if (fdes && file->has_only_fdes && fde_search_last(fdes, address, &start, &end) && start < end)
		return end;
	const struct unwind_table *table = module_file_table(file);
	return table ? unwind_table_function_end(table, address) : 0;
}

bool module_file_has_symbols(struct module_file *file)
{
	return has_symbols(file->own.image.elf);
}

bool module_file_is_stripped(struct module_file *file)
{
	/* All symbols for the dynamic linker are global, except the first, which is empty. */
	Dwfl_Module *symbols = module_file_symbols(file);
	return dwfl_module_getsymtab(symbols) <= 0 || dwfl_module_getsymtab_first_global(symbols) <= 1;
}

bool module_file_ends_thread(struct module_file *file, uint64_t return_address)
{
	const uint8_t *code = file->bytes ? elf_file_at(file->bytes, return_address, ARCH_THREAD_END_BYTES) : NULL;
	return code && arch_ends_thread(code);
}
