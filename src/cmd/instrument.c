/* `cpprof instrument`: writes copies of sources with Profiler objects, or a report of their probe points. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/text_output.h"
#include "cmd/message.h"
#include "cmd/probe_list.h"
#include "cmd/view_options.h"
#include "collect/source/compile/database.h"
#include "collect/source/compile/installed.h"
#include "collect/source/instrument/instrument.h"

enum {
	OPTION_OUTPUT = 1,
	OPTION_REPORT,
	OPTION_HEADERS,
	OPTION_EXPLICIT,
	OPTION_SELECT,
	OPTION_RULE,
	OPTION_DATABASE,
	OPTION_FORMAT_NAME,
};

struct work {
	const struct invocation *invocation;
	const struct selection *selection;
	struct installed installed;
	struct database database;
	bool has_database;
	const char *folder; /* folder of the copies; NULL: no copies, or one to standard output */
	bool to_output;     /* the copy of the only file goes to standard output */
	bool to_report;
	struct probe_list list;
	char **flags; /* the words behind `--`: an optional compiler and its options */
	size_t flag_count;
	int status;
};

/* --- copies --- */

static int make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = 0;
		int code = mkdir(path, 0777);
		*slash = '/';
		if (code < 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

/* Converts "../src/a.c" and "/src/a.c" to "src/a.c", a path below the folder. */
static const char *inside(const char *path)
{
	for (;;) {
		if (path[0] == '/')
			path++;
		else if (strncmp(path, "./", 2) == 0)
			path += 2;
		else if (strncmp(path, "../", 3) == 0)
			path += 3;
		else
			return path;
	}
}

static void write_copy(struct work *work, const struct instrument_copy *copy)
{
	char path[PATH_MAX];
	struct error error = { 0 };
	snprintf(path, sizeof(path), "%s/%s", work->folder, inside(copy->path));
	struct text_output output;
	int code = make_folders(path) < 0 ? error_set_errno(&error, "cannot write '%s'", path)
					  : text_output_open(&output, path, TEXT_OUTPUT_SHARED, &error);
	if (code == 0) {
		fwrite(copy->text, 1, copy->size, output.stream); /* text_output_commit reports errors */
		code = text_output_commit(&output, &error);
	}
	if (code < 0)
		work->status = failure_of(work->invocation, &error);
}

static void write_copies(struct work *work, const struct instrument_result *result)
{
	for (size_t i = 0; i < result->copy_count; i++) {
		if (work->folder)
			write_copy(work, &result->copies[i]);
		else if (work->to_output && result->copies[i].is_main)
			fwrite(result->copies[i].text, 1, result->copies[i].size, stdout);
	}
}

/* --- sources --- */

static void instrument_one(struct work *work, const struct instrument_source *source)
{
	struct instrument_result result = { 0 };
	struct error error = { 0 };
	int code = instrument_file(source, &result, &error);
	if (code < 0) {
		if (work->to_report)
			probe_list_add(&work->list, source->path, &result, error.message);
		work->status = failure(work->invocation, "cannot instrument '%s': %s", source->path, error.message);
	} else {
		if (work->to_report)
			probe_list_add(&work->list, source->path, &result, NULL);
		write_copies(work, &result);
	}
	instrument_release(&result);
}

static bool is_option(const char *word)
{
	return word[0] == '-';
}

/* Instruments a file with the words behind `--`. The first one is the compiler, if it is not an option. */
static void instrument_by_words(struct work *work, const char *path)
{
	bool has_compiler = work->flag_count && !is_option(work->flags[0]);
	struct instrument_source source = {
		.path = path,
		.compiler = has_compiler ? work->flags[0] : NULL,
		.words = (const char *const *)work->flags + has_compiler,
		.word_count = work->flag_count - has_compiler,
		.profiler = work->installed.profiler,
		.selection = work->selection,
		.is_explicit = option_given(work->invocation, OPTION_EXPLICIT),
		.headers = option_given(work->invocation, OPTION_HEADERS),
	};
	instrument_one(work, &source);
}

static void instrument_entry(struct work *work, const struct database_entry *entry)
{
	struct instrument_source source = {
		.path = entry->file,
		.directory = entry->directory,
		.compiler = entry->words[0],
		.words = (const char *const *)entry->words + 1,
		.word_count = entry->word_count - 1,
		.profiler = work->installed.profiler,
		.selection = work->selection,
		.is_explicit = option_given(work->invocation, OPTION_EXPLICIT),
		.headers = option_given(work->invocation, OPTION_HEADERS),
	};
	instrument_one(work, &source);
}

static void instrument_all(struct work *work)
{
	const struct invocation *invocation = work->invocation;
	size_t count = invocation->argument_count - work->flag_count;
	for (size_t i = 0; i < count; i++) {
		const char *path = invocation->arguments[i];
		const struct database_entry *entry = work->has_database ? database_find(&work->database, path) : NULL;
		if (entry)
			instrument_entry(work, entry);
		else if (work->has_database && work->flag_count == 0)
			work->status =
				failure(invocation,
					"cannot instrument '%s': the compilation database has no entry for it", path);
		else
			instrument_by_words(work, path);
	}
	for (size_t i = 0; count == 0 && i < work->database.entry_count; i++)
		instrument_entry(work, &work->database.entries[i]);
}

/* --- the command --- */

static int choose_format(struct work *work)
{
	struct error error = { 0 };
	const char *name = option_value(work->invocation, OPTION_FORMAT_NAME);
	return name && view_read_format(name, &work->list.format, &error) < 0 ? failure_of(work->invocation, &error)
									      : EXIT_DONE;
}

static word_at *option_words(int id)
{
	return id == OPTION_FORMAT_NAME ? render_format_word : NULL;
}

/* Checks the combination of options. */
static int check(struct work *work)
{
	const struct invocation *invocation = work->invocation;
	size_t file_count = invocation->argument_count - work->flag_count;
	if (file_count == 0 && !option_given(invocation, OPTION_DATABASE))
		return usage_error(invocation,
				   "missing argument FILE (or -p compile_commands.json, for all that it lists)");
	if (!work->folder && !work->to_report && (file_count != 1 || option_given(invocation, OPTION_HEADERS)))
		return usage_error(invocation,
				   "cannot write several copies to standard output (-o DIR, or --report alone)");
	if (option_given(invocation, OPTION_FORMAT_NAME) && !work->to_report)
		return usage_error(invocation, "--format needs --report (add --report)");
	work->to_output = !work->folder && !work->to_report;
	return choose_format(work);
}

static int prepare(struct work *work)
{
	struct error error = { 0 };
	const char *database = option_value(work->invocation, OPTION_DATABASE);
	if (database && database_read(&work->database, database, &error) < 0)
		return failure_of(work->invocation, &error);
	work->has_database = database != NULL;
	int status = check(work);
	if (status != EXIT_DONE)
		return status;
	if (installed_find(&work->installed, &error) < 0)
		return failure_of(work->invocation, &error);
	return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	struct work work = {
		.invocation = invocation,
		.folder = option_value(invocation, OPTION_OUTPUT),
		.to_report = option_given(invocation, OPTION_REPORT),
		.list.out = stdout,
		.flags = invocation->arguments + invocation->separated,
		.flag_count = invocation->argument_count - invocation->separated,
	};
	int status = EXIT_FAILED;
	struct selection *selection = probe_selection(invocation, OPTION_SELECT, OPTION_RULE, OPTION_HEADERS, &status);
	work.selection = selection;
	if (!selection)
		return status;
	status = prepare(&work);
	if (status == EXIT_DONE) {
		if (work.to_report)
			probe_list_open(&work.list);
		instrument_all(&work);
		if (work.to_report)
			probe_list_close(&work.list);
		status = work.status;
	}
	database_release(&work.database);
	selection_free(selection);
	return status;
}

static const char *const usage[] = { "[OPTION]... FILE... [-- [COMPILER] FLAG...]", "[OPTION]... -p PATH [FILE...]",
				     NULL };

static const struct command_option options[] = {
	{ OPTION_OUTPUT, 'o', "output", "DIR",
	  "Write the copies below DIR; a single one goes to standard output otherwise", NULL },
	{ OPTION_REPORT, 0, "report", NULL, "List each probe point: instrumented, or skipped and why", NULL },
	{ OPTION_FORMAT_NAME, 0, "format", "FORMAT", "Print the list of --report as %s", "text" },
	{ OPTION_HEADERS, 0, "headers", NULL, "Instrument functions in the user's own headers as well", NULL },
	{ OPTION_EXPLICIT, 0, "explicit", NULL,
	  "In C, mark each exit of a function in the copy; the default for compilers without a cleanup attribute (tcc)",
	  NULL },
	{ OPTION_SELECT, 's', "select", "FILE",
	  "Read the instrumentation filter FILE: rules, or lists of TAU or Score-P; may be given several times. "
	  "CPPROF_SELECT names one, too",
	  NULL },
	{ OPTION_RULE, 0, "rule", "RULE", "One more rule, as a line of such a file: 'exclude function get*'", NULL },
	{ OPTION_DATABASE, 'p', "database", "PATH",
	  "How each FILE is compiled: compile_commands.json, or the folder with it; without FILE, all that it lists",
	  NULL },
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof instrument --report a.c -- gcc -Iinclude", "what would be instrumented, and what not" },
	{ "cpprof instrument a.c -- -DFAST", "the copy, on standard output" },
	{ "cpprof instrument -p build -o copies", "copies of all sources of a CMake project" },
	{ 0 },
};

const struct command command_instrument = {
	.name = "instrument",
	.task = TASK_BUILD,
	.summary = "put Profiler objects into copies of sources",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = option_words,
	.argument_max = SIZE_MAX,
	.exit_status = "0 if all files were instrumented; 1 if one could not be; 2 for a usage error",
	.run = run,
};
