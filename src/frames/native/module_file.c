#include "frames/native/module_file.h"

#include <elf.h>
#include <gelf.h>
#include <limits.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "arch/arch.h"
#include "frames/native/debug_search.h"
#include "profile/module_name.h"

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = debug_search,
	.section_address = dwfl_offline_section_address,
};

/* Reads the tags of PT_DYNAMIC that distinguish a program from a library. */
static void read_dynamic(struct module_file *file, uint64_t address, bool *is_pie, bool *has_soname)
{
	struct elf_bytes dynamic = file->bytes ? elf_file_from(file->bytes, address) : (struct elf_bytes){ 0 };
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
	struct elf_bytes code = elf_file_from(file->bytes, file->entry);
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

static int adopt(struct module_file *file, const char *path, struct error *error)
{
	Elf *elf = file->module ? dwfl_module_getelf(file->module, &file->bias) : NULL;
	dwfl_report_end(file->dwfl, NULL, NULL);
	if (!elf) {
		int code = error_set(error, ERROR_FORMAT, "%s: %s", path, dwfl_errmsg(-1));
		module_file_close(file);
		return code;
	}
	classify(file, elf, path);
	return 0;
}

int module_file_open(struct module_file *file, int fd, const char *path, struct error *error)
{
	*file = (struct module_file){ .dwfl = dwfl_begin(&callbacks) };
	if (!file->dwfl) {
		close(fd);
		return error_set(error, ERROR_MEMORY, "out of memory");
	}
	/* The bytes are NULL for a file of another machine; its symbols can still be read. */
	file->bytes = elf_file_open(fd, path, NULL);
	dwfl_report_begin(file->dwfl);
	/* At base 0, libdwfl uses the addresses of the file. */
	file->module = dwfl_report_elf(file->dwfl, path, path, fd, 0, true);
	if (!file->module)
		close(fd);
	return adopt(file, path, error);
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
	file->dwfl = dwfl_begin(&callbacks);
	if (!file->dwfl)
		return error_set(error, ERROR_MEMORY, "out of memory");
	size_t size = vdso_bytes(header);
	file->bytes = elf_file_from_memory(header, size, name, NULL);
	dwfl_report_begin(file->dwfl);
	file->module = dwfl_report_offline_memory(file->dwfl, name, name, (char *)header, size);
	return adopt(file, name, error);
}

void module_file_close(struct module_file *file)
{
	if (file->dwfl)
		dwfl_end(file->dwfl);
	unwind_table_free(file->table);
	elf_file_free(file->bytes);
	*file = (struct module_file){ 0 };
}

bool module_file_is_another(struct module_file *file, const uint8_t *id, size_t id_bytes)
{
	const unsigned char *bits;
	GElf_Addr address;
	int bytes = dwfl_module_build_id(file->module, &bits, &address);
	return bytes <= 0 || (size_t)bytes != id_bytes || memcmp(bits, id, id_bytes) != 0;
}

static const struct unwind_table *table_of(struct module_file *file)
{
	if (!file->table_tried && file->bytes)
		file->table = unwind_table_new(file->bytes, NULL);
	file->table_tried = true;
	return file->table;
}

uint64_t module_file_function(struct module_file *file, uint64_t address)
{
	const struct unwind_table *table = table_of(file);
	return table ? unwind_table_function(table, address, NULL) : 0;
}

uint64_t module_file_function_end(struct module_file *file, uint64_t address)
{
	const struct unwind_table *table = table_of(file);
	return table ? unwind_table_function_end(table, address) : 0;
}

bool module_file_is_stripped(struct module_file *file)
{
	/* All symbols for the dynamic linker are global, except the first, which is empty. */
	return dwfl_module_getsymtab(file->module) <= 0 || dwfl_module_getsymtab_first_global(file->module) <= 1;
}

bool module_file_ends_thread(struct module_file *file, uint64_t return_address)
{
	const uint8_t *code = file->bytes ? elf_file_at(file->bytes, return_address, ARCH_THREAD_END_BYTES) : NULL;
	return code && arch_ends_thread(code);
}
