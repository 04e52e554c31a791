#include "support/tiny_go.h"

#include <stdbool.h>
#include <string.h>

#include "support/tiny_elf.h"

enum { WORD = 8, PAIRS = 3 };

static const struct function {
	const char *name;
	uint32_t start;
	bool is_outermost;
	uint32_t file;
	/* value and bytes; 0 bytes: the end */
	struct pair {
		int32_t value, bytes;
	} stack[PAIRS], lines[PAIRS];
} functions[TINY_GO_FUNCTIONS] = {
	{ "main.work", 0, false, 1, { { 0, 4 }, { 24, 0x38 }, { 0, 4 } }, { { 10, 0x10 }, { 12, 0x30 } } },
	{ "main.main", 0x40, false, 0, { { 8, 0x20 } }, { { 20, 0x20 } } },
	{ "runtime.goexit", 0x60, true, 0, { { 0, 0x10 } }, { { 0 } } },
};
enum { CODE_END = 0x70 };

static void append_word(struct buffer *table, uint64_t value, size_t bytes)
{
	buffer_append(table, &value, bytes);
}

static void set_word(struct buffer *table, size_t at, uint64_t value)
{
	memcpy(table->bytes + at, &value, sizeof(value));
}

/* Returns the offset of the values from `base`, or 0 if there are none. */
static uint32_t append_values(struct buffer *table, size_t base, const struct pair *pairs)
{
	size_t at = table->size;
	int32_t before = -1;
	if (pairs[0].bytes == 0)
		return 0;
	for (size_t i = 0; i < PAIRS && pairs[i].bytes; i++) {
		buffer_append_varint_signed(table, pairs[i].value - before);
		buffer_append_varint(table, (uint64_t)pairs[i].bytes);
		before = pairs[i].value;
	}
	buffer_append_byte(table, 0);
	return (uint32_t)(at - base);
}

static void append_record(struct buffer *table, uint32_t magic, uint32_t name, const struct function *function,
			  const uint32_t offsets[3])
{
	append_word(table, magic == 0xfffffffa ? TINY_CODE + function->start : function->start,
		    magic == 0xfffffffa ? WORD : sizeof(uint32_t));
	append_word(table, name, sizeof(uint32_t));
	append_word(table, 0, WORD);
	buffer_append(table, offsets, 3 * sizeof(*offsets));
	append_word(table, 0, WORD); /* the number of other tables, and the unit */
	if (magic == 0xfffffff1)
		append_word(table, 1, sizeof(uint32_t));
	buffer_append_byte(table, 0);
	buffer_append_byte(table, function->is_outermost);
	append_word(table, 0, 2);
}

void tiny_go(struct buffer *table, uint32_t magic, uint64_t first_code, struct tiny_go_offsets *offsets)
{
	struct tiny_go_offsets own = { 0 };
	size_t start = table->size, entry = magic == 0xfffffffa ? WORD : sizeof(uint32_t);
	uint32_t names[TINY_GO_FUNCTIONS], values[TINY_GO_FUNCTIONS][3];
	append_word(table, magic, sizeof(uint32_t));
	append_word(table, UINT32_C(0x08010000), sizeof(uint32_t));
	append_word(table, TINY_GO_FUNCTIONS, WORD);
	append_word(table, 2, WORD);
	if (magic != 0xfffffffa)
		append_word(table, first_code, WORD);
	size_t places = table->size;
	for (size_t i = 0; i < 5; i++)
		append_word(table, 0, WORD);
	own.names = table->size;
	for (size_t i = 0; i < TINY_GO_FUNCTIONS; i++) {
		names[i] = (uint32_t)(table->size - own.names);
		buffer_append(table, functions[i].name, strlen(functions[i].name) + 1);
	}
	own.files = table->size;
	static const char files[] = "/src/other.go\0/src/main.go";
	buffer_append(table, files, sizeof(files));
	own.units = table->size;
	append_word(table, 0, sizeof(uint32_t));
	append_word(table, sizeof("/src/other.go"), sizeof(uint32_t));
	own.values = table->size;
	buffer_append_byte(table, 0); /* so that no offset of values is 0 */
	for (size_t i = 0; i < TINY_GO_FUNCTIONS; i++) {
		const struct pair file[PAIRS] = { { (int32_t)functions[i].file,
						    functions[i].lines[0].bytes ? 0x40 : 0 } };
		values[i][0] = append_values(table, own.values, functions[i].stack);
		values[i][1] = append_values(table, own.values, file);
		values[i][2] = append_values(table, own.values, functions[i].lines);
	}
	own.functions = table->size;
	size_t record_bytes = entry + 36 + (magic == 0xfffffff1 ? 4 : 0);
	size_t first_record = (2 * TINY_GO_FUNCTIONS + 1) * entry;
	for (size_t i = 0; i < TINY_GO_FUNCTIONS; i++) {
		append_word(table, (magic == 0xfffffffa ? TINY_CODE : 0) + functions[i].start, entry);
		append_word(table, first_record + i * record_bytes, entry);
	}
	append_word(table, (magic == 0xfffffffa ? TINY_CODE : 0) + CODE_END, entry);
	for (size_t i = 0; i < TINY_GO_FUNCTIONS; i++) {
		own.records[i] = table->size;
		append_record(table, magic, names[i], &functions[i], values[i]);
	}
	const size_t found[] = { own.names, own.units, own.files, own.values, own.functions };
	for (size_t i = 0; i < 5; i++)
		set_word(table, places + i * WORD, found[i] - start);
	if (offsets)
		*offsets = own;
}
