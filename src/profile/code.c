#include "profile/code.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"

int code_list_init(struct code_list *list)
{
	*list = (struct code_list){ 0 };
	return strings_init(&list->texts);
}

void code_list_release(struct code_list *list)
{
	free(list->ranges);
	free(list->instructions);
	strings_release(&list->texts);
	*list = (struct code_list){ 0 };
}

size_t code_list_range(const struct code_list *list, uint32_t module, uint64_t address)
{
	for (size_t i = 0; i < list->range_count; i++) {
		const struct code_range *range = &list->ranges[i];
		if (range->module == module && range->start <= address && address < range->end)
			return i;
	}
	return SIZE_MAX;
}

size_t code_list_find(const struct code_list *list, uint32_t module, uint64_t address)
{
	size_t range = code_list_range(list, module, address);
	if (range == SIZE_MAX)
		return SIZE_MAX;
	size_t low = list->ranges[range].first, high = low + list->ranges[range].count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		if (list->instructions[middle].address <= address)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* --- as bytes --- */

enum code_flag { CODE_REACHED = 1, CODE_LEAVES = 2 };

/* Sets *kept to the list's copy of the next text, or to NULL if it is empty. */
static int read_text(struct code_list *list, struct cursor *bytes, const char **kept)
{
	const char *text = cursor_string(bytes);
	*kept = NULL;
	if (!text || !text[0])
		return 0;
	int64_t id = strings_add(&list->texts, text, strlen(text));
	if (id < 0)
		return (int)id;
	*kept = strings_get(&list->texts, (uint32_t)id);
	return 0;
}

static int read_instruction(struct code_list *list, struct cursor *bytes, uint64_t address, uint64_t end)
{
	struct code_instruction instruction = { .address = address, .bytes = cursor_u8(bytes) };
	uint8_t flags = cursor_u8(bytes);
	instruction.is_reached = flags & CODE_REACHED;
	instruction.leaves_range = flags & CODE_LEAVES;
	instruction.target = cursor_u64(bytes);
	instruction.line = cursor_u32(bytes);
	int status = read_text(list, bytes, &instruction.text);
	if (status == 0)
		status = read_text(list, bytes, &instruction.file);
	if (status == 0)
		status = read_text(list, bytes, &instruction.callee);
	if (status < 0)
		return status;
	if (bytes->failed || !instruction.text || instruction.bytes == 0 || instruction.bytes > end - address)
		return ERROR_CORRUPT;
	if (ARRAY_RESERVE(list->instructions, list->capacity, list->count + 1) < 0)
		return ERROR_MEMORY;
	list->instructions[list->count++] = instruction;
	return 0;
}

static int read_range(struct code_list *list, uint32_t module, struct cursor *bytes)
{
	struct code_range range = { .module = module, .first = list->count };
	range.start = cursor_u64(bytes);
	range.end = cursor_u64(bytes);
	range.count = cursor_u32(bytes);
	const struct code_range *before = list->range_count ? &list->ranges[list->range_count - 1] : NULL;
	if (bytes->failed || range.start >= range.end || range.count == 0 ||
	    (before && before->module == module && range.start < before->end))
		return ERROR_CORRUPT;
	uint64_t address = range.start;
	for (size_t i = 0; i < range.count; i++) {
		int status = address < range.end ? read_instruction(list, bytes, address, range.end) : ERROR_CORRUPT;
		if (status < 0)
			return status;
		address += list->instructions[list->count - 1].bytes;
	}
	if (address != range.end)
		return ERROR_CORRUPT;
	if (ARRAY_RESERVE(list->ranges, list->range_capacity, list->range_count + 1) < 0)
		return ERROR_MEMORY;
	list->ranges[list->range_count++] = range;
	return 0;
}

int code_list_read(struct code_list *list, uint32_t module, struct cursor bytes)
{
	const size_t ranges = list->range_count, instructions = list->count;
	uint32_t count = cursor_u32(&bytes);
	int status = 0;
	for (uint32_t i = 0; i < count && status == 0; i++)
		status = read_range(list, module, &bytes);
	if (status == 0 && (bytes.failed || cursor_left(&bytes)))
		status = ERROR_CORRUPT;
	if (status < 0) {
		list->range_count = ranges;
		list->count = instructions;
	}
	return status;
}

static void write_text(struct buffer *bytes, const char *text)
{
	if (text)
		buffer_append_string(bytes, text);
	buffer_append_byte(bytes, 0);
}

void code_range_write(struct buffer *bytes, uint64_t start, uint64_t end, uint32_t count)
{
	buffer_append(bytes, &start, sizeof(start));
	buffer_append(bytes, &end, sizeof(end));
	buffer_append(bytes, &count, sizeof(count));
}

void code_instruction_write(struct buffer *bytes, const struct code_instruction *instruction)
{
	buffer_append_byte(bytes, (uint8_t)instruction->bytes);
	buffer_append_byte(bytes, (uint8_t)((instruction->is_reached ? CODE_REACHED : 0) |
					    (instruction->leaves_range ? CODE_LEAVES : 0)));
	buffer_append(bytes, &instruction->target, sizeof(instruction->target));
	buffer_append(bytes, &instruction->line, sizeof(instruction->line));
	write_text(bytes, instruction->text);
	write_text(bytes, instruction->file);
	write_text(bytes, instruction->callee);
}

void code_list_write_range(struct buffer *bytes, const struct code_list *list, size_t range)
{
	const struct code_range *of = &list->ranges[range];
	code_range_write(bytes, of->start, of->end, (uint32_t)of->count);
	for (size_t i = of->first; i < of->first + of->count; i++)
		code_instruction_write(bytes, &list->instructions[i]);
}
