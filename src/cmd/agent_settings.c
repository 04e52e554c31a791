/* The options of the agent, the file of --config, and the command lines that follow from them. */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/settings.h"
#include "base/memory_size.h"
#include "base/path.h"
#include "cmd/agent.h"
#include "cmd/message.h"
#include "cmd/subject.h"
#include "resources/resources.h"
#include "store/times.h"

#define STATE_FOLDER "/var/lib/cpprof"

enum {
	OPTION_FREQUENCY = SUBJECT_OPTIONS_END,
	OPTION_STORE,
	OPTION_SPOOL,
	OPTION_EVERY,
	OPTION_SPOOL_LIMIT,
	OPTION_SERVICE,
	OPTION_SERVICES,
	OPTION_HOST,
	OPTION_LABEL,
	OPTION_CPU,
	OPTION_MEMORY_LIMIT,
	OPTION_METRICS,
	OPTION_CONFIG
};

const struct command_option agent_options[] = {
	{ OPTION_STORE, 0, "store", "URL",
	  "Add the recordings to this store: sqlite:///PATH, a path, or http://HOST:8123/DATABASE of ClickHouse",
	  STATE_FOLDER "/cpprof.db" },
	{ OPTION_SPOOL, 0, "spool", "FOLDER",
	  "Keep in this folder what is recorded, and what waits for a store that cannot be reached; it belongs to one "
	  "agent",
	  STATE_FOLDER "/spool" },
	{ OPTION_SPOOL_LIMIT, 0, "spool-limit", "SIZE",
	  "Keep at most SIZE of recordings in the spool, and at most SIZE of slices that wait to be added: the oldest "
	  "make "
	  "room",
	  "none" },
	{ OPTION_EVERY, 0, "every", "TIME", "Add a recording each TIME, as 30s, 5m or 1h", "5m" },
	{ SUBJECT_RESOURCE, 'r', "resource", "RES[/INTERVAL]",
	  "Measure resource RES ('cpprof resources' lists them), with one sample per INTERVAL on average; may be given "
	  "up to 16 times",
	  "cpu" },
	{ OPTION_FREQUENCY, 'F', "frequency", "HZ",
	  "Samples per second of CPU time, for time resources without an interval", "19" },
	{ OPTION_SERVICE, 0, "service", "NAME", "The service of all processes in the store", NULL },
	{ OPTION_SERVICES, 0, "services", "FILE|auto",
	  "Name the service of each process by the rules of FILE, which is read for each slice, or by its unit or "
	  "container, or else its name",
	  "auto" },
	{ OPTION_HOST, 0, "host", "NAME", "The machine of the recordings in the store", "that of the recording" },
	{ OPTION_LABEL, 0, "label", "KEY=VALUE", "Give all hits this label; may be given several times", NULL },
	{ OPTION_CPU, 0, "cpu", "SHARE",
	  "Lower the rate before the agent and its processes use this share of one processor, as 1% or 0.01; 0: no "
	  "limit",
	  "1%" },
	{ OPTION_MEMORY_LIMIT, 0, "memory", "SIZE",
	  "End a slice early, and lower the rate, before the process that records has more resident memory; 0: no "
	  "limit",
	  "60M" },
	{ OPTION_METRICS, 0, "metrics", "PATH",
	  "Answer at this local socket with figures about the agent, as Prometheus text", NULL },
	{ OPTION_CONFIG, 0, "config", "FILE",
	  "Read options from FILE too, one a line: 'every 10m'; SIGHUP reads it again, and what the command line has "
	  "wins",
	  NULL },
	SUBJECT_NO_KERNEL_OPTION,
	ROW_NAMING_TIME,
	SUBJECT_BACKEND_ROW("bpf|perf", ""),
	{ 0 },
};

/* --- words --- */

static void add_word(struct agent_words *words, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add_word(struct agent_words *words, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	char **next = &words->items[words->count];
	if (words->count == AGENT_WORDS_MOST || vasprintf(next, format, args) < 0) {
		*next = NULL;
		words->failed = true;
	} else {
		words->count++;
	}
	va_end(args);
}

void agent_words_release(struct agent_words *words)
{
	for (size_t i = 0; i < words->count; i++)
		free(words->items[i]);
	*words = (struct agent_words){ 0 };
}

static void add_use(struct agent_words *words, const struct option_use *use)
{
	if (use->value)
		add_word(words, "--%s=%s", use->option->name, use->value);
	else
		add_word(words, "--%s", use->option->name);
}

/* Adds the options that a child's command has too. */
static void pass_on(const struct agent_settings *settings, const int *ids, struct agent_words *words)
{
	for (size_t i = 0; i < settings->invocation.use_count; i++)
		for (const int *id = ids; *id; id++)
			if (settings->invocation.uses[i].option->id == *id)
				add_use(words, &settings->invocation.uses[i]);
}

/* Returns whether -F is needed: `record` refuses it where no resource has its interval. */
static bool has_rate(const struct invocation *invocation)
{
	struct resource_request request;
	struct error error;
	bool has = option_given(invocation, OPTION_FREQUENCY) || !option_given(invocation, SUBJECT_RESOURCE);
	for (size_t i = 0; i < invocation->use_count && !has; i++)
		has = invocation->uses[i].option->id == SUBJECT_RESOURCE &&
		      resource_parse(invocation->uses[i].value, &request, &error) == 0 && request.row->gtick_ns > 0 &&
		      request.default_interval;
	return has;
}

void agent_settings_record_words(const struct agent_settings *settings, const char *path, struct agent_words *words)
{
	static const int passed[] = { SUBJECT_RESOURCE, SUBJECT_NO_KERNEL, SUBJECT_BACKEND, OPTION_NAMING_TIME, 0 };
	*words = (struct agent_words){ 0 };
	add_word(words, "--all");
	add_word(words, "--output=%s", path);
	if (has_rate(&settings->invocation))
		add_word(words, "--frequency=%.9g", settings->hertz);
	pass_on(settings, passed, words);
}

void agent_settings_add_words(const struct agent_settings *settings, const char *path, struct agent_words *words)
{
	static const int passed[] = {
		OPTION_SPOOL_LIMIT, OPTION_SERVICE, OPTION_SERVICES, OPTION_HOST, OPTION_LABEL, 0
	};
	*words = (struct agent_words){ 0 };
	add_word(words, "cpprof");
	add_word(words, "store");
	add_word(words, "add");
	add_word(words, "--store=%s", settings->store);
	add_word(words, "--spool=%s%s", settings->spool, path ? "" : "/.none");
	if (!option_given(&settings->invocation, OPTION_SERVICE) &&
	    !option_given(&settings->invocation, OPTION_SERVICES))
		add_word(words, "--services=auto");
	pass_on(settings, passed, words);
	if (path) {
		add_word(words, "--");
		add_word(words, "%s", path);
	}
}

/* --- the file --- */

/* Adds the option of a line: its name, and the rest as its value. */
static void add_line(struct agent_words *words, char *line, size_t number)
{
	static const char space[] = " \t\r\n";
	line += strspn(line, space);
	size_t length = strlen(line);
	while (length > 0 && strchr(space, line[length - 1]))
		line[--length] = 0;
	size_t name = strcspn(line, space);
	const char *value = line + name + strspn(line + name, space);
	if (length == 0 || line[0] == '#')
		return;
	if (words->count < AGENT_WORDS_MOST)
		words->lines[words->count] = number;
	if (*value)
		add_word(words, "--%.*s=%s", (int)name, line, value);
	else
		add_word(words, "--%s", line);
}

static int read_file(struct agent_words *words, const char *path, struct error *error)
{
	int fd = path_open_input(path, error);
	if (fd < 0)
		return error->code;
	FILE *file = fdopen(fd, "r");
	char *line = NULL;
	size_t bytes = 0;
	for (size_t number = 1; file && getline(&line, &bytes, file) > 0; number++)
		add_line(words, line, number);
	int status = !file || ferror(file) ? error_set_errno(error, "cannot read '%s'", path) : 0;
	if (status == 0 && words->failed)
		status = error_set(error, ERROR_LIMIT, "out of memory, or more than %d options", AGENT_WORDS_MOST);
	free(line);
	if (file)
		fclose(file);
	else
		close(fd);
	return status;
}

/* --- the values --- */

static int read_limits(struct agent_settings *settings, struct error *error)
{
	const uint64_t least_memory_bytes = 1 << 20;
	const struct invocation *invocation = &settings->invocation;
	const char *cpu = option_value(invocation, OPTION_CPU), *memory = option_value(invocation, OPTION_MEMORY_LIMIT);
	const char *room = option_value(invocation, OPTION_SPOOL_LIMIT);
	settings->cpu_share = 0;
	if (settings_read_fraction(cpu ? cpu : "1%", &settings->cpu_share) < 0 || settings->cpu_share < 0)
		return error_set(error, ERROR_USAGE,
				 "'%s' is not a share of a processor (--cpu 1%%, or 0.01; 0: no limit)", cpu);
	/* The check by `store add` refuses another word. */
	if (!room || !memory_size_read(room, &settings->spool_limit))
		settings->spool_limit = 0;
	if (!memory_size_read(memory ? memory : "60M", &settings->memory_bytes))
		return error_set(error, ERROR_USAGE,
				 "'%s' is not an amount of memory (--memory 60M, or 1G; 0: no limit)", memory);
	if (settings->memory_bytes > 0 && settings->memory_bytes < least_memory_bytes)
		return error_set(error, ERROR_USAGE,
				 "--memory %s is less than any process needs (--memory 60M, or 1G; 0: no limit)",
				 memory);
	return 0;
}

static int read_rate(struct agent_settings *settings, struct error *error)
{
	const double usual = 19;
	const int64_t most_s = 86400, ns_per_s = 1000000000;
	const char *rate = option_value(&settings->invocation, OPTION_FREQUENCY);
	const char *every = option_value(&settings->invocation, OPTION_EVERY);
	settings->hertz = rate ? positive_number(rate) : usual;
	if (settings->hertz < 0)
		return error_set(error, ERROR_USAGE,
				 "'%s' is not a frequency (samples per second of CPU time, as -F 19)", rate);
	int64_t every_s = store_age_read(every ? every : "5m", error);
	if (every_s <= 0 || every_s > most_s)
		return error_set(error, ERROR_USAGE, "--every %s is no time from 1s to 1d (as 30s, 5m or 1h)", every);
	settings->every_ns = (uint64_t)(every_s * ns_per_s);
	return 0;
}

/* Returns a copy of an option's value, or a path below the state folder, which systemd may name. The caller frees it. NULL: no memory. */
static char *path_of(const struct agent_settings *settings, int id, const char *name)
{
	const char *given = option_value(&settings->invocation, id), *folder = getenv("STATE_DIRECTORY");
	char *path = NULL;
	if (given)
		return strdup(given);
	return asprintf(&path, "%s/%s", folder && *folder ? folder : STATE_FOLDER, name) < 0 ? NULL : path;
}

static int read_values(struct agent_settings *settings, struct error *error)
{
	settings->metrics = option_value(&settings->invocation, OPTION_METRICS);
	settings->store = path_of(settings, OPTION_STORE, "cpprof.db");
	settings->spool = path_of(settings, OPTION_SPOOL, "spool");
	int status = settings->store && settings->spool ? 0 : error_memory(error);
	if (status == 0)
		status = read_limits(settings, error);
	return status < 0 ? status : read_rate(settings, error);
}

/* --- all --- */

/* Reads the first `count` words of the file, and then the command line. */
static int read_words(struct agent_settings *settings, const struct invocation *invocation,
		      const struct agent_words *file, size_t count, agent_settings_check *check, struct error *error)
{
	static const char config[] = "--config";
	*settings = (struct agent_settings){ .invocation.command = invocation->command };
	for (size_t i = 0; i < count; i++) {
		if (strncmp(file->items[i], config, strlen(config)) == 0)
			return error_set(error, ERROR_USAGE,
					 "a file of --config cannot name another one (remove the line)");
		add_word(&settings->words, "%s", file->items[i]);
	}
	for (size_t i = 0; i < invocation->use_count; i++)
		add_use(&settings->words, &invocation->uses[i]);
	if (settings->words.failed)
		return error_set(error, ERROR_LIMIT, "out of memory, or more than %d options", AGENT_WORDS_MOST);
	int status = options_parse(&settings->invocation, (int)settings->words.count, settings->words.items, error);
	if (status == 0)
		status = read_values(settings, error);
	return status == 0 ? check(settings, error) : status;
}

/* Reads all words or, if they have an error, fewer, and puts the line of the first word with which they have one before the message. */
static int read_all(struct agent_settings *settings, const struct invocation *invocation,
		    const struct agent_words *file, agent_settings_check *check, struct error *error)
{
	struct error first = { 0 };
	int status = read_words(settings, invocation, file, file->count, check, error);
	if (status == 0 || file->count == 0)
		return status;
	for (size_t count = 0; count <= file->count; count++) {
		agent_settings_release(settings);
		status = read_words(settings, invocation, file, count, check, &first);
		if (status == 0)
			continue;
		*error = first;
		return count == 0 ? status
				  : error_set(error, status, "%s:%zu: %s", option_value(invocation, OPTION_CONFIG),
					      file->lines[count - 1], first.message);
	}
	return 0;
}

int agent_settings_read(struct agent_settings *settings, const struct invocation *invocation,
			agent_settings_check *check)
{
	struct error error = { 0 };
	struct agent_words file = { 0 };
	const char *path = option_value(invocation, OPTION_CONFIG);
	*settings = (struct agent_settings){ 0 };
	int status = path ? read_file(&file, path, &error) : 0;
	if (status == 0)
		status = read_all(settings, invocation, &file, check, &error);
	agent_words_release(&file);
	return status < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

void agent_settings_release(struct agent_settings *settings)
{
	invocation_release(&settings->invocation);
	agent_words_release(&settings->words);
	free(settings->store);
	free(settings->spool);
	*settings = (struct agent_settings){ 0 };
}
