/* Which symbols begin functions in code without unwind information, and which names make a program one of GHC. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <string.h>

#include "support/tiny_table.h"

enum { CODE_BYTES = 16 };

static struct unwind_table *table_of(const uint8_t *code, const struct tiny_section *section)
{
	struct buffer eh_frame, bytes;
	buffer_init(&eh_frame);
	buffer_init(&bytes);
	size_t cie = tiny_cie(&eh_frame, true, "z", BYTES(0x0c, 7, 64, 0x90, 1));
	tiny_fde(&eh_frame, true, cie, TINY_BASE, TINY_CODE - TINY_BASE, BYTES(0));
	tiny_fde(&eh_frame, true, cie, TINY_CODE + CODE_BYTES, 0x10, BYTES(0));
	tiny_elf_with_code(&bytes, &eh_frame, code, CODE_BYTES, section);
	struct elf_file *file = elf_file_from_memory(bytes.bytes, bytes.size, "tiny", NULL);
	assert_non_null(file);
	struct unwind_table *table = unwind_table_new(file, NULL);
	assert_non_null(table);
	elf_file_free(file);
	buffer_release(&bytes);
	buffer_release(&eh_frame);
	return table;
}

/* Returns a character for each byte of code: `s` if its row is sp+8, `.` if it has none. */
static const char *kinds_of(const uint8_t *code, const struct tiny_section *section)
{
	static char text[CODE_BYTES + 1];
	struct unwind_table *table = table_of(code, section);
	for (uint64_t at = 0; at < CODE_BYTES; at++) {
		const struct unwind_row *row = unwind_table_row(table, TINY_CODE + at);
		text[at] = row->kind == UNWIND_SP && row->cfa == 1 ? 's' : row->kind == UNWIND_NO_RULE ? '.' : '?';
	}
	unwind_table_free(table);
	return text;
}

#define INFO(binding, type) ELF64_ST_INFO(STB_##binding, STT_##type)

/* At 0 and at 8: mov %eax,%eax; ret. */
static const uint8_t returns[CODE_BYTES] = { 0x89, 0xc0, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc,
					     0x89, 0xc0, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc };
/* At 0 and at 8: mov %eax,%eax; jmp *%rax, which leaves a function that is known. */
static const uint8_t jumps[CODE_BYTES] = { 0x89, 0xc0, 0xff, 0xe0, 0xcc, 0xcc, 0xcc, 0xcc,
					   0x89, 0xc0, 0xff, 0xe0, 0xcc, 0xcc, 0xcc, 0xcc };

static void functions_begin_at_symbols(void **state)
{
	(void)state;
	static const struct {
		const uint8_t *code;
		uint8_t info, second; /* of the symbols at 0 and 8; 0xff: the second does not exist */
		bool is_undefined;
		const char *kinds;
	} cases[] = {
		{ returns, INFO(GLOBAL, FUNC), 0xff, false, "sss............." },
		{ returns, INFO(LOCAL, FUNC), INFO(WEAK, FUNC), false, "sss.....sss....." },
		{ returns, INFO(GLOBAL, GNU_IFUNC), INFO(GLOBAL, OBJECT), false, "sss............." },
		{ returns, INFO(GLOBAL, OBJECT), INFO(LOCAL, NOTYPE), false, "................" },
		{ returns, INFO(GLOBAL, NOTYPE), INFO(WEAK, NOTYPE), false, "sss............." },
		{ returns, INFO(GLOBAL, NOTYPE), INFO(GLOBAL, NOTYPE), false, "sss.....sss....." },
		{ returns, INFO(GLOBAL, FUNC), INFO(GLOBAL, NOTYPE), true, "................" },
		{ jumps, INFO(GLOBAL, FUNC), INFO(GLOBAL, NOTYPE), false, "ssss............" },
		{ jumps, INFO(GLOBAL, NOTYPE), INFO(GLOBAL, FUNC), false, "........ssss...." },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (size_t cut = 0; cut < 2; cut++) {
			Elf64_Sym symbols[] = { { .st_info = cases[i].info, .st_value = TINY_CODE },
						{ .st_info = cases[i].second, .st_value = TINY_CODE + 8 } };
			symbols[0].st_shndx = symbols[1].st_shndx = cases[i].is_undefined ? SHN_UNDEF : SHN_ABS;
			size_t count = cases[i].second == 0xff ? 1 : 2;
			char kinds[CODE_BYTES + 1];
			memcpy(kinds, cases[i].kinds, sizeof(kinds));
			if (cut && count == 2) /* the last symbol is not whole */
				memset(kinds + 8, '.', 8);
			const struct tiny_section section = { ".symtab", SHT_SYMTAB, symbols,
							      count * sizeof(symbols[0]) - (count == 2 && cut) };
			assert_string_equal(kinds_of(cases[i].code, &section), kinds);
		}
}

/* Exported functions count, too: here it is known that one begins at 8. */
static void exported_functions_count(void **state)
{
	(void)state;
	const Elf64_Sym symbol = { .st_info = INFO(GLOBAL, FUNC), .st_shndx = SHN_ABS, .st_value = TINY_CODE + 8 };
	const struct tiny_section section = { ".dynsym", SHT_DYNSYM, &symbol, sizeof(symbol) };
	assert_string_equal(kinds_of(jumps, &section), "........ssss....");
}

/* The code behind the first symbol calls a function that the linear search for calls does not see: jmp over a byte; call; ret; jmp *%rax. */
static void called_functions_are_followed(void **state)
{
	(void)state;
	static const uint8_t code[CODE_BYTES] = { 0xeb, 1,    0xb8, 0xe8, 1,    0,    0,    0,
						  0xc3, 0xff, 0xe0, 0xcc, 0xcc, 0xcc, 0xcc, 0xcc };
	const Elf64_Sym symbol = { .st_info = INFO(GLOBAL, NOTYPE), .st_shndx = SHN_ABS, .st_value = TINY_CODE };
	const struct tiny_section section = { ".symtab", SHT_SYMTAB, &symbol, sizeof(symbol) };
	assert_string_equal(kinds_of(code, &section), "ss.ssssssss.....");
}

static void haskell_has_its_names(void **state)
{
	(void)state;
	static const struct {
		struct tiny_section section;
		bool is_haskell;
	} cases[] = {
		{ { ".dynstr", SHT_STRTAB, "\0stg_upd_frame_info", 20 }, true },
		{ { ".dynstr", SHT_STRTAB, "\0stg_upd_frame_info2", 21 }, false },
		{ { ".strtab", SHT_STRTAB, "\0stg_upd_frame_info", 20 }, false },
		{ { ".debug-ghc-link-info", SHT_PROGBITS, "x", 1 }, true },
		{ { ".comment", SHT_PROGBITS, "x", 1 }, false },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct unwind_table *table = table_of(returns, &cases[i].section);
		assert_int_equal(table->is_haskell, cases[i].is_haskell);
		unwind_table_free(table);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(functions_begin_at_symbols),
					    cmocka_unit_test(exported_functions_count),
					    cmocka_unit_test(called_functions_are_followed),
					    cmocka_unit_test(haskell_has_its_names) };
	return cmocka_run_group_tests_name("x86_64_code_symbols", tests, NULL, NULL);
}
