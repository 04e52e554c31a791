#include "frames/jail/tail_calls.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { QUERY_BYTES = 8 + 8 + 1, JUMP_BYTES = 4 + 4 + 4 + 8, FOUND_BYTES = 3 * 4 };

static void write_u32(struct buffer *to, uint32_t value)
{
	buffer_append(to, &value, sizeof(value));
}

static void write_u64(struct buffer *to, uint64_t value)
{
	buffer_append(to, &value, sizeof(value));
}

/* --- in the jail --- */

void tail_calls_write(struct buffer *answer, const struct tail_code *code)
{
	write_u32(answer, (uint32_t)code->start_count);
	for (size_t i = 0; i < code->start_count; i++)
		write_u64(answer, code->starts[i]);
	write_u32(answer, (uint32_t)code->jump_count);
	for (size_t i = 0; i < code->jump_count; i++) {
		const struct tail_jump *jump = &code->jumps[i];
		write_u32(answer, jump->from);
		write_u32(answer, jump->to);
		write_u32(answer, jump->name);
		write_u64(answer, jump->address);
	}
	for (size_t i = 0; i < code->found_count; i++) {
		write_u32(answer, code->found[i].target);
		write_u32(answer, code->found[i].name);
		write_u32(answer, code->found[i].callee);
	}
	write_u32(answer, (uint32_t)code->names.count - 1);
	for (uint32_t i = 1; i < code->names.count; i++)
		buffer_append(answer, strings_get(&code->names, i), strlen(strings_get(&code->names, i)) + 1);
}

static int read_queries(struct cursor *request, struct tail_query **queries, size_t *count)
{
	*count = cursor_u32(request);
	if (*count > cursor_left(request) / QUERY_BYTES)
		return ERROR_CORRUPT;
	*queries = calloc(*count + 1, sizeof(**queries));
	if (!*queries)
		return ERROR_MEMORY;
	for (size_t i = 0; i < *count; i++) {
		(*queries)[i].caller = cursor_u64(request);
		(*queries)[i].callee = cursor_u64(request);
		(*queries)[i].name = cursor_string(request);
	}
	return request->failed ? ERROR_CORRUPT : 0;
}

static int run(void *context, struct jail_input *input, struct buffer *answer, struct error *error)
{
	(void)context;
	struct module_file file;
	struct tail_query *queries = NULL;
	size_t count;
	int status = module_file_open(&file, input->fd, input->path, error);
	if (status < 0)
		return status;
	struct tail_code code = { 0 };
	status = read_queries(&input->request, &queries, &count);
	if (status == 0)
		status = tail_code_read(&code, &file, queries, count);
	if (status == 0)
		tail_calls_write(answer, &code);
	tail_code_release(&code);
	free(queries);
	module_file_close(&file);
	return status < 0 ? error_set(error, status, "%s", error_text(status)) : 0;
}

static const struct jail_task task = { .doing = "finding the tail calls of", .run = run };

/* --- in the recorder --- */

/* Reads a number of things of `bytes` each, which must be there. */
static size_t read_count(struct cursor *answer, size_t bytes)
{
	size_t count = cursor_u32(answer);
	if (count > cursor_left(answer) / bytes)
		answer->failed = true;
	return answer->failed ? 0 : count;
}

static bool is_below(uint32_t value, size_t count)
{
	return value == TAIL_CODE_NONE || value < count;
}

static int read_names(struct cursor *answer, struct tail_code *code)
{
	size_t count = read_count(answer, 1);
	for (size_t i = 1; i <= count; i++) {
		const char *name = cursor_string(answer);
		int64_t id = name ? strings_add(&code->names, name, strlen(name)) : ERROR_CORRUPT;
		if (id < 0)
			return (int)id;
		if ((size_t)id != i)
			return ERROR_CORRUPT;
	}
	return answer->failed || cursor_left(answer) != 0 ? ERROR_CORRUPT : 0;
}

static bool is_sound(const struct tail_code *code)
{
	bool sound = true;
	for (size_t i = 0; i < code->jump_count; i++) {
		const struct tail_jump *jump = &code->jumps[i];
		sound = sound && jump->from < code->start_count && is_below(jump->to, code->start_count) &&
			is_below(jump->name, code->names.count) &&
			(jump->to == TAIL_CODE_NONE) != (jump->name == TAIL_CODE_NONE);
	}
	for (size_t i = 0; i < code->found_count; i++) {
		const struct tail_found *found = &code->found[i];
		sound = sound && is_below(found->target, code->start_count) &&
			is_below(found->callee, code->start_count) && is_below(found->name, code->names.count);
	}
	return sound;
}

int tail_calls_read(struct cursor *answer, size_t queries, struct tail_code *code)
{
	*code = (struct tail_code){ 0 };
	int status = strings_init(&code->names);
	code->start_count = status == 0 ? read_count(answer, sizeof(uint64_t)) : 0;
	code->starts = calloc(code->start_count + 1, sizeof(*code->starts));
	for (size_t i = 0; code->starts && i < code->start_count; i++)
		code->starts[i] = cursor_u64(answer);
	code->jump_count = read_count(answer, JUMP_BYTES);
	code->jumps = calloc(code->jump_count + 1, sizeof(*code->jumps));
	for (size_t i = 0; code->jumps && i < code->jump_count; i++) {
		code->jumps[i].from = cursor_u32(answer);
		code->jumps[i].to = cursor_u32(answer);
		code->jumps[i].name = cursor_u32(answer);
		code->jumps[i].address = cursor_u64(answer);
	}
	if (queries > cursor_left(answer) / FOUND_BYTES)
		answer->failed = true;
	code->found_count = answer->failed ? 0 : queries;
	code->found = calloc(code->found_count + 1, sizeof(*code->found));
	for (size_t i = 0; code->found && i < code->found_count; i++) {
		code->found[i].target = cursor_u32(answer);
		code->found[i].name = cursor_u32(answer);
		code->found[i].callee = cursor_u32(answer);
	}
	if (!code->starts || !code->jumps || !code->found)
		status = ERROR_MEMORY;
	if (status == 0)
		status = answer->failed ? ERROR_CORRUPT : read_names(answer, code);
	if (status == 0 && !is_sound(code))
		status = ERROR_CORRUPT;
	if (status < 0)
		tail_code_release(code);
	return status;
}

static void write_queries(struct buffer *request, const struct tail_query *queries, size_t count)
{
	write_u32(request, (uint32_t)count);
	for (size_t i = 0; i < count; i++) {
		write_u64(request, queries[i].caller);
		write_u64(request, queries[i].callee);
		buffer_append(request, queries[i].name, strlen(queries[i].name) + 1);
	}
}

/* Runs the task in this process. */
static int run_here(int fd, const char *path, const struct buffer *request, struct buffer *answer)
{
	struct jail_input input = { .fd = fcntl(fd, F_DUPFD_CLOEXEC, 0),
				    .path = path,
				    .request = cursor_over(request->bytes, request->size) };
	if (input.fd < 0)
		return ERROR_SYSTEM;
	int status = run(NULL, &input, answer, NULL);
	return status == 0 ? buffer_error(answer) : status;
}

int tail_calls_query(struct jail *jail, int fd, const char *path, const struct tail_query *queries, size_t count,
		     struct tail_code *code)
{
	struct buffer request, here;
	struct error error = { 0 };
	struct cursor answer;
	buffer_init(&request);
	buffer_init(&here);
	write_queries(&request, queries, count);
	const struct jail_request wanted = {
		.task = &task, .fd = fd, .path = path, .bytes = request.bytes, .size = request.size
	};
	int status = buffer_error(&request);
	if (status == 0 && jail_prepare(jail) == 0) {
		status = jail_run(jail, &wanted, &answer, &error);
	} else if (status == 0) {
		status = !jail->is_interrupted && jail_trusts(fd) ? run_here(fd, path, &request, &here)
								  : ERROR_UNSUPPORTED;
		answer = cursor_over(here.bytes, here.size);
	}
	if (status == 0)
		status = tail_calls_read(&answer, count, code);
	if (status == ERROR_CORRUPT && jail->child)
		status = jail_fail(jail, &wanted, status, &error);
	buffer_release(&request);
	buffer_release(&here);
	return status;
}
