#include "frames/native/plt.h"

#include <elf.h>
#include <string.h>

#include "arch/arch.h"
#include "base/cursor.h"

static bool in_section(const struct elf_bytes *section, uint64_t address)
{
	return section->bytes && address >= section->address && address - section->address < section->size;
}

static const char *dynamic_symbol(struct module_file *file, uint64_t index)
{
	struct elf_bytes symbols = elf_file_section(file->bytes, ".dynsym");
	struct elf_bytes strings = elf_file_section(file->bytes, ".dynstr");
	Elf64_Sym symbol;
	if (index == 0 || index >= symbols.size / sizeof(symbol))
		return NULL;
	memcpy(&symbol, symbols.bytes + index * sizeof(symbol), sizeof(symbol));
	if (symbol.st_name >= strings.size)
		return NULL;
	struct cursor cursor = cursor_over(strings.bytes + symbol.st_name, strings.size - symbol.st_name);
	return cursor_string(&cursor);
}

static const char *relocation_symbol(struct module_file *file, const Elf64_Rela *relocation)
{
	if (ELF64_R_TYPE(relocation->r_info) != arch_chosen_relocation)
		return dynamic_symbol(file, ELF64_R_SYM(relocation->r_info));
	/* A function of the file itself whose implementation is chosen at start: its resolver has its name. */
	GElf_Off offset;
	GElf_Sym symbol;
	uint64_t address = (uint64_t)relocation->r_addend + file->bias;
	const char *name = dwfl_module_addrinfo(module_file_symbols(file), address, &offset, &symbol, NULL, NULL, NULL);
	return name && offset == 0 ? name : NULL;
}

/* Returns whether an address is the address of a slot, which only the dynamic linker writes, and not of a variable. */
static bool is_slot(struct module_file *file, uint64_t address)
{
	struct elf_bytes offsets = elf_file_section(file->bytes, ".got");
	struct elf_bytes stubs = elf_file_section(file->bytes, ".got.plt");
	return in_section(&offsets, address) || in_section(&stubs, address);
}

/* Finds the relocation of a slot in a table. */
static bool find_relocation(struct module_file *file, const char *table_name, uint64_t slot, Elf64_Rela *relocation)
{
	struct elf_bytes table = elf_file_section(file->bytes, table_name);
	for (size_t at = 0; at + sizeof(*relocation) <= table.size; at += sizeof(*relocation)) {
		memcpy(relocation, table.bytes + at, sizeof(*relocation));
		if (relocation->r_offset == slot)
			return true;
	}
	return false;
}

static const char *symbol_of_index(struct module_file *file, uint32_t index)
{
	struct elf_bytes table = elf_file_section(file->bytes, ".rela.plt");
	Elf64_Rela relocation;
	if (index >= table.size / sizeof(relocation))
		return NULL;
	memcpy(&relocation, table.bytes + index * sizeof(relocation), sizeof(relocation));
	return relocation_symbol(file, &relocation);
}

const char *plt_slot_symbol(struct module_file *file, uint64_t slot, uint64_t *address)
{
	Elf64_Rela relocation;
	*address = 0;
	if (!is_slot(file, slot))
		return NULL;
	if (!find_relocation(file, ".rela.plt", slot, &relocation) &&
	    !find_relocation(file, ".rela.dyn", slot, &relocation)) {
		elf_file_copy(file->bytes, slot, address, sizeof(*address)); /* the linker has filled it */
		return NULL;
	}
	if (ELF64_R_TYPE(relocation.r_info) == arch_relative_relocation)
		*address = (uint64_t)relocation.r_addend;
	return relocation_symbol(file, &relocation);
}

static const char *symbol_of_stub(struct module_file *file, const uint8_t *stub, size_t size, uint64_t address)
{
	const struct arch_plt_jump jump = arch_plt_jump(stub, size, address);
	if (jump.kind == ARCH_PLT_INDEX)
		return symbol_of_index(file, jump.index);
	uint64_t own;
	return jump.kind == ARCH_PLT_SLOT ? plt_slot_symbol(file, jump.slot, &own) : NULL;
}

bool plt_find(struct module_file *file, uint64_t address, const char **symbol)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	*symbol = NULL;
	for (size_t i = 0; file->bytes && i < sizeof(names) / sizeof(names[0]); i++) {
		struct elf_bytes section = elf_file_section(file->bytes, names[i]);
		if (!in_section(&section, address))
			continue;
		size_t bytes;
		size_t at = arch_plt_stub(names[i], section.bytes, section.size, (size_t)(address - section.address),
					  &bytes);
		size_t left = section.size - at < bytes ? section.size - at : bytes;
		*symbol = symbol_of_stub(file, section.bytes + at, left, section.address + at);
		return true;
	}
	return false;
}
