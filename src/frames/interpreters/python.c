/* CPython: its version and layout, from what the file exports, and its tables of lines. */
#include <string.h>

#include "frames/interpreters/interpreters.h"

/* Py_Version: 0x030b02f0 is 3.11.2 final. The layouts of a minor version do not change after its release, but for what the file itself states. */
enum { MINOR_SHIFT = 16, FIRST_THAT_STATES = 0x030d };

/* The beginning of _PyRuntime from 3.13 on (_Py_DebugOffsets): offsets of the structures that are in no public header. */
struct stated_offsets {
	char cookie[8];
	uint64_t version, is_free_threaded;
	struct {
		uint64_t size, finalizing, interpreters;
	} runtime;
	struct {
		uint64_t size, id, next, threads, others[9];
	} interpreter;
	struct {
		uint64_t size, previous, next, interpreter, frame, thread_id, native_id;
	} thread;
};

/* The offsets that the known versions have in common. */
#define COMMON                                                                                                        \
	.thread_next = 8, .frame_bytes = 80, .frame_instruction = 56, .code_bytes = 144, .object_type = 8,            \
	.code_file = 112, .code_name = 128, .code_table = 136, .text_length = 16, .text_state = 32, .bytes_size = 16, \
	.bytes_content = 32

/* The offsets are the values of offsetof() in the headers of the version (Include/internal). */
static const struct {
	uint32_t minor; /* 0x030b: 3.11 */
	struct python_layout layout;
} layouts[] = {
	{ 0x030b,
	  { COMMON, .runtime_interpreters = 40, .interpreter_next = 0, .interpreter_threads = 16, .thread_id = 160,
	    .thread_cframe = 56, .cframe_current = 8, .cframe_previous = 16, .frame_code = 32, .frame_previous = 48,
	    .frame_is_entry = 68, .code_first_line = 72, .code_instructions = 184, .text_ascii = 48,
	    .text_other = 72 } },
	{ 0x030c,
	  { COMMON, .runtime_interpreters = 40, .interpreter_next = 0, .interpreter_threads = 72, .thread_id = 144,
	    .thread_cframe = 56, .cframe_current = 0, .cframe_previous = 8, .frame_code = 0, .frame_previous = 8,
	    .frame_owner = 70, .code_first_line = 68, .code_instructions = 192, .text_ascii = 40, .text_other = 56 } },
	{ 0x030d,
	  { COMMON, .runtime_interpreters = 632, .interpreter_next = 7264, .interpreter_threads = 7344,
	    .thread_id = 160, .thread_frame = 72, .frame_code = 0, .frame_previous = 8, .frame_owner = 70,
	    .code_first_line = 68, .code_instructions = 200, .text_ascii = 40, .text_other = 56 } },
};

const struct python_layout *interpreters_python_layout(uint32_t version)
{
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		if (layouts[i].minor == version >> MINOR_SHIFT)
			return &layouts[i].layout;
	return NULL;
}

/* Replaces the offsets that the file states. Returns whether it states those of a layout like that one. */
static bool take_stated(struct elf_file *file, uint64_t runtime, struct python_layout *layout)
{
	static const char cookie[] = "xdebugpy";
	struct stated_offsets stated = { 0 };
	if (!elf_file_copy(file, runtime, &stated, sizeof(stated)) ||
	    memcmp(stated.cookie, cookie, sizeof(stated.cookie)) != 0 || stated.is_free_threaded)
		return false;
	const struct {
		uint64_t from;
		uint16_t *to;
	} rows[] = {
		{ stated.runtime.interpreters, &layout->runtime_interpreters },
		{ stated.interpreter.next, &layout->interpreter_next },
		{ stated.interpreter.threads, &layout->interpreter_threads },
		{ stated.thread.next, &layout->thread_next },
		{ stated.thread.native_id, &layout->thread_id },
		{ stated.thread.frame, &layout->thread_frame },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].from > UINT16_MAX)
			return false;
		*rows[i].to = (uint16_t)rows[i].from;
	}
	return layout->thread_frame != 0;
}

static bool describe(struct elf_file *file, const struct dynamic_symbols *symbols, struct interpreter *interpreter,
		     uint32_t *version)
{
	struct dynamic_symbol runtime, code_type, at;
	uint64_t value = 0;
	/* Before 3.11 there is no Py_Version. */
	if (dynamic_symbols_find(symbols, "Py_Version", &at))
		elf_file_copy(file, at.address, &value, sizeof(value));
	*version = (uint32_t)value;
	if (!dynamic_symbols_find(symbols, "_PyRuntime", &runtime) ||
	    !dynamic_symbols_find(symbols, "PyCode_Type", &code_type))
		return false;
	const struct python_layout *layout = interpreters_python_layout(*version);
	if (!layout)
		return false;
	interpreter->runtime = runtime.address;
	interpreter->code_type = code_type.address;
	interpreter->python = *layout;
	return *version >> MINOR_SHIFT < FIRST_THAT_STATES || take_stated(file, runtime.address, &interpreter->python);
}

/* --- tables of lines ---
 *
 * Since 3.11 (Objects/locations.md in its sources): entries of one byte, which has bit 7 set, a code, and how many
 * instructions the entry covers; then bytes with bit 7 clear, which a code may have. */

enum {
	ENTRY = 0x80,
	CODE_SHIFT = 3,
	CODE_MASK = 15,
	COUNT_MASK = 7,
	INSTRUCTION_BYTES = 2,
	CODE_ONE_LINE = 10, /* and 11, 12: the line grows by 0, 1, 2 */
	CODE_NO_COLUMNS = 13,
	CODE_LONG = 14,
	CODE_NONE = 15,
};

/* Reads a number of groups of 6 bits, the lowest first; bit 6 marks that another one follows. */
static uint32_t read_number(const uint8_t *table, size_t bytes, size_t *at)
{
	enum { MORE = 0x40, GROUP_BITS = 6, GROUP_MASK = 0x3f, LAST_SHIFT = 30 };
	uint32_t value = 0;
	for (uint32_t shift = 0; *at < bytes && !(table[*at] & ENTRY) && shift <= LAST_SHIFT; shift += GROUP_BITS) {
		uint8_t byte = table[(*at)++];
		value |= (uint32_t)(byte & GROUP_MASK) << shift;
		if (!(byte & MORE))
			break;
	}
	return value;
}

/* A number with its sign in the lowest bit. */
static uint32_t read_signed(const uint8_t *table, size_t bytes, size_t *at)
{
	uint32_t value = read_number(table, bytes, at);
	return value & 1 ? 0 - (value >> 1) : value >> 1;
}

/* Returns the line that executes at a place. Lines are numbers modulo 2^32, as the table adds and subtracts them. */
static uint32_t line_at(const uint8_t *table, size_t bytes, uint32_t first_line, uint32_t place)
{
	uint32_t line = first_line;
	uint64_t end = 0;
	for (size_t at = 0; at < bytes;) {
		uint8_t head = table[at++];
		if (!(head & ENTRY))
			return 0;
		uint32_t code = head >> CODE_SHIFT & CODE_MASK;
		if (code == CODE_NO_COLUMNS || code == CODE_LONG)
			line += read_signed(table, bytes, &at);
		else if (code >= CODE_ONE_LINE && code < CODE_NO_COLUMNS)
			line += code - CODE_ONE_LINE;
		end += ((head & COUNT_MASK) + UINT64_C(1)) * INSTRUCTION_BYTES;
		if (place < end)
			return code == CODE_NONE ? 0 : line;
		while (at < bytes && !(table[at] & ENTRY))
			at++;
	}
	return 0;
}

const struct interpreter_row interpreter_python = {
	.kind = INTERPRETER_PYTHON,
	.language = "Python",
	.file = "python",
	.symbol = "_PyEval_EvalFrameDefault",
	.describe = describe,
	.line_at = line_at,
};
