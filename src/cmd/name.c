#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd/foreign.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "frames/rename_profile.h"
#include "profile/file_users.h"
#include "profile/findings.h"
#include "profile_file/writer.h"

enum { OPTION_OUTPUT = 1 };

static void show_naming(void *context, size_t done, size_t total)
{
	(void)context;
	progress_set(done, total);
}

/* Writes the whole profile before it takes the place of the older file. */
static int write_profile(const struct invocation *invocation, const char *output)
{
	struct error error = { 0 };
	struct writer *writer = writer_open(output, &error);
	if (!writer)
		return failure_of(invocation, &error);
	progress_begin("writing the profile", PROGRESS_AFTER_MS);
	int result = writer_finish(writer, invocation->profile, &error);
	if (result == 0)
		result = writer_publish(writer, &error);
	progress_end();
	writer_free(writer);
	return result < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

/* Prints why functions have no names. */
static void print_findings(const struct invocation *invocation, const struct rename_result *result)
{
	static const enum finding_code codes[] = { FINDING_DOWNLOADS_FAILED, FINDING_DEBUG_FILES_LACKING,
						   FINDING_NAMING_INTERRUPTED, FINDING_NAMES_MISSING };
	const struct profile *profile = invocation->profile;
	if (result->refused)
		notice(invocation, "cannot read '%s': %s (%s)", result->refused, strerror(EACCES), FILE_USERS_REMEDY);
	for (size_t code = 0; code < sizeof(codes) / sizeof(codes[0]); code++)
		for (size_t i = 0; i < profile->finding_count; i++)
			if (strcmp(profile_string(profile, profile->findings[i].code),
				   finding_codes[codes[code]].name) == 0)
				notice(invocation, "%s", profile_string(profile, profile->findings[i].text));
}

static int report(const struct invocation *invocation, const struct rename_result *result, const char *output)
{
	if (result->lacking == 0 && result->tail_calls == 0) {
		notice(invocation, "every function of %s has a name", invocation->profile_path);
		return EXIT_DONE;
	}
	if (result->named == 0 && result->tail_calls == 0) {
		failure(invocation, "cannot name functions of %s: their debug symbols were not found",
			invocation->profile_path);
		print_findings(invocation, result);
		return EXIT_FAILED;
	}
	int status = write_profile(invocation, output);
	if (status != EXIT_DONE)
		return status;
	if (result->tail_calls > 0)
		notice(invocation, "found %zu tail call%s", result->tail_calls, result->tail_calls == 1 ? "" : "s");
	if (result->named > 0)
		notice(invocation, "%zu of %zu addresses without names have got one, in %zu file%s; %s was written",
		       result->named, result->lacking, result->modules, result->modules == 1 ? "" : "s", output);
	else
		notice(invocation, "%s was written", output);
	print_findings(invocation, result);
	return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	struct frames_options options = { .progress = show_naming, .download = progress_download };
	const char *output = option_value(invocation, OPTION_OUTPUT);
	struct rename_result result;
	struct error error = { 0 };
	bool is_replaceable = strcmp(invocation->profile_path, "-") != 0 && !foreign_is(invocation->profile_path);
	if (!output && !is_replaceable)
		return usage_error(invocation,
				   "a profile from standard input, a pipe or another tool needs an output (-o FILE)");
	if (take_naming_time(invocation, &options.limits.cpu_ns, &error) < 0)
		return failure_of(invocation, &error);
	progress_begin("naming addresses", PROGRESS_NAMING_AFTER_MS);
	int status = frames_rename_profile(invocation->profile, &options, &result, &error);
	progress_end();
	if (status < 0)
		return failure_of(invocation, &error);
	return report(invocation, &result, output ? output : invocation->profile_path);
}

static const char *const usage[] = { "[-o FILE] [FILE]", NULL };

static const struct command_option options[] = {
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write the profile to FILE; an older one is kept as FILE.old",
	  "the file that was read" },
	ROW_NAMING_TIME,
	ROWS_LIMITS,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof name", "after debug symbols were installed" },
	{ "DEBUGINFOD_URLS=https://debuginfod.debian.net cpprof name run.data", "download them" },
	{ 0 },
};

const struct command command_name = {
	.name = "name",
	.task = TASK_READ,
	.summary = "look up the functions without names again",
	.usage = usage,
	.options = options,
	.examples = examples,
	.needs = NEEDS_PROFILE,
	.run = run,
};
