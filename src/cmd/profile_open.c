#include "cmd/profile_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/view.h"
#include "base/error.h"
#include "base/memory_limit.h"
#include "base/path.h"
#include "cmd/foreign.h"
#include "cmd/message.h"
#include "cmd/progress.h"
#include "cmd/report_options.h"
#include "cmd/store_options.h"
#include "collect/count/tally.h"
#include "frames/frames.h"
#include "frames/missing_names.h"
#include "profile/findings.h"
#include "profile/quality.h"
#include "profile/tail_calls.h"
#include "profile_file/reader.h"

/* Returns whether the file is a tally: a trace, the file of a program that ran without cpprof, or one that a killed
 * recorder left. */
static bool is_tally(const char *path)
{
	char start[8];
	int fd = path_open_regular(path);
	ssize_t bytes = fd >= 0 ? pread(fd, start, sizeof(start), 0) : -1;
	if (fd >= 0)
		close(fd);
	return bytes > 0 && tally_is(start, (size_t)bytes);
}

/* Returns whether an option chooses a report. */
static bool names_report(const struct invocation *invocation)
{
	for (size_t i = 0; i < invocation->use_count; i++)
		if (report_of_option(invocation->uses[i].option->id))
			return true;
	return false;
}

/* Returns whether the default profile has a function that `--down NAME` finds. */
static bool is_default_function(const char *name)
{
	if (!name[0] || is_tally(PROFILE_FILE_DEFAULT))
		return false;
	bool found = false;
	struct profile *profile = reader_load(PROFILE_FILE_DEFAULT, memory_limit(), NULL);
	struct view *view = profile ? view_new(profile, &(struct view_options){ .thread = VIEW_ANY }, NULL) : NULL;
	if (view) {
		struct label_set labels;
		found = view_find(view, name, &labels) > 0;
		if (found)
			label_set_release(&labels);
	}
	view_free(view);
	profile_free(profile);
	return found;
}

static void print_open_error(const struct invocation *invocation, const char *path, const struct error *error)
{
	if (error->code == ERROR_NOT_FOUND && strcmp(path, PROFILE_FILE_DEFAULT) == 0)
		failure(invocation, "cannot open '" PROFILE_FILE_DEFAULT
				    "': No such file or directory (cpprof record COMMAND writes it)");
	else if (error->code == ERROR_NOT_FOUND && invocation->command == &command_report &&
		 !names_report(invocation) && is_default_function(path))
		failure(invocation, "%s (a function of '" PROFILE_FILE_DEFAULT "': cpprof report --down %s)",
			error->message, path);
	else
		failure_of(invocation, error);
}

/* Prints the findings of reading the profile. */
static void warn_of_findings(const struct invocation *invocation, const char *path, struct profile *profile)
{
	struct finding_walk walk = { 0 };
	quality_add_findings(profile);
	for (const struct profile_finding *finding; (finding = finding_next(profile, &walk));) {
		const struct finding_code_row *row = finding_code_find(profile_string(profile, finding->code));
		if (row && row->output == FINDING_IN_READING)
			warning(invocation, "%s: %s", path, profile_string(profile, finding->text));
	}
}

static void show_naming(void *context, size_t done, size_t total)
{
	(void)context;
	progress_set(done, total);
}

/* Prints a warning if the functions of a file have no names because it cannot be read. */
static void warn_of_files(const struct invocation *invocation, const char *path, const struct profile *profile)
{
	const struct profile_finding *unreadable = finding_find(profile, FINDING_FILE_UNREADABLE);
	if (unreadable)
		warning(invocation, "%s: %s", path, profile_string(profile, unreadable->text));
}

static bool name_addresses(const struct invocation *invocation, const char *path, struct profile *profile)
{
	/* The reader has inserted those that are there. */
	bool finds_tail_calls = profile->tail_call_count == 0;
	struct frames_options options = { .progress = show_naming,
					  .download = progress_download,
					  .finds_tail_calls = finds_tail_calls };
	struct error error = { 0 };
	notice(invocation, "%s: naming %zu address%s that the recorder left without a name", path,
	       profile->location_count, profile->location_count == 1 ? "" : "es");
	progress_begin("naming addresses", PROGRESS_NAMING_AFTER_MS);
	int result = frames_name_profile(profile, &options, &error);
	if (result == 0 && finds_tail_calls)
		result = tail_calls_insert(profile, memory_limit());
	if (result == 0)
		result = missing_names_add_all(profile);
	if (result < 0 && !error.code)
		error_set(&error, result, "cannot name the addresses: %s", error_text(result));
	progress_end();
	if (result < 0)
		failure_of(invocation, &error);
	else
		warn_of_files(invocation, path, profile);
	return result == 0;
}

/* --- tallies: files in which hooks count --- */

static struct profile *open_tally(const struct invocation *invocation, const char *path)
{
	const struct frames_options names = { .progress = show_naming, .download = progress_download };
	struct error error = { 0 };
	progress_begin("naming addresses", PROGRESS_NAMING_AFTER_MS);
	struct profile *profile = tally_load(path, &names, &error);
	progress_end();
	if (!profile) {
		failure_of(invocation, &error);
		return NULL;
	}
	if (profile->process_count > 0)
		profile_add_note(profile, "command", profile_string(profile, profile->processes[0].name));
	warn_of_findings(invocation, path, profile);
	return profile;
}

/* --- recordings --- */

/* Prints a message if the recording was cut before its first sample. `info` describes what is left of it. */
static bool holds_samples(const struct invocation *invocation, const char *path, const struct profile *profile)
{
	if (profile->ended || profile->hit_count > 0 || invocation->command == &command_info)
		return true;
	failure(invocation,
		"cannot use '%s': the recording was cut before its first sample was written (record again; 'cpprof "
		"info' shows "
		"what is left)",
		path);
	return false;
}

typedef struct profile *(*load_function)(const char *path, uint64_t memory, struct error *error);

static struct profile *read_own(const char *path, load_function load, struct error *error)
{
	char what[96];
	snprintf(what, sizeof(what), "reading %s", path);
	progress_begin(what, PROGRESS_AFTER_MS);
	struct profile *profile = load(path, memory_limit(), error);
	progress_end();
	return profile;
}

static struct profile *open_file(const struct invocation *invocation, const char *path, load_function load)
{
	struct error error = { 0 };
	const struct foreign_request request = { .path = path, .opens = true };
	if (is_tally(path))
		return open_tally(invocation, path);
	struct profile *profile = foreign_is(path) ? foreign_read(&request, &error) : read_own(path, load, &error);
	if (!profile) {
		print_open_error(invocation, path, &error);
		return NULL;
	}
	warn_of_findings(invocation, path, profile);
	if (!holds_samples(invocation, path, profile) ||
	    (!profile->symbolized && profile->location_count > 0 && !name_addresses(invocation, path, profile))) {
		profile_free(profile);
		return NULL;
	}
	return profile;
}

struct profile *profile_open_file(const struct invocation *invocation, const char *path)
{
	return open_file(invocation, path, reader_load);
}

struct profile *profile_open_sums(const struct invocation *invocation, const char *path)
{
	return open_file(invocation, path, reader_load_sums);
}

struct profile *profile_open(const struct invocation *invocation, const char *path)
{
	bool is_url = store_is_url(path);
	if (!is_url && !option_given(invocation, STORE_URL))
		return profile_open_file(invocation, path);
	char *url = is_url ? NULL : store_options_url(invocation, path);
	/* The words of the command line may be changed. */
	struct profile *profile = is_url || url ? store_options_open(invocation, is_url ? (char *)path : url) : NULL;
	free(url);
	if (profile)
		warn_of_findings(invocation, path, profile);
	return profile;
}
