/*
 * The part of the disassembly that runs in the jail: the ranges of the functions, their bytes, the instructions as libcapstone decodes
 * them, their source lines, and the names of the functions that they call.
 */
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "arch/disassembler.h"
#include "base/array.h"
#include "base/quote.h"
#include "elf/elf_image.h"
#include "frames/code/capstone_calls.h"
#include "frames/code/disassembly.h"
#include "frames/native/line_rows.h"
#include "frames/native/module_file.h"
#include "frames/native/names.h"
#include "frames/native/plt.h"
#include "frames/native/symbols.h"

enum { RANGE_BYTES_MAX = 16 << 20 };

struct range {
	uint64_t start, end;
};

struct decoded {
	uint64_t address, target;
	size_t text; /* offset in decoder->texts */
	uint8_t bytes;
	bool is_reached, leaves_range;
};

struct decoder {
	struct module_file *file;
	int fd;
	const struct arch_disassembler *row;
	const struct capstone_calls *calls;
	csh capstone;
	struct range *ranges; /* owned */
	size_t range_count, range_capacity;
	struct decoded *items; /* owned: of the present range */
	size_t count, capacity;
	struct buffer texts;  /* of the present range */
	struct buffer callee; /* of the present instruction */
};

/* --- ranges --- */

/* Finds the function that contains an address: by its symbol or, in a file without symbols, in .eh_frame. */
static bool find_range(struct decoder *decoder, const struct symbol_match *match, uint64_t address, struct range *range)
{
	if (match->covering.name) {
		*range = (struct range){ match->covering.start, match->covering.start + match->covering.size };
		return true;
	}
	uint64_t start = module_file_function(decoder->file, address);
	if (start == 0)
		return false;
	*range = (struct range){ start, module_file_function_end(decoder->file, start + 1) };
	return address < range->end;
}

static int add_ranges(struct decoder *decoder, const uint64_t *addresses, size_t count, struct symbol_match *matches)
{
	int status = symbols_match(decoder->file, addresses, count, matches);
	for (size_t i = 0; i < count && status == 0; i++) {
		struct range range;
		uint64_t covered = decoder->range_count ? decoder->ranges[decoder->range_count - 1].end : 0;
		if (addresses[i] < covered || !find_range(decoder, &matches[i], addresses[i], &range))
			continue;
		/* Symbols may overlap; ranges may not. */
		if (range.start < covered)
			range.start = covered;
		status = ARRAY_RESERVE(decoder->ranges, decoder->range_capacity, decoder->range_count + 1);
		if (status == 0)
			decoder->ranges[decoder->range_count++] = range;
	}
	return status;
}

static int find_ranges(struct decoder *decoder, struct cursor *request)
{
	size_t count = cursor_left(request) / sizeof(uint64_t);
	uint64_t *addresses = calloc(count + 1, sizeof(*addresses));
	struct symbol_match *matches = calloc(count + 1, sizeof(*matches));
	int status = addresses && matches ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < count && status == 0; i++)
		addresses[i] = cursor_u64(request);
	if (status == 0)
		status = add_ranges(decoder, addresses, count, matches);
	free(addresses);
	free(matches);
	return status;
}

/* --- bytes --- */

/* Reads the bytes of a range, which the image of module_file.h leaves out. Returns false if the file does not have them. */
static bool read_bytes(struct decoder *decoder, const struct range *range, uint8_t *bytes)
{
	Elf *elf = module_file_elf(decoder->file);
	size_t count = 0, size = range->end - range->start;
	if (!elf || elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr part;
		if (!gelf_getphdr(elf, (int)i, &part) || part.p_type != PT_LOAD || range->start < part.p_vaddr)
			continue;
		uint64_t offset = range->start - part.p_vaddr;
		if (offset < part.p_filesz && size <= part.p_filesz - offset)
			return elf_image_read(decoder->fd, bytes, size, part.p_offset + offset) == size;
	}
	return false;
}

/* --- instructions --- */

static int add_item(struct decoder *decoder, const struct decoded *item)
{
	if (ARRAY_RESERVE(decoder->items, decoder->capacity, decoder->count + 1) < 0)
		return ERROR_MEMORY;
	decoder->items[decoder->count++] = *item;
	return 0;
}

static int add_instruction(struct decoder *decoder, const cs_insn *instruction, const struct range *range)
{
	struct decoded item = { .address = instruction->address,
				.bytes = (uint8_t)instruction->size,
				.text = decoder->texts.size };
	bool is_call = decoder->calls->insn_group(decoder->capstone, instruction, CS_GRP_CALL);
	bool is_jump = decoder->calls->insn_group(decoder->capstone, instruction, CS_GRP_JUMP);
	if ((is_call || is_jump) && decoder->row->target(instruction, &item.target) &&
	    (is_call || item.target < range->start || item.target >= range->end))
		item.leaves_range = true;
	buffer_append_string(&decoder->texts, instruction->mnemonic);
	if (instruction->op_str[0])
		buffer_append_byte(&decoder->texts, ' ');
	buffer_append_string(&decoder->texts, instruction->op_str);
	buffer_append_byte(&decoder->texts, 0);
	return add_item(decoder, &item);
}

/* Adds an instruction that libcapstone does not know, as its version 4 does not know newer processors: its bytes. */
static int add_unknown(struct decoder *decoder, const uint8_t *code, size_t bytes, uint64_t address)
{
	const struct decoded item = { .address = address, .bytes = (uint8_t)bytes, .text = decoder->texts.size };
	buffer_append_string(&decoder->texts, "(unknown)");
	for (size_t i = 0; i < bytes; i++)
		buffer_printf(&decoder->texts, " %02x", code[i]);
	buffer_append_byte(&decoder->texts, 0);
	return add_item(decoder, &item);
}

static int compare_addresses(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = ((const struct decoded *)right)->address;
	return (a > b) - (a < b);
}

static void mark_reached(struct decoder *decoder)
{
	for (size_t i = 0; i < decoder->count; i++) {
		uint64_t target = decoder->items[i].target;
		if (target == 0 || decoder->items[i].leaves_range)
			continue;
		struct decoded *reached =
			bsearch(&target, decoder->items, decoder->count, sizeof(*decoder->items), compare_addresses);
		if (reached)
			reached->is_reached = true;
	}
}

static int disassemble(struct decoder *decoder, const struct range *range, const uint8_t *bytes)
{
	size_t left = range->end - range->start;
	uint64_t address = range->start;
	cs_insn *instruction = decoder->calls->malloc(decoder->capstone);
	int status = instruction ? 0 : ERROR_MEMORY;
	decoder->count = 0;
	buffer_clear(&decoder->texts);
	while (status == 0 && left > 0) {
		if (decoder->calls->disasm_iter(decoder->capstone, &bytes, &left, &address, instruction)) {
			status = add_instruction(decoder, instruction, range);
			continue;
		}
		size_t length = decoder->row->length(bytes, left);
		status = add_unknown(decoder, bytes, length, address);
		bytes += length;
		left -= length;
		address += length;
	}
	if (instruction)
		decoder->calls->free(instruction, 1);
	if (status == 0)
		status = buffer_error(&decoder->texts);
	if (status == 0)
		mark_reached(decoder);
	return status;
}

/* --- callees --- */

/* The addresses that direct jumps and calls lead to outside of the range, with the symbols that cover them. */
struct callees {
	uint64_t *addresses;
	struct symbol_match *matches;
	size_t count;
};

static int by_value(const void *left, const void *right)
{
	const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
	return (a > b) - (a < b);
}

static int find_callees(struct decoder *decoder, struct callees *callees)
{
	*callees = (struct callees){ .addresses = calloc(decoder->count + 1, sizeof(uint64_t)),
				     .matches = calloc(decoder->count + 1, sizeof(struct symbol_match)) };
	if (!callees->addresses || !callees->matches)
		return ERROR_MEMORY;
	size_t all = 0;
	for (size_t i = 0; i < decoder->count; i++)
		if (decoder->items[i].leaves_range)
			callees->addresses[all++] = decoder->items[i].target;
	qsort(callees->addresses, all, sizeof(uint64_t), by_value);
	for (size_t i = 0; i < all; i++)
		if (i == 0 || callees->addresses[i] != callees->addresses[i - 1])
			callees->addresses[callees->count++] = callees->addresses[i];
	return symbols_match(decoder->file, callees->addresses, callees->count, callees->matches);
}

static void callees_release(struct callees *callees)
{
	free(callees->addresses);
	free(callees->matches);
}

/* Appends a symbol's name as reports show it. */
static void append_name(struct buffer *to, const char *symbol)
{
	char *base = strndup(symbol, name_base_length(symbol));
	char *readable = base ? name_demangle(base) : NULL;
	buffer_append_string(to, readable ? readable : base ? base : symbol);
	free(readable);
	free(base);
}

/* Sets decoder->callee to the name of the function that an instruction leads to; "": not known. */
static void name_callee(struct decoder *decoder, const struct callees *callees, const struct decoded *item)
{
	const char *symbol = NULL;
	const uint64_t *found = NULL;
	struct buffer *name = &decoder->callee;
	if (item->leaves_range)
		found = bsearch(&item->target, callees->addresses, callees->count, sizeof(uint64_t), by_value);
	const struct symbol_match *match = found ? &callees->matches[found - callees->addresses] : NULL;
	buffer_clear(name);
	if (match && match->covering.name) {
		append_name(name, match->covering.name);
		if (item->target > match->covering.start)
			buffer_printf(name, "+0x%llx", (unsigned long long)(item->target - match->covering.start));
	} else if (match && plt_find(decoder->file, item->target, &symbol) && symbol) {
		append_name(name, symbol);
		buffer_append_string(name, "@plt");
	} else if (match && match->nearest.name && match->nearest.start == item->target) {
		append_name(name, match->nearest.name);
	}
	buffer_append_byte(name, 0);
}

/* --- the answer --- */

static int write_instruction(struct decoder *decoder, const struct decoded *item, const struct line_rows *lines,
			     const struct callees *callees, struct buffer *answer)
{
	const struct line_row *row = line_rows_at(lines, item->address);
	name_callee(decoder, callees, item);
	if (buffer_error(&decoder->callee))
		return ERROR_MEMORY;
	code_instruction_write(answer, &(struct code_instruction){
					       .target = item->target,
					       .text = (const char *)decoder->texts.bytes + item->text,
					       .file = row ? row->file : NULL,
					       .callee = (const char *)decoder->callee.bytes,
					       .line = row ? row->line : 0,
					       .bytes = item->bytes,
					       .is_reached = item->is_reached,
					       .leaves_range = item->leaves_range,
				       });
	return 0;
}

static int write_range(struct decoder *decoder, const struct range *range, struct buffer *answer)
{
	struct line_rows lines;
	struct callees callees = { 0 };
	const struct decoded *last = &decoder->items[decoder->count - 1];
	int status = line_rows_read(&lines, decoder->file, range->start, range->end);
	if (status == 0)
		status = find_callees(decoder, &callees);
	code_range_write(answer, range->start, last->address + last->bytes, (uint32_t)decoder->count);
	for (size_t i = 0; i < decoder->count && status == 0; i++)
		status = write_instruction(decoder, &decoder->items[i], &lines, &callees, answer);
	callees_release(&callees);
	line_rows_release(&lines);
	return status;
}

static int write_ranges(struct decoder *decoder, struct buffer *answer, struct error *error)
{
	const uint32_t count = (uint32_t)decoder->range_count;
	int status = 0;
	buffer_append(answer, &count, sizeof(count));
	for (size_t i = 0; i < decoder->range_count && status == 0; i++) {
		const struct range *range = &decoder->ranges[i];
		size_t size = range->end - range->start;
		if (size > RANGE_BYTES_MAX)
			return error_set(error, ERROR_LIMIT, "it has %zu MB of code (limit %d MB)", size >> 20,
					 RANGE_BYTES_MAX >> 20);
		uint8_t *bytes = malloc(size);
		if (!bytes)
			return error_set(error, ERROR_MEMORY, "out of memory");
		if (!read_bytes(decoder, range, bytes))
			status = error_set(error, ERROR_CORRUPT, "the file does not have the bytes of its code");
		if (status == 0)
			status = disassemble(decoder, range, bytes);
		if (status == 0)
			status = write_range(decoder, range, answer);
		free(bytes);
	}
	return status;
}

/* --- the task --- */

static int open_capstone(struct decoder *decoder, struct error *error)
{
	GElf_Ehdr header;
	Elf *elf = module_file_elf(decoder->file);
	decoder->row = elf && gelf_getehdr(elf, &header) ? arch_disassembler(header.e_machine) : NULL;
	decoder->calls = capstone_calls();
	if (!decoder->calls)
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot disassemble: libcapstone is not installed (install libcapstone" CAPSTONE_MAJOR
				 ", or use another disassembler)");
	if (!decoder->row ||
	    decoder->calls->open(decoder->row->architecture, decoder->row->mode, &decoder->capstone) != CS_ERR_OK)
		return error_set(error, ERROR_UNSUPPORTED,
				 "libcapstone is not prepared for this file's processor (use another disassembler)");
	decoder->calls->option(decoder->capstone, CS_OPT_DETAIL, CS_OPT_ON);
	return 0;
}

static int decode_file(struct decoder *decoder, struct jail_input *input, struct buffer *answer, struct error *error)
{
	uint8_t id_bytes = cursor_u8(&input->request);
	const uint8_t *id = cursor_bytes(&input->request, id_bytes);
	if (!id || module_file_is_another(decoder->file, id, id_bytes))
		return error_set(error, ERROR_NOT_FOUND,
				 "%s has another build-id than the recorded file (restore that file, or record again)",
				 QUOTE(input->path));
	int status = open_capstone(decoder, error);
	if (status == 0)
		status = find_ranges(decoder, &input->request);
	if (status == 0 && decoder->range_count == 0)
		return error_set(
			error, ERROR_NOT_FOUND,
			"neither a symbol nor unwind information of %s gives the extent of its code (install its debug "
			"symbols)",
			QUOTE(input->path));
	return status ? status : write_ranges(decoder, answer, error);
}

static int run(void *context, struct jail_input *input, struct buffer *answer, struct error *error)
{
	struct module_file file;
	struct decoder decoder = { .file = &file, .fd = fcntl(input->fd, F_DUPFD_CLOEXEC, 0) };
	(void)context;
	int status = module_file_open(&file, input->fd, input->path, error);
	if (status < 0) {
		close(decoder.fd);
		return status;
	}
	buffer_init(&decoder.texts);
	buffer_init(&decoder.callee);
	status = decode_file(&decoder, input, answer, error);
	if (status < 0 && error->code == 0)
		error_set(error, status, "%s", error_text(status));
	if (decoder.capstone)
		decoder.calls->close(&decoder.capstone);
	buffer_release(&decoder.texts);
	buffer_release(&decoder.callee);
	free(decoder.items);
	free(decoder.ranges);
	module_file_close(&file);
	if (decoder.fd >= 0)
		close(decoder.fd);
	return status;
}

const struct jail_task disassembly_task = { .doing = "disassembling", .run = run };
