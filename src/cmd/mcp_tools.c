/*
 * A tool is a row below, or a report that `cpprof report` has an option for. Its properties are the options of the command, without those
 * for people and those that the server sets; a call becomes a command line, which is checked like any other.
 */
#include "base/array.h"
#include "cmd/mcp.h"
#include "cmd/profile_open.h"
#include "cmd/report_options.h"
#include "cmd/view_options.h"

#include <stdlib.h>
#include <string.h>

/* The arguments of a command that are no options. */
enum subject { SUBJECT_FILE, SUBJECT_SIDES, SUBJECT_FILE_AND_TERMS };

struct mcp_tool {
	char name[48];
	const struct command *command;
	enum subject subject;
	const struct report *report; /* NULL: the command has no reports as options, or its default one */
};

static const struct {
	const struct command *command;
	enum subject subject;
} commands_of_tools[] = {
	{ &command_explain, SUBJECT_FILE },
	{ &command_info, SUBJECT_FILE },
	{ &command_diff, SUBJECT_SIDES },
	{ &command_whatif, SUBJECT_FILE_AND_TERMS },
};

enum {
	COMMAND_TOOLS = sizeof(commands_of_tools) / sizeof(commands_of_tools[0]),
	TOOLS_MOST = COMMAND_TOOLS + REPORTS_MAX
};

/* Options that the server sets, or that are for people. */
static bool is_reserved(const char *name)
{
	static const char *const names[] = { "format", "memory", "long", "no-pager", "markdown" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(names[i], name) == 0)
			return true;
	return false;
}

static bool is_tool(const struct report *report)
{
	return report->help && !report->refines;
}

/* Makes the table of tools, which ends with a tool without a name. */
static void make_tools(struct mcp_tool tools[TOOLS_MOST + 1])
{
	size_t count = 0;
	for (; count < COMMAND_TOOLS; count++) {
		tools[count] = (struct mcp_tool){ .command = commands_of_tools[count].command,
						  .subject = commands_of_tools[count].subject };
		snprintf(tools[count].name, sizeof(tools[count].name), "%s", tools[count].command->name);
	}
	for (size_t i = 0; reports[i]; i++) {
		struct mcp_tool *tool = &tools[count];
		if (!is_tool(reports[i]))
			continue;
		*tool = (struct mcp_tool){ .command = &command_report, .subject = SUBJECT_FILE, .report = reports[i] };
		snprintf(tool->name, sizeof(tool->name), "report_%s", reports[i]->name);
		for (char *at = tool->name; *at; at++)
			*at = *at == '-' ? '_' : *at;
		count++;
	}
}

/* Returns tool number `index`, or NULL. */
static const struct mcp_tool *tool_at(size_t index)
{
	static struct mcp_tool tools[TOOLS_MOST + 1];
	if (!tools[0].name[0])
		make_tools(tools);
	return tools[index].name[0] ? &tools[index] : NULL;
}

const struct mcp_tool *mcp_tool_find(const char *name)
{
	const struct mcp_tool *tool;
	for (size_t i = 0; (tool = tool_at(i)); i++)
		if (strcmp(tool->name, name) == 0)
			return tool;
	return NULL;
}

/* Returns whether a client may set the option: one that refines the tool's report or divides it belongs to it. */
static bool has_option(const struct mcp_tool *tool, const struct command_option *option)
{
	const struct report *report = report_of_option(option->id);
	if (is_reserved(option->name))
		return false;
	if (!report)
		return true;
	if (!tool->report || report == tool->report)
		return false;
	bool refines = report->refines && report_find(report->refines) == tool->report;
	bool lists = (report->needs & REPORT_OVER_RANKS) && report_is_list(tool->report);
	return refines || lists || (report->needs & REPORT_DIVIDES);
}

/* The property for the value of the report's own option. */
struct property {
	const char *name; /* NULL: there is none */
	const char *help;
	bool is_required;
};

static struct property report_property(const struct mcp_tool *tool)
{
	static const struct property properties[] = {
		[REPORT_TAKES_FUNCTION] = { "function", "A function, by its full or short name", true },
		[REPORT_TAKES_PATH] = { "path", "Function names joined by ';', outermost first: main;parse", true },
		[REPORT_TAKES_KEY] = { "key", "A key of labels", false },
		[REPORT_TAKES_TERMS] = { NULL, NULL, false },
	};
	return tool->report ? properties[tool->report->argument] : (struct property){ 0 };
}

/* --- tools/list --- */

static void print_property(FILE *out, size_t *count, const char *name, const char *type, const char *help)
{
	fputs((*count)++ ? ", " : "", out);
	json_string_write(out, name);
	fprintf(out, ": {%s, \"description\": ", type);
	json_string_write(out, help);
	fputc('}', out);
}

static const char *type_of(const struct command_option *option)
{
	if (!option->value)
		return "\"type\": \"boolean\"";
	if (option->value[0] == '[')
		return "\"type\": [\"boolean\", \"string\"]";
	return "\"type\": [\"string\", \"number\", \"array\"], \"items\": {\"type\": [\"string\", \"number\"]}";
}

static void print_schema(FILE *out, const struct mcp_tool *tool)
{
	static const char text[] = "\"type\": \"string\"",
			  list[] = "\"type\": \"array\", \"items\": {\"type\": \"string\"}, \"minItems\": 1";
	const struct property property = report_property(tool);
	size_t count = 0;
	fputs("{\"type\": \"object\", \"properties\": {", out);
	if (tool->subject == SUBJECT_SIDES) {
		print_property(out, &count, "a", list, "Profiles of the first side, below the server's folder");
		print_property(out, &count, "b", list, "Profiles of the second side");
	} else {
		print_property(out, &count, "file", text, "The profile, below the server's folder (cpprof.data)");
	}
	if (tool->subject == SUBJECT_FILE_AND_TERMS)
		print_property(out, &count, "terms", list,
			       "Each a call path and the factor of its cost: main;parse=0.5");
	if (property.name)
		print_property(out, &count, property.name, text, property.help);
	for (const struct command_option *option = command_options(tool->command); option->name; option++) {
		char help[COMMAND_HELP_BYTES];
		if (has_option(tool, option))
			print_property(out, &count, option->name, type_of(option),
				       command_option_help(tool->command, option, help, sizeof(help)));
	}
	fputs("}, \"required\": [", out);
	fputs(tool->subject == SUBJECT_SIDES            ? "\"a\", \"b\""
	      : tool->subject == SUBJECT_FILE_AND_TERMS ? "\"terms\""
							: "",
	      out);
	if (property.is_required)
		json_string_write(out, property.name);
	fputs("], \"additionalProperties\": false}", out);
}

void mcp_tools_print(FILE *out)
{
	const struct mcp_tool *tool;
	fputc('[', out);
	for (size_t i = 0; (tool = tool_at(i)); i++) {
		fputs(i ? ", {\"name\": " : "{\"name\": ", out);
		json_string_write(out, tool->name);
		fputs(", \"description\": ", out);
		json_string_write(out, tool->report ? tool->report->help : tool->command->summary);
		fputs(", \"inputSchema\": ", out);
		print_schema(out, tool);
		fputs(", \"annotations\": {\"readOnlyHint\": true, \"openWorldHint\": false}}", out);
	}
	fputc(']', out);
}

/* --- tools/call --- */

void mcp_words_release(struct mcp_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->words[i]);
	free(words->words);
	*words = (struct mcp_words){ 0 };
}

/* Appends the parts as one word. Returns 0 or ERROR_MEMORY. */
static int add_word(struct mcp_words *words, const char *before, const char *between, const char *behind,
		    struct error *error)
{
	char *word = NULL;
	if (ARRAY_RESERVE(words->words, words->capacity, words->count + 2) < 0 ||
	    asprintf(&word, "%s%s%s", before, between, behind) < 0)
		return error_set(error, ERROR_MEMORY, "out of memory");
	words->words[words->count++] = word;
	words->words[words->count] = NULL;
	return 0;
}

/* Appends "--NAME=VALUE" for a string or a number. */
static int add_value(struct mcp_words *words, const char *name, json_t *value, struct error *error)
{
	enum { DIGITS = 15 }; /* a fraction has these exactly */
	char option[64], number[64] = "";
	const char *text = json_text_string(value);
	snprintf(option, sizeof(option), "--%s", name);
	if (json_is_number(value)) {
		size_t size =
			json_dumpb(value, number, sizeof(number) - 1, JSON_ENCODE_ANY | JSON_REAL_PRECISION(DIGITS));
		text = size < sizeof(number) ? number : NULL;
	}
	if (!text)
		return error_set(error, ERROR_USAGE, "'%s' must be a string or a number without a NUL", name);
	return add_word(words, option, "=", text, error);
}

static int add_option(struct mcp_words *words, const struct command_option *option, json_t *value, struct error *error)
{
	bool takes_flag = !option->value || option->value[0] == '[';
	int status = 0;
	if (takes_flag && json_is_false(value))
		return 0;
	if (takes_flag && json_is_true(value))
		return add_word(words, "--", option->name, "", error);
	if (!option->value)
		return error_set(error, ERROR_USAGE, "'%s' must be true or false", option->name);
	if (!json_is_array(value))
		return add_value(words, option->name, value, error);
	for (size_t i = 0; i < json_array_size(value) && status == 0; i++)
		status = add_value(words, option->name, json_array_get(value, i), error);
	return status;
}

/* Appends an argument. "./" stands before a name that could be taken for an option. */
static int add_argument(struct mcp_words *words, const char *name, const char *text, struct error *error)
{
	if (!text || !*text)
		return error_set(error, ERROR_USAGE, "'%s' must be a string that is not empty and has no NUL", name);
	return add_word(words, text[0] == '-' ? "./" : "", text, "", error);
}

static int add_list(struct mcp_words *words, json_t *arguments, const char *name, struct error *error)
{
	json_t *list = json_object_get(arguments, name);
	int status = 0;
	if (json_array_size(list) == 0)
		return error_set(error, ERROR_USAGE, "'%s' must be an array of strings", name);
	for (size_t i = 0; i < json_array_size(list) && status == 0; i++)
		status = add_argument(words, name, json_text_string(json_array_get(list, i)), error);
	return status;
}

/* Appends the arguments behind the options. */
static int add_subject(struct mcp_words *words, const struct mcp_tool *tool, json_t *arguments, struct error *error)
{
	json_t *file = json_object_get(arguments, "file");
	int status = 0;
	if (tool->subject == SUBJECT_SIDES) {
		status = add_list(words, arguments, "a", error);
		if (status == 0)
			status = add_word(words, "--", "", "", error);
		return status < 0 ? status : add_list(words, arguments, "b", error);
	}
	status = add_word(words, "--", "", "", error);
	if (status == 0)
		status = file ? add_argument(words, "file", json_text_string(file), error)
			      : add_word(words, PROFILE_FILE_DEFAULT, "", "", error);
	return status < 0 || tool->subject != SUBJECT_FILE_AND_TERMS ? status
								     : add_list(words, arguments, "terms", error);
}

static bool is_subject(const struct mcp_tool *tool, const char *key)
{
	const char *property = report_property(tool).name;
	if (property && strcmp(key, property) == 0)
		return true;
	if (tool->subject == SUBJECT_SIDES)
		return strcmp(key, "a") == 0 || strcmp(key, "b") == 0;
	return strcmp(key, "file") == 0 || (tool->subject == SUBJECT_FILE_AND_TERMS && strcmp(key, "terms") == 0);
}

static const struct command_option *find_option(const struct mcp_tool *tool, const char *name)
{
	for (const struct command_option *option = command_options(tool->command); option->name; option++)
		if (strcmp(option->name, name) == 0 && has_option(tool, option))
			return option;
	return NULL;
}

static int add_options(struct mcp_words *words, const struct mcp_tool *tool, json_t *arguments, struct error *error)
{
	int status = 0;
	for (void *at = json_object_iter(arguments); at && status == 0; at = json_object_iter_next(arguments, at)) {
		const char *key = json_object_iter_key(at);
		const struct command_option *option = find_option(tool, key);
		if (option)
			status = add_option(words, option, json_object_iter_value(at), error);
		else if (!is_subject(tool, key))
			status = error_set(error, ERROR_USAGE, "%s has no argument '%.40s'", tool->name, key);
	}
	return status;
}

/* Appends the option of the report: "--down=main", "--by-label". */
static int add_report(struct mcp_words *words, const struct mcp_tool *tool, json_t *arguments, struct error *error)
{
	const struct property property = report_property(tool);
	json_t *value = property.name ? json_object_get(arguments, property.name) : NULL;
	if (!tool->report)
		return 0;
	if (!value && property.is_required)
		return error_set(error, ERROR_USAGE, "%s needs the argument '%s'", tool->name, property.name);
	return value ? add_value(words, tool->report->name, value, error)
		     : add_word(words, "--", tool->report->name, "", error);
}

int mcp_tool_words(const struct mcp_tool *tool, json_t *arguments, struct mcp_words *words, struct error *error)
{
	int status = add_word(words, "cpprof", "", "", error);
	if (status == 0)
		status = add_word(words, tool->command->name, "", "", error);
	if (status == 0)
		status = add_word(words, "--format=json", "", "", error);
	if (status == 0)
		status = add_report(words, tool, arguments, error);
	if (status == 0)
		status = add_options(words, tool, arguments, error);
	return status == 0 ? add_subject(words, tool, arguments, error) : status;
}
