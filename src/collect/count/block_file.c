#include "collect/count/block_lines.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "frames/jail/once.h"

/*
 * The request: u32 bytes of the build-id | build-id | each: struct flow_count
 * The answer:  each: u64 address | u64 count | u8 is_entry
 */

static int write_lines(struct module_file *file, struct cursor *request, struct buffer *answer)
{
	struct block_lines lines;
	size_t count = cursor_left(request) / sizeof(struct flow_count);
	/* A copy is aligned. */
	struct flow_count *counts = calloc(count + 1, sizeof(*counts));
	if (!counts)
		return ERROR_MEMORY;
	if (count)
		memcpy(counts, request->next, count * sizeof(*counts));
	int status = block_lines_read(&lines, file, counts, count);
	for (size_t i = 0; i < lines.count; i++) {
		buffer_append(answer, &lines.lines[i].address, sizeof(uint64_t));
		buffer_append(answer, &lines.lines[i].count, sizeof(uint64_t));
		buffer_append_byte(answer, lines.lines[i].is_entry);
	}
	block_lines_release(&lines);
	free(counts);
	return status;
}

static int run(void *context, struct jail_input *input, struct buffer *answer, struct error *error)
{
	struct module_file file;
	(void)context;
	uint32_t id_bytes = cursor_u32(&input->request);
	const uint8_t *id = cursor_bytes(&input->request, id_bytes);
	int status = module_file_open(&file, input->fd, input->path, error);
	if (status < 0)
		return status;
	if (id_bytes == 0 || !module_file_is_another(&file, id, id_bytes))
		status = write_lines(&file, &input->request, answer);
	module_file_close(&file);
	return status < 0 ? error_set(error, status, "%s: %s", input->path, error_text(status)) : 0;
}

static const struct jail_task task = { .doing = "counting the lines of", .run = run };

static int read_lines(struct cursor *answer, struct block_lines *lines)
{
	enum { LINE_BYTES = 17 };
	size_t count = cursor_left(answer) / LINE_BYTES;
	if (cursor_left(answer) % LINE_BYTES != 0)
		return ERROR_CORRUPT;
	lines->lines = calloc(count + 1, sizeof(*lines->lines));
	if (!lines->lines)
		return ERROR_MEMORY;
	for (; lines->count < count; lines->count++) {
		struct block_line *line = &lines->lines[lines->count];
		line->address = cursor_u64(answer);
		line->count = cursor_u64(answer);
		line->is_entry = cursor_u8(answer);
	}
	return 0;
}

/* Returns whether an error means that the jail, not the file, is the reason, or that the file exceeds a limit. */
static bool is_reported(int status)
{
	return status == ERROR_MEMORY || status == ERROR_LIMIT || status == ERROR_CORRUPT ||
	       status == ERROR_UNSUPPORTED;
}

int block_file_lines(struct block_lines *lines, int fd, const char *path, const struct profile_module *module,
		     const struct flow_count *counts, size_t count, struct error *error)
{
	struct buffer request, answer;
	const uint32_t id_bytes = module->build_id_bytes;
	*lines = (struct block_lines){ 0 };
	buffer_init(&request);
	buffer_init(&answer);
	buffer_append(&request, &id_bytes, sizeof(id_bytes));
	buffer_append(&request, module->build_id, id_bytes);
	buffer_append(&request, counts, count * sizeof(*counts));
	int status = fd < 0 ? ERROR_NOT_FOUND : jail_run_on(&task, fd, path, &request, NULL, &answer, error);
	if (status == 0) {
		struct cursor cursor = cursor_over(answer.bytes, answer.size);
		status = read_lines(&cursor, lines);
		if (status == ERROR_MEMORY)
			error_set(error, status, "out of memory");
		else if (status < 0)
			jail_refuse_answer(&task, path, error);
	}
	buffer_release(&request);
	buffer_release(&answer);
	return is_reported(status) ? status : 0;
}
