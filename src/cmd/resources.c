/* Lists what can be measured on this machine, by which backends, and why others cannot. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cmd/message.h"
#include "cmd/view_options.h"
#include "collect/sample/backends.h"

/* Prints the form in which a user types it: "syscalls[:NAME]", "calls:FUNCTION[@MODULE]". */
static int print_name(char *text, size_t bytes, const struct resource_row *row)
{
	if (!row->parameters)
		return snprintf(text, bytes, "%s", row->name);
	return snprintf(text, bytes, row->parameters_optional ? "%s[:%s]" : "%s:%s", row->name, row->parameters);
}

/* Prints the default interval in the form in which a user types it. */
static void print_interval(char *text, size_t bytes, const struct resource_row *row)
{
	enum { NS_PER_MS = 1000000, KIB = 1024 };
	uint64_t interval = row->default_interval;
	if (row->is_time)
		snprintf(text, bytes, "%" PRIu64 "ms", interval * row->gtick_ns / NS_PER_MS);
	else if (strcmp(row->gtick, "byte") == 0 && interval % KIB == 0)
		snprintf(text, bytes, "%" PRIu64 "KiB", interval / KIB);
	else
		snprintf(text, bytes, "%" PRIu64, interval);
}

static int name_width(void)
{
	int width = 0;
	for (const struct resource_row *row = resource_rows; row->name; row++) {
		int length = print_name(NULL, 0, row);
		width = length > width ? length : width;
	}
	return width;
}

enum { BACKENDS_WIDTH = sizeof("bpf,perf,preload") - 1 };

/* Prints one line for a resource: its summary, or the reason why it is not available. */
static void print_row(const struct resource_row *row, int width)
{
	char name[128], interval[32];
	struct backends_answer answer;
	print_name(name, sizeof(name), row);
	print_interval(interval, sizeof(interval), row);
	backends_probe(row, &answer);
	bool is_served = answer.names[0];
	printf("%-*s %-11s %-9s %-*s %s", width, name, row->gtick, interval, BACKENDS_WIDTH,
	       is_served ? answer.names : "-", is_served ? row->summary : answer.why_not.message);
	if (answer.user_only)
		printf("; here %s measures user mode only", answer.user_only);
	putchar('\n');
}

static void print_table(void)
{
	int width = name_width();
	printf("%-*s %-11s %-9s %-*s %s\n", width, "resource", "gtick", "interval", BACKENDS_WIDTH, "backends",
	       "description, or the reason why it cannot be measured here");
	for (const struct resource_row *row = resource_rows; row->name; row++)
		print_row(row, width);
}

/* --- as JSON --- */

static void print_text(const char *name, const char *text)
{
	printf(", \"%s\": ", name);
	if (text)
		json_string_write(stdout, text);
	else
		fputs("null", stdout);
}

/* Prints ["bpf", "perf"]. */
static void print_backends(char *names)
{
	char *rest = NULL;
	const char *before = "";
	fputs(", \"backends\": [", stdout);
	for (char *name = strtok_r(names, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
		fputs(before, stdout);
		json_string_write(stdout, name);
		before = ", ";
	}
	putchar(']');
}

static void print_json_row(const struct resource_row *row)
{
	char usage[128];
	struct backends_answer answer;
	print_name(usage, sizeof(usage), row);
	backends_probe(row, &answer);
	bool is_served = answer.names[0];
	fputs(row == resource_rows ? "\n  {\"name\": " : ",\n  {\"name\": ", stdout);
	json_string_write(stdout, row->name);
	print_text("usage", usage);
	print_text("title", row->title);
	print_text("summary", row->summary);
	print_text("unit", row->gtick);
	printf(", \"interval\": %" PRIu64, row->default_interval);
	print_backends(answer.names);
	print_text("user_mode_only", answer.user_only);
	print_text("reason", is_served ? NULL : answer.why_not.message);
	putchar('}');
}

static void print_json(void)
{
	render_json_begin(stdout, &(struct render_envelope){ .command = "resources" });
	fputs("\"resources\": [", stdout);
	for (const struct resource_row *row = resource_rows; row->name; row++)
		print_json_row(row);
	fputs("\n]}\n", stdout);
}

static int run(struct invocation *invocation)
{
	const char *word = option_value(invocation, OPTION_FORMAT);
	enum render_format format = RENDER_TEXT;
	struct error error = { 0 };
	if (word && view_read_format(word, &format, &error) < 0)
		return failure_of(invocation, &error);
	if (!render_document_word(format))
		return usage_error(invocation, "--format csv is not available here (--format text or json)");
	if (format == RENDER_JSON)
		print_json();
	else
		print_table();
	return EXIT_DONE;
}

static const char *const usage[] = { "[OPTION]...", NULL };

static const struct command_option options[] = { ROW_FORMAT, { 0 } };

static const struct command_example examples[] = {
	{ "cpprof resources", "what can be measured on this machine, by this user" },
	{ "cpprof resources --format json", "the same for a program" },
	{ 0 },
};

const struct command command_resources = {
	.name = "resources",
	.task = TASK_RECORD,
	.summary = "list the resources that can be measured here, and why others cannot",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = document_option_words,
	.run = run,
};
