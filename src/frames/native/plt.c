#include "frames/native/plt.h"

#include <elf.h>
#include <string.h>

#include "base/cursor.h"

enum { STUB_BYTES = 16, SHORT_STUB_BYTES = 8 };

static bool in_section(const struct elf_bytes *section, uint64_t address)
{
	return section->bytes && address >= section->address && address - section->address < section->size;
}

/* Stubs of .plt.got are 8 bytes, unless they begin with endbr64. */
static size_t stub_bytes(const char *section_name, const struct elf_bytes *section)
{
	static const uint8_t endbr64[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	if (strcmp(section_name, ".plt.got") != 0)
		return STUB_BYTES;
	bool is_long = section->size >= sizeof(endbr64) && memcmp(section->bytes, endbr64, sizeof(endbr64)) == 0;
	return is_long ? STUB_BYTES : SHORT_STUB_BYTES;
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
	if (ELF64_R_TYPE(relocation->r_info) != R_X86_64_IRELATIVE)
		return dynamic_symbol(file, ELF64_R_SYM(relocation->r_info));
	/* A function chosen at start, of the file itself: its chooser has its name. */
	GElf_Off offset;
	GElf_Sym symbol;
	uint64_t address = (uint64_t)relocation->r_addend + file->bias;
	const char *name = dwfl_module_addrinfo(file->module, address, &offset, &symbol, NULL, NULL, NULL);
	return name && offset == 0 ? name : NULL;
}

/* The symbol whose address the dynamic linker puts into a GOT slot. */
static const char *symbol_of_slot(struct module_file *file, const char *table_name, uint64_t slot)
{
	struct elf_bytes table = elf_file_section(file->bytes, table_name);
	for (size_t at = 0; at + sizeof(Elf64_Rela) <= table.size; at += sizeof(Elf64_Rela)) {
		Elf64_Rela relocation;
		memcpy(&relocation, table.bytes + at, sizeof(relocation));
		if (relocation.r_offset == slot)
			return relocation_symbol(file, &relocation);
	}
	return NULL;
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

/*
 * A stub, after an optional endbr64 and bnd prefix, is either
 *	ff 25 disp32   jmp *slot(%rip)
 * or, if the jump stands in .plt.sec,
 *	68 imm32       push $index of its relocation
 */
static const char *symbol_of_stub(struct module_file *file, const uint8_t *stub, size_t size, uint64_t address)
{
	for (size_t at = 0; at + 6 <= size; at++) {
		uint32_t operand;
		if (stub[at] == 0xff && stub[at + 1] == 0x25) {
			memcpy(&operand, stub + at + 2, sizeof(operand));
			uint64_t slot = address + at + 6 + (uint64_t)(int64_t)(int32_t)operand;
			const char *symbol = symbol_of_slot(file, ".rela.plt", slot);
			return symbol ? symbol : symbol_of_slot(file, ".rela.dyn", slot);
		}
		if (stub[at] == 0x68 && (at == 0 || at == 4)) {
			memcpy(&operand, stub + at + 1, sizeof(operand));
			return symbol_of_index(file, operand);
		}
	}
	return NULL;
}

bool plt_find(struct module_file *file, uint64_t address, const char **symbol)
{
	static const char *const names[] = { ".plt", ".plt.sec", ".plt.got", ".iplt" };
	*symbol = NULL;
	for (size_t i = 0; file->bytes && i < sizeof(names) / sizeof(names[0]); i++) {
		struct elf_bytes section = elf_file_section(file->bytes, names[i]);
		if (!in_section(&section, address))
			continue;
		size_t bytes = stub_bytes(names[i], &section);
		size_t at = (size_t)(address - section.address) / bytes * bytes;
		size_t left = section.size - at < bytes ? section.size - at : bytes;
		*symbol = symbol_of_stub(file, section.bytes + at, left, section.address + at);
		return true;
	}
	return false;
}
