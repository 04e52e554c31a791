/* The table of functions of Go programs, in its three layouts, whole and damaged. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "elf/go_table.h"
#include "support/tiny_elf.h"
#include "support/tiny_go.h"

static const uint32_t magics[] = { 0xfffffffa, 0xfffffff0, 0xfffffff1 };
enum { MAGICS = sizeof(magics) / sizeof(magics[0]) };

static struct elf_bytes whole(const struct buffer *bytes)
{
	return (struct elf_bytes){ .bytes = bytes->bytes, .size = bytes->size };
}

static void reads_each_layout(void **state)
{
	(void)state;
	static const struct {
		uint32_t offset, line;
		const char *name, *file;
	} places[] = {
		{ 0, 10, "main.work", "/src/main.go" },     { 0xf, 10, "main.work", "/src/main.go" },
		{ 0x10, 12, "main.work", "/src/main.go" },  { 0x3f, 12, "main.work", "/src/main.go" },
		{ 0x40, 20, "main.main", "/src/other.go" }, { 0x5f, 20, "main.main", "/src/other.go" },
		{ 0x60, 0, "runtime.goexit", NULL },        { 0x6f, 0, "runtime.goexit", NULL },
	};
	for (size_t m = 0; m < MAGICS; m++) {
		struct buffer bytes;
		struct go_table table;
		struct go_function function;
		buffer_init(&bytes);
		tiny_go(&bytes, magics[m], TINY_CODE, NULL);
		assert_true(go_table_read(&table, whole(&bytes)));
		assert_int_equal(table.count, TINY_GO_FUNCTIONS);
		for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
			const char *file;
			uint32_t line;
			assert_true(go_table_find(&table, TINY_CODE + places[i].offset, &function));
			assert_string_equal(go_table_name(&table, &function), places[i].name);
			assert_int_equal(function.is_outermost, places[i].offset >= 0x60);
			go_table_place(&table, &function, TINY_CODE + places[i].offset, &file, &line);
			assert_int_equal(line, places[i].line);
			if (places[i].file)
				assert_string_equal(file, places[i].file);
			else
				assert_null(file);
		}
		assert_false(go_table_find(&table, TINY_CODE - 1, &function));
		assert_false(go_table_find(&table, TINY_CODE + 0x70, &function));
		assert_false(go_table_function(&table, TINY_GO_FUNCTIONS, &function));
		buffer_release(&bytes);
	}
}

static void reads_values(void **state)
{
	(void)state;
	struct buffer bytes;
	struct go_table table;
	struct go_function function;
	static const struct {
		uint32_t start, end;
		int32_t value;
	} expected[] = { { 0, 4, 0 }, { 4, 0x3c, 24 }, { 0x3c, 0x40, 0 } };
	buffer_init(&bytes);
	tiny_go(&bytes, magics[2], TINY_CODE, NULL);
	assert_true(go_table_read(&table, whole(&bytes)));
	assert_true(go_table_function(&table, 0, &function));
	struct go_values values = go_values_of(&table, &function, function.stack);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
		assert_true(go_values_next(&values));
		assert_int_equal(values.start, TINY_CODE + expected[i].start);
		assert_int_equal(values.end, TINY_CODE + expected[i].end);
		assert_int_equal(values.value, expected[i].value);
	}
	assert_false(go_values_next(&values));
	values = go_values_of(&table, &function, 0);
	assert_false(go_values_next(&values));
	buffer_release(&bytes);
}

/* Each byte is changed, and the table ends at each size: the result may be anything that is inside of the table. */
static void survives_damage(void **state)
{
	(void)state;
	static const uint8_t changes[] = { 0, 1, 0x7f, 0x80, 0xff };
	for (size_t m = 0; m < MAGICS; m++) {
		struct buffer bytes;
		buffer_init(&bytes);
		tiny_go(&bytes, magics[m], TINY_CODE, NULL);
		for (size_t at = 0; at < bytes.size * sizeof(changes) + bytes.size; at++) {
			size_t size = at < bytes.size ? at : bytes.size;
			/* An allocation of this size: the sanitizers notice a read behind it. */
			uint8_t *copy = malloc(size + !size);
			assert_non_null(copy);
			struct go_table table;
			struct go_function function;
			memcpy(copy, bytes.bytes, size);
			if (at >= bytes.size)
				copy[(at - bytes.size) % bytes.size] = changes[(at - bytes.size) / bytes.size];
			if (go_table_read(&table, (struct elf_bytes){ .bytes = copy, .size = size }))
				for (uint64_t i = 0; i < table.count && i < TINY_GO_FUNCTIONS + 1; i++) {
					const char *file;
					uint32_t line;
					if (!go_table_function(&table, i, &function))
						continue;
					const char *name = go_table_name(&table, &function);
					assert_true(!name || memchr(name, 0, (size_t)(copy + size - (uint8_t *)name)));
					go_table_place(&table, &function, function.end - 1, &file, &line);
					assert_true(!file || memchr(file, 0, (size_t)(copy + size - (uint8_t *)file)));
				}
			free(copy);
		}
		buffer_release(&bytes);
	}
}

static void refuses_other_tables(void **state)
{
	(void)state;
	struct tiny_go_offsets offsets;
	struct buffer bytes;
	struct go_table table;
	struct go_function function;
	buffer_init(&bytes);
	tiny_go(&bytes, magics[2], TINY_CODE, &offsets);
	static const struct {
		size_t at;
		uint8_t value;
	} changes[] = { { 0, 0xf2 }, { 3, 0 }, { 4, 1 }, { 5, 1 },  { 6, 3 },
			{ 7, 4 },    { 8, 0 }, { 9, 1 }, { 34, 1 }, { 66, 1 } };
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		uint8_t before = bytes.bytes[changes[i].at];
		bytes.bytes[changes[i].at] = changes[i].value;
		assert_false(go_table_read(&table, whole(&bytes)));
		bytes.bytes[changes[i].at] = before;
	}
	assert_true(go_table_read(&table, whole(&bytes)));
	/* A function without a name, or whose end is not behind its start. */
	bytes.bytes[offsets.names] = 0;
	assert_true(go_table_function(&table, 0, &function));
	assert_null(go_table_name(&table, &function));
	assert_true(go_table_function(&table, 1, &function));
	bytes.bytes[offsets.functions + 16] = 0x40;
	assert_false(go_table_function(&table, 1, &function));
	/* A step of no code ends the values: it would be repeated without end. */
	assert_true(go_table_function(&table, 2, &function));
	bytes.bytes[offsets.values + function.stack + 1] = 0;
	struct go_values values = go_values_of(&table, &function, function.stack);
	assert_false(go_values_next(&values));
	buffer_release(&bytes);
}

/* A text is searched for its end in 64 KB only: all functions of a forged table may have one long name. */
static void long_names_are_damage(void **state)
{
	(void)state;
	enum { MOST = 1 << 16 };
	struct buffer bytes;
	struct go_table table;
	struct go_function function;
	buffer_init(&bytes);
	tiny_go(&bytes, magics[2], TINY_CODE, NULL);
	size_t at = bytes.size;
	uint8_t *name = buffer_extend(&bytes, MOST + 1);
	assert_non_null(name);
	memset(name, 'a', MOST);
	name[MOST] = 0;
	assert_true(go_table_read(&table, whole(&bytes)));
	assert_true(go_table_function(&table, 0, &function));
	function.name = (uint32_t)(at - table.names);
	assert_null(go_table_name(&table, &function));
	function.name++;
	assert_int_equal(strlen(go_table_name(&table, &function)), MOST - 1);
	buffer_release(&bytes);
}

/* --- in a file --- */

static bool opens(uint32_t magic, uint64_t first_code, const char *section, struct go_table *table,
		  struct elf_file **file, struct buffer *image)
{
	struct buffer bytes;
	buffer_init(&bytes);
	buffer_init(image);
	tiny_go(&bytes, magic, first_code, NULL);
	const struct tiny_section other = { section, SHT_PROGBITS, bytes.bytes, bytes.size };
	tiny_elf_with_code(image, NULL, "\x90", 1, &other);
	buffer_release(&bytes);
	*file = elf_file_from_memory(image->bytes, image->size, "tiny", NULL);
	assert_non_null(*file);
	return go_table_open(table, *file);
}

static void finds_the_section(void **state)
{
	(void)state;
	static const struct {
		const char *section;
		uint64_t first_code;
		bool is_found;
	} cases[] = {
		{ ".gopclntab", TINY_CODE, true },
		{ ".data.rel.ro.gopclntab", TINY_CODE, true },
		{ ".data.rel.ro", TINY_CODE, false }, /* the file has no note of Go */
		{ ".gopclntab", 0, false },           /* neither a relocation nor .text has the first code */
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct go_table table;
		struct elf_file *file;
		struct buffer image;
		bool is_found = opens(magics[1], cases[i].first_code, cases[i].section, &table, &file, &image);
		assert_int_equal(is_found, cases[i].is_found);
		elf_file_free(file);
		buffer_release(&image);
	}
}

/* Opens a file with two tables in .data.rel.ro, whose headers have these addresses of the first code, and a relocation that
 * puts TINY_CODE to an offset of that section. */
static bool opens_first(const uint64_t first_codes[2], uint64_t relocated, bool has_note, uint64_t *first_code)
{
	struct go_table table;
	struct buffer data, image;
	buffer_init(&data);
	buffer_init(&image);
	for (size_t i = 0; i < 2; i++) {
		tiny_go(&data, magics[1], first_codes[i], NULL);
		while (data.size % sizeof(uint64_t))
			buffer_append_byte(&data, 0);
	}
	const Elf64_Rela relocations[] = { { .r_offset = relocated, .r_addend = TINY_CODE } };
	const struct tiny_section sections[] = {
		{ ".data.rel.ro", SHT_PROGBITS, data.bytes, data.size },
		{ ".rela.dyn", SHT_RELA, relocations, sizeof(relocations) },
		{ ".note.go.buildid", SHT_NOTE, "x", 1 },
	};
	tiny_elf_with_sections(&image, sections, has_note ? 3 : 2);
	struct elf_file *file = elf_file_from_memory(image.bytes, image.size, "tiny", NULL);
	assert_non_null(file);
	bool is_open = go_table_open(&table, file);
	*first_code = is_open ? table.first_code : 0;
	elf_file_free(file);
	buffer_release(&image);
	buffer_release(&data);
	return is_open;
}

/* The first header decides. A search that went on behind a header without a first code would read all relocations for each header. */
static void first_header_of_data_decides(void **state)
{
	(void)state;
	enum { FIRST_CODE_AT = 24 };
	uint64_t first_code;
	assert_true(opens_first((const uint64_t[]){ TINY_CODE, 0 }, 0, true, &first_code));
	assert_false(opens_first((const uint64_t[]){ TINY_CODE, 0 }, 0, false, &first_code));
	assert_true(opens_first((const uint64_t[]){ 0, 1 }, FIRST_CODE_AT, true, &first_code));
	assert_int_equal(first_code, TINY_CODE);
	assert_false(opens_first((const uint64_t[]){ 0, TINY_CODE }, 0, true, &first_code));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_each_layout),
		cmocka_unit_test(reads_values),
		cmocka_unit_test(survives_damage),
		cmocka_unit_test(refuses_other_tables),
		cmocka_unit_test(long_names_are_damage),
		cmocka_unit_test(finds_the_section),
		cmocka_unit_test(first_header_of_data_decides),
	};
	return cmocka_run_group_tests_name("go_table", tests, NULL, NULL);
}
