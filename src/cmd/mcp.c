/*
 * Answers requests one after the other. The state is none: a client may list and call tools before it initializes. A line that is no
 * request gets an error, or nothing if it is a notification or an answer; only the end of the input ends the server. A line that is too
 * long is discarded up to its end.
 */
#include "cmd/mcp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_string.h"
#include "cmd/message.h"

enum { LINE_BYTES = 1 << 20 };

/* JSON-RPC 2.0, section 5.1. */
enum {
	NOT_JSON = -32700,
	NO_REQUEST = -32600,
	NO_METHOD = -32601,
	BAD_PARAMETERS = -32602,
	INTERNAL = -32603,
};

struct request {
	json_t *id, *params; /* of the message; NULL: absent */
	const char *method;
};

/* --- answers --- */

/* Prints the beginning of an answer, which repeats the id. */
static void begin_answer(const struct request *request)
{
	fputs("{\"jsonrpc\": \"2.0\", \"id\": ", stdout);
	if (!request->id || json_dumpf(request->id, stdout, JSON_ENCODE_ANY) < 0)
		fputs("null", stdout);
}

static void end_answer(void)
{
	fputs("}\n", stdout);
	fflush(stdout);
}

static void answer_error(const struct request *request, int code, const char *message)
{
	begin_answer(request);
	fprintf(stdout, ", \"error\": {\"code\": %d, \"message\": ", code);
	json_string_write(stdout, message);
	fputc('}', stdout);
	end_answer();
}

static void print_text(const char *text)
{
	fputs("{\"type\": \"text\", \"text\": ", stdout);
	json_string_write(stdout, text);
	fputc('}', stdout);
}

/* Answers with the texts that are not empty. */
static void answer_texts(const struct request *request, const char *first, const char *second, bool is_error)
{
	begin_answer(request);
	fputs(", \"result\": {\"content\": [", stdout);
	if (*first || !*second)
		print_text(first);
	fputs(*first && *second ? ", " : "", stdout);
	if (*second)
		print_text(second);
	fprintf(stdout, "], \"isError\": %s}", is_error ? "true" : "false");
	end_answer();
}

/* --- methods --- */

/* Returns the version of the protocol that the answer names: the requested one if it is among ours, or else our latest. */
static const char *negotiate(const char *wanted)
{
	static const char *const versions[] = { "2025-11-25", "2025-06-18", "2024-11-05" };
	for (size_t i = 0; wanted && i < sizeof(versions) / sizeof(versions[0]); i++)
		if (strcmp(versions[i], wanted) == 0)
			return versions[i];
	return versions[0];
}

static void initialize(const struct request *request)
{
	const char *wanted = json_text_string(json_object_get(request->params, "protocolVersion"));
	if (!wanted) {
		answer_error(request, BAD_PARAMETERS, "protocolVersion must be a string");
		return;
	}
	begin_answer(request);
	fprintf(stdout,
		", \"result\": {\"protocolVersion\": \"%s\", \"capabilities\": {\"tools\": {}}, \"serverInfo\": "
		"{\"name\": "
		"\"cpprof\", \"version\": \"%s\"}, \"instructions\": ",
		negotiate(wanted), CPPROF_VERSION);
	json_string_write(stdout,
			  "Reads profiles of cpprof in the folder of the server. Begin with the tool explain; its "
			  "member next names commands, which the tools report_... correspond to. Shares are "
			  "fractions of all hits, and errors half widths of 95 % intervals.");
	fputc('}', stdout);
	end_answer();
}

static void ping(const struct request *request)
{
	begin_answer(request);
	fputs(", \"result\": {}", stdout);
	end_answer();
}

static void list_tools(const struct request *request)
{
	if (json_object_get(request->params, "cursor")) {
		answer_error(request, BAD_PARAMETERS, "unknown cursor: all tools are in one list");
		return;
	}
	begin_answer(request);
	fputs(", \"result\": {\"tools\": ", stdout);
	mcp_tools_print(stdout);
	fputc('}', stdout);
	end_answer();
}

static void call_tool(const struct request *request)
{
	const char *name = json_text_string(json_object_get(request->params, "name"));
	json_t *arguments = json_object_get(request->params, "arguments");
	const struct mcp_tool *tool = name ? mcp_tool_find(name) : NULL;
	struct mcp_words words = { 0 };
	struct mcp_output output = { 0 };
	struct error error = { 0 };
	if (!tool || (arguments && !json_is_object(arguments))) {
		answer_error(request, BAD_PARAMETERS, !tool ? "unknown tool" : "arguments must be an object");
		return;
	}
	int status = mcp_tool_words(tool, arguments, &words, &error);
	if (status == 0)
		status = mcp_call(&words, &output, &error);
	if (status < 0)
		answer_texts(request, error.message, "", true);
	else
		answer_texts(request, (const char *)output.out.bytes, (const char *)output.err.bytes, output.failed);
	buffer_release(&output.out);
	buffer_release(&output.err);
	mcp_words_release(&words);
}

static void answer(const struct request *request)
{
	static const struct {
		const char *name;
		void (*run)(const struct request *request);
	} methods[] = {
		{ "initialize", initialize },
		{ "ping", ping },
		{ "tools/list", list_tools },
		{ "tools/call", call_tool },
	};
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (strcmp(methods[i].name, request->method) == 0) {
			methods[i].run(request);
			return;
		}
	}
	answer_error(request, NO_METHOD, "unknown method");
}

/* --- messages --- */

/* Checks the message and answers it, unless it is a notification or an answer. */
static void take_message(const json_t *message)
{
	json_t *id = json_object_get(message, "id");
	const char *version = json_text_string(json_object_get(message, "jsonrpc"));
	bool is_answer = json_object_get(message, "result") || json_object_get(message, "error");
	struct request whole = { .id = json_is_string(id) || json_is_number(id) ? id : NULL,
				 .params = json_object_get(message, "params"),
				 .method = json_text_string(json_object_get(message, "method")) };
	const struct request *request = &whole;
	if (!json_object_get(message, "method") && is_answer)
		return;
	if (!request->method || !version || strcmp(version, "2.0") != 0 || (id && !request->id))
		answer_error(request, NO_REQUEST, "not a request of JSON-RPC 2.0");
	else if (id && request->params && !json_is_object(request->params))
		answer_error(request, BAD_PARAMETERS, "params must be an object");
	else if (id)
		answer(request);
}

static void take_line(const char *line, size_t size)
{
	struct error error = { 0 };
	if (size == 0 || strspn(line, " \t\r") == size)
		return;
	json_t *message = json_text_read(line, size, JSON_TEXT_ONE_KEY, &error);
	if (message)
		take_message(message);
	else
		answer_error(&(struct request){ 0 }, error.code == ERROR_MEMORY ? INTERNAL : NOT_JSON, error.message);
	json_decref(message);
}

/* Takes the whole lines of a buffer with `size` bytes, and moves the rest to its start. Returns the rest's size. */
static size_t take_lines(char *bytes, size_t size, bool *is_discarded)
{
	size_t start = 0;
	for (char *end; (end = memchr(bytes + start, '\n', size - start)); start = (size_t)(end - bytes) + 1) {
		*end = 0;
		if (!*is_discarded)
			take_line(bytes + start, (size_t)(end - bytes) - start);
		*is_discarded = false;
	}
	memmove(bytes, bytes + start, size - start);
	return size - start;
}

static int serve(struct invocation *invocation)
{
	struct request nobody = { 0 };
	char *bytes = malloc(LINE_BYTES + 1);
	size_t size = 0;
	bool is_discarded = false;
	ssize_t got = 0;
	if (!bytes)
		return failure(invocation, "out of memory");
	do {
		got = read(STDIN_FILENO, bytes + size, LINE_BYTES - size);
		if (got > 0)
			size = take_lines(bytes, size + (size_t)got, &is_discarded);
		if (size == LINE_BYTES) {
			if (!is_discarded)
				answer_error(&nobody, NO_REQUEST, "the request is longer than 1 MiB");
			is_discarded = true;
			size = 0;
		}
	} while (got > 0 || (got < 0 && errno == EINTR));
	int status = got < 0 ? failure(invocation, "cannot read standard input: %s", strerror(errno)) : EXIT_DONE;
	/* The last line may have no end. */
	bytes[size] = 0;
	if (got == 0 && !is_discarded)
		take_line(bytes, size);
	free(bytes);
	return status;
}

static const char *const usage[] = { "[OPTION]...", NULL };

static const struct command_option options[] = { { 0 } };

static const struct command_example examples[] = {
	{ "cpprof mcp", "in the folder with the profiles; an assistant starts it and calls its tools" },
	{ 0 },
};

const struct command command_mcp = {
	.name = "mcp",
	.task = TASK_EXCHANGE,
	.summary = "serve the reports to an assistant, by the Model Context Protocol",
	.usage = usage,
	.options = options,
	.examples = examples,
	.run = serve,
};
