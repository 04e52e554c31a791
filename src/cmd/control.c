#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "cmd/message.h"
#include "collect/control/client.h"
#include "render/render.h"

/* --- list --- */

/* The fields of a line of the answer, in the order in which the agent sends them. */
enum {
	PROBE_STATE,
	PROBE_KIND,
	PROBE_LEVEL,
	PROBE_NAME,
	PROBE_SIGNATURE,
	PROBE_FILE,
	PROBE_LINE,
	PROBE_GROUP,
	PROBE_FIELDS
};

/* Splits a line at its tabs. Returns false if fields are missing. */
static bool split(char *line, char *fields[PROBE_FIELDS])
{
	for (int i = 0; i < PROBE_FIELDS; i++) {
		fields[i] = line;
		line = line ? strchr(line, '\t') : NULL;
		if (line)
			*line++ = 0;
		else if (i < PROBE_FIELDS - 1)
			return false;
	}
	return true;
}

/* Prints a function by its signature if it has one, and a probe point in a function by the function and its own
 * name. */
static void print_name(char *fields[PROBE_FIELDS])
{
	bool is_function = strcmp(fields[PROBE_KIND], "0") == 0, has_signature = fields[PROBE_SIGNATURE][0] != 0;
	if (has_signature) {
		render_safe_text(stdout, fields[PROBE_SIGNATURE]);
		fputs(is_function ? "" : ": ", stdout);
	}
	if (!is_function || !has_signature)
		render_safe_text(stdout, fields[PROBE_NAME]);
}

static void print_probe(char *fields[PROBE_FIELDS])
{
	printf("%-9s  %5s  ", fields[PROBE_STATE], fields[PROBE_LEVEL]);
	print_name(fields);
	if (fields[PROBE_GROUP][0]) {
		fputs("  {", stdout);
		render_safe_text(stdout, fields[PROBE_GROUP]);
		fputs("}", stdout);
	}
	fputs("  ", stdout);
	render_safe_text(stdout, fields[PROBE_FILE]);
	printf(":%s\n", fields[PROBE_LINE]);
}

static void print_probes(char *answer)
{
	char *rest = NULL, *fields[PROBE_FIELDS];
	strtok_r(answer, "\n", &rest); /* skips the number of lines */
	printf("%-9s  %5s  %s\n", "STATE", "LEVEL", "PROBE POINT");
	for (char *line = strtok_r(NULL, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (split(line, fields))
			print_probe(fields);
}

/* --- rules --- */

static void print_turned(const struct invocation *invocation, const char *line, const char *answer)
{
	uint64_t known = 0, matching = 0, changed = 0;
	if (sscanf(answer, "%" SCNu64 " %" SCNu64 " %" SCNu64, &known, &matching, &changed) != 3)
		return;
	if (strncmp(line, "throttle", strlen("throttle")) == 0) {
		printf("%s: from now on, for %" PRIu64 " probe point%s and those reached later\n", line, known,
		       plural_ending("point", (double)known));
		return;
	}
	printf("%s: %" PRIu64 " of %" PRIu64 " probe point%s, %" PRIu64 " switched\n", line, matching, known,
	       plural_ending("point", (double)known), changed);
	if (matching == 0)
		notice(invocation,
		       "no probe point that was reached so far matches '%s'; the rule applies to those reached later",
		       line);
}

/* --- the command --- */

enum { LINE_MAX_BYTES = 1000 };

static int send_line(const struct invocation *invocation, const struct control_target *target, const char *line)
{
	struct error error = { 0 };
	struct buffer answer;
	if (strlen(line) > LINE_MAX_BYTES || strpbrk(line, "\n\r"))
		return usage_error(invocation, "the rule is not one line of at most %d bytes", LINE_MAX_BYTES);
	buffer_init(&answer);
	int result = control_request(target, line, &answer, &error);
	if (result == 0 && strncmp(line, "list", strlen("list")) == 0)
		print_probes((char *)answer.bytes);
	else if (result == 0)
		print_turned(invocation, line, (const char *)answer.bytes);
	buffer_release(&answer);
	return result < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

/* Joins the words to one line with `separator` between them; the caller frees *line. Returns false if memory is
 * exhausted. */
static bool join(char *const *words, size_t count, char separator, char **line)
{
	size_t bytes = 1;
	for (size_t i = 0; i < count; i++)
		bytes += strlen(words[i]) + 1;
	char *end = *line = malloc(bytes);
	for (size_t i = 0; end && i < count; i++) {
		if (i > 0)
			*end++ = separator;
		end = stpcpy(end, words[i]);
	}
	return *line != NULL;
}

/* Sends one line with all words, or for "on" and "off" one line for each pattern. */
static int send_words(const struct invocation *invocation, const struct control_target *target, char **words,
		      size_t count)
{
	static char list[] = "list";
	static char *const only_list[] = { list };
	const char *verb = count > 0 ? words[0] : list;
	bool is_list = strcmp(verb, "list") == 0, is_each = strcmp(verb, "on") == 0 || strcmp(verb, "off") == 0;
	int status = EXIT_DONE;
	for (size_t i = 1; is_each && i < count && status == EXIT_DONE; i++) {
		char *each[] = { words[0], words[i] }, *line;
		if (!join(each, 2, ' ', &line))
			return failure(invocation, "out of memory");
		status = send_line(invocation, target, line);
		free(line);
	}
	if (!is_each) {
		char *line;
		if (!join(count > 0 ? words : only_list, count > 0 ? count : 1, is_list ? '\t' : ' ', &line))
			return failure(invocation, "out of memory");
		status = send_line(invocation, target, line);
		free(line);
	}
	return status;
}

static const char *verb_word(size_t index)
{
	static const char *const verbs[] = { "list", "on", "off", "group", "level", "throttle" };
	return index < sizeof(verbs) / sizeof(verbs[0]) ? verbs[index] : NULL;
}

/* Checks the verb, before a process is searched. It may begin a whole rule in one word: "on parse_*". */
static int check_verb(const struct invocation *invocation, char *const *words, size_t count)
{
	const char *verb = count > 0 ? words[0] : verb_word(0);
	size_t length = strcspn(verb, " \t");
	char list[64];
	bool is_each = strcmp(verb, "on") == 0 || strcmp(verb, "off") == 0;
	if (is_each && count == 1)
		return usage_error(invocation, "missing argument PATTERN (%s 'parse_*')", verb);
	for (size_t i = 0; verb_word(i); i++)
		if (strlen(verb_word(i)) == length && memcmp(verb, verb_word(i), length) == 0)
			return EXIT_DONE;
	return usage_error(invocation, "unknown verb '%.*s' (%s)", (int)length, verb,
			   words_list(verb_word, list, sizeof(list)));
}

static bool read_pid(const char *word, pid_t *pid)
{
	enum { DECIMAL = 10 };
	char *end;
	errno = 0;
	long number = strtol(word, &end, DECIMAL);
	*pid = (pid_t)number;
	return word[0] >= '1' && word[0] <= '9' && *end == 0 && errno == 0 && number <= INT32_MAX;
}

static int run(struct invocation *invocation)
{
	struct control_target target;
	struct error error = { 0 };
	pid_t pid;
	if (!read_pid(invocation->arguments[0], &pid))
		return usage_error(invocation, "'%s' is not a process id", invocation->arguments[0]);
	char **words = invocation->arguments + 1;
	size_t count = invocation->argument_count - 1;
	int status = check_verb(invocation, words, count);
	if (status != EXIT_DONE)
		return status;
	if (control_find(&target, pid, &error) < 0)
		return failure_of(invocation, &error);
	return send_words(invocation, &target, words, count);
}

static word_at *words_of(int id)
{
	return id == SECOND_ARGUMENT_WORDS ? verb_word : NULL;
}

static const char *const usage[] = {
	"PID [list [PATTERN]...]", "PID on|off PATTERN...",     "PID group NAME on|off",
	"PID level 0|1|2|3|4",     "PID throttle CALLS NS|off", NULL,
};

static const struct command_option options[] = { { 0 } };

static const struct command_example examples[] = {
	{ "cpprof control 4711 list", "the probe points that the program has reached, and which are on" },
	{ "cpprof control 4711 off 'parse_*' file:io.c",
	  "these functions, and all of that file, cost nothing from now on" },
	{ "cpprof control 4711 level 1", "functions alone: no loops, regions, calls and blocks" },
	{ "cpprof control 4711 throttle 100000 1000",
	  "what is called 100,000 times, for less than 1,000 ns on average, turns itself off" },
	{ 0 },
};

const struct command command_control = {
	.name = "control",
	.task = TASK_RECORD,
	.summary = "switch probe points of a running program built with cpprof cc on and off",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = words_of,
	.needs = STOPS_AT_ARGUMENT,
	.argument_min = 1,
	.argument_max = SIZE_MAX,
	.run = run,
};
