#include "collect/sample/probes/file_search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/sample/probes/allocator.h"
#include "collect/sample/probes/function_search.h"
#include "collect/sample/probes/points.h"
#include "frames/jail/once.h"

/* An integer and the rest of a request or an answer are as the other process has them: both are the same program. */
static void append_u32(struct buffer *buffer, uint32_t value)
{
	buffer_append(buffer, &value, sizeof(value));
}

static void append_text(struct buffer *buffer, const char *text)
{
	buffer_append(buffer, text, strlen(text) + 1);
}

/* Runs a task whose request is a number and a text. */
static int run(const struct jail_task *task, const char *path, uint32_t number, const char *text, struct buffer *answer,
	       struct error *error)
{
	struct buffer request;
	buffer_init(&request);
	buffer_init(answer);
	append_u32(&request, number);
	append_text(&request, text);
	int status = jail_run_once(task, path, &request, answer, error);
	buffer_release(&request);
	return status;
}

/* --- functions --- */

/* The answer: u8 is_exported | u8 is_indirect | each: u64 offset | u8 bytes | u8 is_signed */
static int write_functions(struct module_file *file, const char *name, int value, struct buffer *answer)
{
	struct function_matches matches;
	int status = function_search(file, name, value > 0, &matches);
	if (status < 0)
		return status;
	buffer_append_byte(answer, matches.is_exported);
	buffer_append_byte(answer, matches.is_indirect);
	for (size_t i = 0; i < matches.count && status == 0; i++) {
		struct value_type type = { 0 };
		if (value != FILE_SEARCH_NO_VALUE)
			status = value_type_find(file, matches.items[i].address, (unsigned)value, &type);
		buffer_append(answer, &matches.items[i].offset, sizeof(uint64_t));
		buffer_append_byte(answer, type.bytes);
		buffer_append_byte(answer, type.is_signed);
	}
	function_matches_release(&matches);
	return status;
}

static int run_functions(void *context, struct jail_input *input, struct buffer *answer, struct error *error)
{
	struct module_file file;
	(void)context;
	int value = (int)cursor_u32(&input->request);
	const char *name = cursor_string(&input->request);
	int status = module_file_open(&file, input->fd, input->path, error);
	if (status < 0)
		return status;
	status = write_functions(&file, name, value, answer);
	module_file_close(&file);
	return status < 0 ? error_memory(error) : 0;
}

static bool is_type(const struct value_type *type)
{
	static const uint8_t sizes[] = { 0, 1, 2, 4, 8 };
	return memchr(sizes, type->bytes, sizeof(sizes));
}

static int read_functions(struct cursor *answer, struct found_functions *found)
{
	enum { FUNCTION_BYTES = 10 };
	found->is_exported = cursor_u8(answer);
	found->is_indirect = cursor_u8(answer);
	size_t bytes = cursor_left(answer);
	if (answer->failed || bytes % FUNCTION_BYTES != 0)
		return ERROR_CORRUPT;
	found->items = calloc(bytes / FUNCTION_BYTES + 1, sizeof(*found->items));
	if (!found->items)
		return ERROR_MEMORY;
	while (cursor_left(answer) > 0) {
		struct found_function *function = &found->items[found->count++];
		function->offset = cursor_u64(answer);
		function->type.bytes = cursor_u8(answer);
		function->type.is_signed = cursor_u8(answer);
		if (!is_type(&function->type))
			return ERROR_CORRUPT;
	}
	return 0;
}

static const struct jail_task functions_task = { .doing = "searching functions in", .run = run_functions };

int file_search_functions(const char *path, const char *name, int value, struct found_functions *found,
			  struct error *error)
{
	struct buffer answer;
	*found = (struct found_functions){ 0 };
	int status = run(&functions_task, path, (uint32_t)value, name, &answer, error);
	if (status == 0) {
		struct cursor cursor = cursor_over(answer.bytes, answer.size);
		status = read_functions(&cursor, found);
		if (status < 0)
			found_functions_release(found);
		if (status == ERROR_MEMORY)
			error_memory(error);
		else if (status < 0)
			jail_refuse_answer(&functions_task, path, error);
	}
	buffer_release(&answer);
	return status;
}

void found_functions_release(struct found_functions *found)
{
	free(found->items);
	*found = (struct found_functions){ 0 };
}

/* --- similar names --- */

/* The answer: u8 is_stripped | each: name, NUL */
static int run_near(void *context, struct jail_input *input, struct buffer *answer, struct error *error)
{
	struct module_file file;
	struct near_names near;
	(void)context;
	cursor_u32(&input->request);
	near_names_init(&near, cursor_string(&input->request));
	int status = module_file_open(&file, input->fd, input->path, error);
	if (status < 0)
		return status;
	function_search_near(&file, &near);
	buffer_append_byte(answer, module_file_is_stripped(&file));
	for (size_t i = 0; i < near.count; i++)
		append_text(answer, near.names[i]);
	module_file_close(&file);
	return 0;
}

static const struct jail_task near_task = { .doing = "listing the functions of", .run = run_near };

int file_search_near(const char *path, struct near_names *near, bool *is_stripped, struct error *error)
{
	struct buffer answer;
	*is_stripped = false;
	int status = run(&near_task, path, 0, near->typed, &answer, error);
	struct cursor cursor = cursor_over(answer.bytes, answer.size);
	if (status == 0)
		*is_stripped = cursor_u8(&cursor);
	for (const char *name; status == 0 && cursor_left(&cursor) > 0 && (name = cursor_string(&cursor));)
		near_names_offer(near, name);
	if (status == 0 && cursor.failed)
		status = jail_refuse_answer(&near_task, path, error);
	buffer_release(&answer);
	return status;
}

/* --- the allocator --- */

static int run_allocator(void *context, struct jail_input *input, struct buffer *answer, struct error *error)
{
	struct module_file file;
	(void)context;
	int status = module_file_open(&file, input->fd, input->path, error);
	if (status < 0)
		return status;
	status = allocator_write(&file, answer);
	module_file_close(&file);
	return status < 0 ? error_memory(error) : 0;
}

static const struct jail_task allocator_task = { .doing = "searching the allocator in", .run = run_allocator };

int file_search_allocator(const char *path, bool bytes, struct probe_points *points, bool *found, struct error *error)
{
	struct buffer answer;
	*found = false;
	int status = run(&allocator_task, path, 0, "", &answer, error);
	if (status == 0) {
		struct cursor cursor = cursor_over(answer.bytes, answer.size);
		status = allocator_read(&cursor, path, bytes, points, found);
		if (status == ERROR_MEMORY)
			error_memory(error);
		else if (status < 0)
			jail_refuse_answer(&allocator_task, path, error);
	}
	buffer_release(&answer);
	return status;
}
