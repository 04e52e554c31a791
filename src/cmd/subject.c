#include "cmd/subject.h"

#include <math.h>
#include <string.h>

#include "base/buffer.h"
#include "base/quote.h"
#include "cmd/message.h"
#include "collect/sample/backends.h"
#include "collect/sample/namespaces.h"
#include "resources/resources.h"

static const char *resource_word(size_t index)
{
	return resource_rows[index].name;
}

static const char *backend_word(size_t index)
{
	size_t count = 0;
	while (count < index && record_backends[count])
		count++;
	if (count < index)
		return NULL;
	return record_backends[index] ? record_backends[index]->name : backend_none.name; /* the last */
}

word_at *subject_option_words(int id)
{
	return id == SUBJECT_BACKEND ? backend_word : id == SUBJECT_RESOURCE ? resource_word : NULL;
}

/* --- resources --- */

static int take_resources(const struct invocation *invocation, struct record_options *options, struct error *error)
{
	for (size_t i = 0; i < invocation->use_count; i++) {
		if (invocation->uses[i].option->id != SUBJECT_RESOURCE)
			continue;
		if (options->resource_count == RESOURCE_REQUESTS_MAX)
			return error_set(error, ERROR_USAGE, "too many resources (limit %d)", RESOURCE_REQUESTS_MAX);
		struct resource_request *request = &options->resources[options->resource_count];
		int result = resource_parse(invocation->uses[i].value, request, error);
		if (result < 0)
			return result;
		for (size_t j = 0; j < options->resource_count; j++)
			if (strcmp(options->resources[j].name, request->name) == 0)
				return error_set(error, ERROR_USAGE, "resource %s is given twice (give it once)",
						 request->name);
		options->resource_count++;
	}
	return 0;
}

/* --- target --- */

static int take_pid(const char *pid, struct process_list *processes, struct error *error)
{
	double number = positive_number(pid);
	if (number < 1 || number > INT32_MAX || number != floor(number))
		return error_set(error, ERROR_USAGE, "'%s' is not a process id (-p PID)", pid);
	return process_list_add_id(processes, (pid_t)number, error);
}

static int take_comm(const char *name, struct process_list *processes, struct error *error)
{
	if (!*name)
		return error_set(error, ERROR_USAGE, "the name of a process is empty (--comm NAME)");
	return process_list_add_named(processes, name, error);
}

static int take_processes(const struct invocation *invocation, struct record_options *options, struct error *error)
{
	int result = 0;
	for (size_t i = 0; i < invocation->use_count && result == 0; i++) {
		const struct option_use *use = &invocation->uses[i];
		if (use->option->id == SUBJECT_PID)
			result = take_pid(use->value, options->processes, error);
		else if (use->option->id == SUBJECT_CHILDREN || use->option->id == SUBJECT_NO_CHILDREN)
			options->no_children = use->option->id == SUBJECT_NO_CHILDREN;
	}
	return result;
}

/* Comes after all checks of the command line, because it searches the running processes. */
static int take_names(const struct invocation *invocation, struct record_options *options, struct error *error)
{
	int result = option_given(invocation, SUBJECT_COMM) ? namespaces_check(error) : 0;
	for (size_t i = 0; i < invocation->use_count && result == 0; i++)
		if (invocation->uses[i].option->id == SUBJECT_COMM)
			result = take_comm(invocation->uses[i].value, options->processes, error);
	return result;
}

static bool attaches(const struct invocation *invocation)
{
	return option_given(invocation, SUBJECT_PID) || option_given(invocation, SUBJECT_COMM);
}

static int take_duration(const struct invocation *invocation, struct record_options *options, struct error *error)
{
	const double ns_per_s = 1e9;
	const char *duration = option_value(invocation, SUBJECT_DURATION);
	double seconds = duration ? positive_number(duration) : 0;
	if (seconds < 0 || seconds > 1e9)
		return error_set(error, ERROR_USAGE, "'%s' is not a number of seconds (--duration 10, or 0.5)",
				 duration);
	if (duration && options->command)
		return error_set(error, ERROR_USAGE,
				 "--duration cannot be combined with a command, which is recorded until it ends "
				 "(leave out --duration)");
	if (duration && !attaches(invocation) && !options->everything)
		return error_set(error, ERROR_USAGE, "--duration needs a running target (-p PID, or record -a)");
	options->duration_ns = (uint64_t)(seconds * ns_per_s);
	return 0;
}

/* Reads the resources and the target: a command, processes, or the whole machine. */
static int take_subject(const struct invocation *invocation, struct record_options *options, struct error *error)
{
	options->command = invocation->argument_count > 0 ? invocation->arguments : NULL;
	options->everything = option_given(invocation, SUBJECT_ALL);
	options->backend = option_value(invocation, SUBJECT_BACKEND);
	options->no_kernel = option_given(invocation, SUBJECT_NO_KERNEL);
	const char *how = option_given(invocation, SUBJECT_PID) ? "-p" : "--comm";
	if (take_resources(invocation, options, error) < 0 || take_processes(invocation, options, error) < 0 ||
	    take_duration(invocation, options, error) < 0 ||
	    take_naming_time(invocation, &options->naming.cpu_ns, error) < 0)
		return error->code;
	if (attaches(invocation) && options->command)
		return error_set(error, ERROR_USAGE, "%s cannot be combined with a command (give one of them)", how);
	if (attaches(invocation) && options->everything)
		return error_set(
			error, ERROR_USAGE,
			"%s cannot be combined with -a (-a records every process; 'report --process' shows one)", how);
	if (options->no_children && options->everything)
		return error_set(error, ERROR_USAGE,
				 "--no-children cannot be combined with -a, which records every process "
				 "(leave out --no-children)");
	return take_names(invocation, options, error);
}

/* --- as text --- */

static void append_word(struct buffer *line, const char *word)
{
	if (line->size > 0)
		buffer_append_byte(line, ' ');
	quote_for_shell(line, word);
}

void subject_describe(const struct invocation *invocation, const struct record_options *options, struct buffer *line)
{
	for (size_t i = 0; i < invocation->use_count; i++) {
		int id = invocation->uses[i].option->id;
		if (id != SUBJECT_PID && id != SUBJECT_COMM)
			continue;
		append_word(line, id == SUBJECT_PID ? "-p" : "--comm");
		append_word(line, invocation->uses[i].value);
	}
	if (options->no_children)
		append_word(line, "--no-children");
	if (options->everything)
		append_word(line, "-a");
	for (char *const *word = options->command; word && *word; word++)
		append_word(line, *word);
	buffer_append_byte(line, 0);
}

int subject_run(struct invocation *invocation, subject_action *action, void *context)
{
	struct process_list processes = { 0 };
	struct record_options options = { .processes = &processes };
	struct error error = { 0 };
	struct buffer line;
	int status;
	buffer_init(&line);
	if (take_subject(invocation, &options, &error) < 0) {
		status = failure_of(invocation, &error);
	} else {
		subject_describe(invocation, &options, &line);
		options.command_line = buffer_error(&line) ? "" : (const char *)line.bytes;
		status = action(invocation, &options, context);
	}
	buffer_release(&line);
	process_list_release(&processes);
	return status;
}
