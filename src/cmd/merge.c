/* `cpprof merge`: one profile of many, which are read one after the other. */
#include "cmd/merge.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/huge_pages.h"
#include "base/memory_limit.h"
#include "base/plural.h"
#include "base/strings.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/progress.h"
#include "profile/quality.h"
#include "profile_file/writer.h"
#include "store/merge.h"

enum { OPTION_OUTPUT = 1, OPTION_KEY };

/* Returns the file's name without its folders and ".data", which the caller frees, or NULL. */
static char *label_of(const char *path)
{
	static const char ending[] = ".data";
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	size_t length = strlen(name), cut = sizeof(ending) - 1;
	if (length > cut && strcmp(name + length - cut, ending) == 0)
		length -= cut;
	return strndup(name, length);
}

/* Adds a profile. Its hits get the label `key` with this value, unless they have one of their own; NULL: no label. */
static int add_profile(const struct invocation *invocation, struct merge *merge, const struct profile *profile,
		       const char *path, const char *key, const char *value)
{
	struct error error = { 0 };
	bool is_labelled = key && !profile_labels_all(profile, key);
	const struct store_label label = { .key = key, .value = value };
	const struct store_recording recording = { .profile = profile,
						   .name = path,
						   .labels = { .items = &label, .count = is_labelled } };
	return merge_add(merge, &recording, &error) < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

/* Returns EXIT_DONE, or another status after a message. */
static int add_file(const struct invocation *invocation, struct merge *merge, const char *path, const char *key)
{
	struct profile *profile = profile_open_sums(invocation, path);
	char *value = key ? label_of(path) : NULL;
	int status = EXIT_FAILED;
	if (profile && key && !value)
		failure(invocation, "cannot read '%s': out of memory", path);
	else if (profile)
		status = add_profile(invocation, merge, profile, path, key, value);
	profile_free(profile);
	free(value);
	return status;
}

/* Returns the sum, or NULL after a message. */
static struct profile *finish(const struct invocation *invocation, struct merge *merge, int status)
{
	struct error error = { 0 };
	if (status != EXIT_DONE) {
		merge_free(merge);
		return NULL;
	}
	struct profile *sum = merge_finish(merge, &error);
	if (!sum)
		failure_of(invocation, &error);
	return sum;
}

/* Adds all files. Returns the sum, or NULL after a message. */
static struct profile *add_files(const struct invocation *invocation, char *const *paths, size_t count, const char *key)
{
	struct error error = { 0 };
	huge_pages_keep_freed();
	struct merge *merge = merge_new(memory_limit(), &error);
	int status = merge ? EXIT_DONE : failure_of(invocation, &error);
	progress_begin("adding up recordings", PROGRESS_AFTER_MS);
	for (size_t i = 0; i < count && status == EXIT_DONE; i++) {
		status = add_file(invocation, merge, paths[i], key);
		progress_set(i + 1, count);
	}
	progress_end();
	return finish(invocation, merge, status);
}

/* Returns the only rank that hits of a profile have as a label, a string of the profile; or PROFILE_NONE: none has one, or several differ. */
static uint32_t only_rank(const struct profile *profile)
{
	int64_t key = strings_find(&profile->strings, PROFILE_LABEL_RANK, strlen(PROFILE_LABEL_RANK));
	uint32_t rank = PROFILE_NONE;
	for (size_t i = 0; i < profile->hit_count && key >= 0; i++) {
		uint32_t value = profile_label_value(profile, profile_hit_labels(profile, i), (uint32_t)key);
		if (rank != PROFILE_NONE && value != PROFILE_NONE && value != rank)
			return PROFILE_NONE;
		rank = value == PROFILE_NONE ? rank : value;
	}
	return rank;
}

static bool states_rank(const struct profile *profile)
{
	return only_rank(profile) != PROFILE_NONE || profile_labels_all(profile, PROFILE_LABEL_RANK);
}

/* Says which resources of the first file a further one lacks: they count as 0 on its rank. */
static void warn_of_missing(const struct invocation *invocation, const struct strings *names,
			    const struct profile *profile, const char *path)
{
	for (uint32_t i = 1; i < names->count; i++)
		if (profile_find_resource(profile, strings_get(names, i)) == PROFILE_NONE)
			warning(invocation, "'%s' has no resource '%s', which counts as 0 on its rank", path,
				strings_get(names, i));
}

/* The files of `report --ranks` so far. */
struct rank_files {
	struct strings keys; /* their ranks, or their names where they state none */
	const char **paths;  /* by key; owned, the texts are not */
};

/* Warns of a file that is given twice, and of two files of one rank, whose hits add up. Returns 0 or a negative error. */
static int note_rank(const struct invocation *invocation, struct rank_files *files, const char *path, const char *rank)
{
	const char *key = rank ? rank : path;
	int64_t known = strings_find(&files->keys, key, strlen(key));
	int64_t id = known >= 0 ? known : strings_add(&files->keys, key, strlen(key));
	if (id < 0)
		return (int)id;
	const char *earlier = files->paths[id];
	if (earlier && strcmp(earlier, path) == 0)
		warning(invocation, "'%s' is given twice, and counts twice", path);
	else if (earlier)
		warning(invocation, "'%s' and '%s' are both of rank %s, and are added up", earlier, path, key);
	else
		files->paths[id] = path;
	return 0;
}

/* Adds a rank's profile and frees it. Hits from before the program stated its rank are of this rank, too. Without labels, the rank is
 * the profile's place among the files. */
static int add_rank(const struct invocation *invocation, struct merge *merge, struct profile *profile, const char *path,
		    size_t place, bool has_rank, struct rank_files *files)
{
	char by_place[24];
	uint32_t own = only_rank(profile);
	const char *value = own == PROFILE_NONE ? by_place : profile_string(profile, own);
	snprintf(by_place, sizeof(by_place), "%zu", place);
	if (note_rank(invocation, files, path, own == PROFILE_NONE ? NULL : value) < 0) {
		profile_free(profile);
		return failure(invocation, "out of memory");
	}
	int status = states_rank(profile) == has_rank
			     ? add_profile(invocation, merge, profile, path, PROFILE_LABEL_RANK, value)
			     : failure(invocation,
				       "cannot compare the ranks: of '%s' and '%s', only one states its rank (record "
				       "all by mpirun "
				       "or srun, with -o NAME.%%r.data)",
				       invocation->profile_path, path);
	profile_free(profile);
	return status;
}

/* Adds the first file's profile and the others. `names`: becomes the first one's resources. Returns the exit status. */
static int add_ranks(struct invocation *invocation, struct merge *merge, struct strings *names,
		     struct rank_files *files)
{
	struct profile *profile = invocation->profile;
	bool has_rank = states_rank(profile), is_short = false;
	for (size_t i = 0; i < profile->resource_count; i++) {
		const char *name = profile_string(profile, profile->resources[i].name);
		is_short |= strings_add(names, name, strlen(name)) < 0;
	}
	invocation->profile = NULL;
	progress_begin("adding up recordings", PROGRESS_AFTER_MS);
	int status = add_rank(invocation, merge, profile, invocation->profile_path, 0, has_rank, files);
	for (size_t i = 0; i < invocation->argument_count && status == EXIT_DONE && !is_short; i++) {
		const char *path = invocation->arguments[i];
		progress_set(i + 1, invocation->argument_count + 1);
		profile = profile_open_sums(invocation, path);
		if (profile)
			warn_of_missing(invocation, names, profile, path);
		status = profile ? add_rank(invocation, merge, profile, path, i + 1, has_rank, files) : EXIT_FAILED;
	}
	progress_end();
	return is_short ? failure(invocation, "out of memory") : status;
}

int merge_ranks(struct invocation *invocation)
{
	struct error error = { 0 };
	struct strings names;
	struct merge *merge = merge_new(memory_limit(), &error);
	if (!merge)
		return failure_of(invocation, &error);
	merge_keep_apart(merge);
	/* Besides the texts there is the empty one. */
	struct rank_files files = { .paths = calloc(invocation->argument_count + 2, sizeof(*files.paths)) };
	bool is_short = strings_init(&names) < 0;
	is_short |= strings_init(&files.keys) < 0 || !files.paths;
	int status = is_short ? failure(invocation, "out of memory") : add_ranks(invocation, merge, &names, &files);
	strings_release(&names);
	strings_release(&files.keys);
	free((void *)files.paths);
	invocation->profile = finish(invocation, merge, status);
	return invocation->profile ? EXIT_DONE : EXIT_FAILED;
}

static int write_sum(const struct invocation *invocation, struct writer *writer, const struct profile *profile,
		     size_t count, const char *output)
{
	struct error error = { 0 };
	if (writer_finish(writer, profile, &error) < 0 || writer_publish(writer, &error) < 0)
		return failure_of(invocation, &error);
	struct quality quality = quality_of(profile);
	size_t paths = profile->node_count - 1;
	notice(invocation, "%" PRIu64 " sample%s of %zu recording%s, %zu call path%s, %" PRIu64 " bytes written to %s",
	       quality.samples, plural_ending("sample", (double)quality.samples), count,
	       plural_ending("recording", (double)count), paths, plural_ending("path", (double)paths),
	       writer_size(writer), output);
	return EXIT_DONE;
}

int merge_files(const struct invocation *invocation, char *const *paths, size_t count, const char *key,
		const char *output)
{
	struct error error = { 0 };
	struct writer *writer = writer_open(output, &error);
	if (!writer)
		return failure_of(invocation, &error);
	struct profile *sum = add_files(invocation, paths, count, key);
	int status = sum ? write_sum(invocation, writer, sum, count, output) : EXIT_FAILED;
	profile_free(sum);
	writer_free(writer);
	return status;
}

static int run(struct invocation *invocation)
{
	const char *output = option_value(invocation, OPTION_OUTPUT), *key = option_value(invocation, OPTION_KEY);
	if (!output)
		return usage_error(invocation, "missing option -o FILE (cpprof merge -o all.data run.*.data)");
	if (key && !*key)
		return usage_error(invocation, "the key of a label is empty (--label rank)");
	if (key && strchr(key, '='))
		return usage_error(invocation,
				   "the key '%s' of a label has a '=' (--label KEY: the values are names of files)",
				   key);
	return merge_files(invocation, invocation->arguments, invocation->argument_count, key, output);
}

static const char *const usage[] = { "-o FILE [--label KEY] PROFILE...", NULL };

static const struct command_option options[] = {
	{ OPTION_OUTPUT, 'o', "output", "FILE", "Write the sum to FILE; an older one is kept as FILE.old", NULL },
	{ OPTION_KEY, 0, "label", "KEY",
	  "Give the hits of each profile the label KEY=NAME, with the name of its file, unless they have a label KEY",
	  NULL },
	ROWS_LIMITS,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof merge -o all.data run.1.data run.2.data", "one profile of two runs, without times and threads" },
	{ "cpprof merge --label rank -o job.data rank*.data", "of the processes of a job, each with its label" },
	{ "cpprof report --by-label rank job.data", "how much each of them used" },
	{ 0 },
};

const struct command command_merge = {
	.name = "merge",
	.task = TASK_EXCHANGE,
	.summary = "add up many profiles",
	.usage = usage,
	.options = options,
	.examples = examples,
	.argument_min = 1,
	.argument_max = SIZE_MAX,
	.run = run,
};
