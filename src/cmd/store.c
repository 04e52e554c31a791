#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/memory_size.h"
#include "base/plural.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/store_add.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "store/times.h"

enum { OPTION_BUCKET = STORE_ADD_OPTIONS_END, OPTION_RETENTION, OPTION_OLDER, OPTION_CLUSTER };

/* --- init --- */

static int read_settings(const struct invocation *invocation, struct store_settings *settings, struct error *error)
{
	const char *bucket = option_value(invocation, OPTION_BUCKET);
	const char *retention = option_value(invocation, OPTION_RETENTION);
	int64_t bucket_s = bucket ? store_age_read(bucket, error) : STORE_BUCKET_SECONDS;
	if (bucket_s == 0)
		return error_set(error, ERROR_USAGE, "--bucket %s is out of range (1s or more)", bucket);
	settings->bucket_ns = bucket_s * STORE_NS_PER_S;
	settings->cluster = option_value(invocation, OPTION_CLUSTER);
	settings->retention_s = retention ? store_age_read(retention, error) : 0;
	return bucket_s < 0 || settings->retention_s < 0 ? ERROR_USAGE : 0;
}

static int run_init(const struct invocation *invocation)
{
	struct store_settings settings;
	struct error error = { 0 };
	if (read_settings(invocation, &settings, &error) < 0 ||
	    store_create(store_options_named(invocation), &settings, &error) < 0)
		return failure_of(invocation, &error);
	notice(invocation, "made store '%s'", store_options_shown(invocation));
	return EXIT_DONE;
}

/* --- stats --- */

static void print_time(const char *title, int64_t unix_ns)
{
	char text[64];
	struct tm local;
	time_t seconds = unix_ns / STORE_NS_PER_S;
	if (localtime_r(&seconds, &local) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S %Z", &local) > 0)
		printf("%-12s %s\n", title, text);
}

static void print_stats(const struct store_statistics *stats)
{
	char text[MEMORY_SIZE_TEXT_BYTES];
	uint64_t rows = stats->hits + stats->touches;
	printf("%-12s %" PRIu64 "\n", "recordings", stats->profiles);
	if (stats->profiles > 0) {
		print_time("from", stats->first_unix_ns);
		print_time("to", stats->last_unix_ns);
	}
	printf("%-12s %" PRIu64 "\n", "samples", stats->samples);
	printf("%-12s %" PRIu64 ", in buckets of %lld s\n", "hit rows", stats->hits,
	       (long long)(stats->settings.bucket_ns / STORE_NS_PER_S));
	printf("%-12s %" PRIu64 "\n", "touch rows", stats->touches);
	printf("%-12s %" PRIu64 " of %" PRIu64 " locations and %" PRIu64 " functions\n", "stacks", stats->stacks,
	       stats->locations, stats->functions);
	if (stats->settings.retention_s > 0)
		printf("%-12s %lld s\n", "retention", (long long)stats->settings.retention_s);
	printf("%-12s %s", "size", memory_size_text(stats->bytes, text));
	if (rows > 0)
		printf(", %.1f bytes a row", (double)stats->bytes / (double)rows);
	printf("\n");
}

static int run_stats(const struct invocation *invocation)
{
	struct error error = { 0 };
	struct store_statistics stats;
	struct store *store = store_open(store_options_named(invocation), STORE_READ, &error);
	int status = store ? store_stats(store, &stats, &error) : error.code;
	store_close(store);
	if (status < 0)
		return failure_of(invocation, &error);
	print_stats(&stats);
	return EXIT_DONE;
}

/* --- prune --- */

static int prune(const struct invocation *invocation, struct store *store, struct error *error)
{
	struct store_statistics stats;
	const char *older = option_value(invocation, OPTION_OLDER);
	uint64_t removed;
	int status = store_stats(store, &stats, error);
	int64_t age_s = status < 0 ? status : older ? store_age_read(older, error) : stats.settings.retention_s;
	if (age_s < 0)
		return (int)age_s;
	if (!older && age_s == 0)
		return error_set(error, ERROR_USAGE, "the store keeps everything for ever (--older-than 30d)");
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now); /* in nanoseconds, so that 0s takes what ended in this second too */
	status = store_prune(store, ((int64_t)now.tv_sec - age_s) * STORE_NS_PER_S + now.tv_nsec,
			     option_value(invocation, STORE_SERVICE), &removed, error);
	if (status == 0)
		notice(invocation, "removed %" PRIu64 " recording%s", removed,
		       plural_ending("recording", (double)removed));
	return status;
}

static int run_prune(const struct invocation *invocation)
{
	struct error error = { 0 };
	struct store *store = store_open(store_options_named(invocation), STORE_READ, &error);
	store_close(store); /* pruning does not make a store */
	store = store ? store_open(store_options_named(invocation), STORE_WRITE, &error) : NULL;
	int status = store ? prune(invocation, store, &error) : error.code;
	store_close(store);
	return status < 0 ? failure_of(invocation, &error) : EXIT_DONE;
}

/* --- top --- */

/* Prints `report --by-label=service` of the selection. */
static int report_services(const struct invocation *invocation, const char *url, struct option_use *uses)
{
	const struct command_option *row = command_options(&command_report);
	struct invocation report = *invocation;
	while (row->name && strcmp(row->name, "by-label") != 0)
		row++;
	if (invocation->use_count > 0)
		memcpy(uses, invocation->uses, invocation->use_count * sizeof(*uses));
	uses[report.use_count++] = (struct option_use){ .option = row, .value = "service" };
	report.uses = uses;
	report.argument_count = 0; /* "top" is no file */
	report.profile_path = url;
	report.profile = profile_open(&report, url);
	int status = report.profile ? command_report.run(&report) : EXIT_FAILED;
	profile_free(report.profile);
	return status;
}

static int run_top(const struct invocation *invocation)
{
	char *url = store_options_url_of(invocation, store_options_named(invocation), "");
	struct option_use *uses = calloc(invocation->use_count + 1, sizeof(*uses));
	int status = !url    ? EXIT_FAILED
		     : !uses ? failure(invocation, "out of memory")
			     : report_services(invocation, url, uses);
	free(uses);
	free(url);
	return status;
}

/* --- the command line --- */

static const struct verb {
	const char *name;
	int (*run)(const struct invocation *invocation);
	int options[16]; /* ended by 0 */
} verbs[] = {
	{ "init", run_init, { STORE_URL, OPTION_BUCKET, OPTION_RETENTION, OPTION_CLUSTER } },
	{ "add",
	  store_add_run,
	  { STORE_URL, STORE_SERVICE, OPTION_SERVICES, STORE_HOST, STORE_LABEL, OPTION_SPOOL, OPTION_SPOOL_LIMIT,
	    OPTION_MEMORY } },
	{ "stats", run_stats, { STORE_URL, OPTION_MEMORY } },
	{ "prune", run_prune, { STORE_URL, STORE_SERVICE, OPTION_OLDER } },
	{ "top",
	  run_top,
	  { STORE_URL, STORE_SERVICE, STORE_HOST, STORE_LABEL, STORE_FROM, STORE_TO, OPTION_RESOURCE, OPTION_THRESHOLD,
	    OPTION_LIMIT, OPTION_FORMAT, OPTION_LONG, OPTION_NO_PAGER, OPTION_MEMORY } },
};

enum { VERBS = sizeof(verbs) / sizeof(verbs[0]) };

static const char *verb_word(size_t index)
{
	return index < VERBS ? verbs[index].name : NULL;
}

static word_at *words_of(int id)
{
	return id == ARGUMENT_WORDS    ? verb_word
	       : id == OPTION_SERVICES ? store_add_services_word
				       : view_option_words(id);
}

static int check_options(const struct invocation *invocation, const struct verb *verb)
{
	for (size_t i = 0; i < invocation->use_count; i++) {
		const struct command_option *option = invocation->uses[i].option;
		size_t at = 0;
		while (verb->options[at] && verb->options[at] != option->id)
			at++;
		if (!verb->options[at])
			return usage_error(invocation, "--%s cannot be combined with %s (leave out --%s)", option->name,
					   verb->name, option->name);
	}
	if (verb->run != store_add_run && invocation->argument_count > 1)
		return usage_error(invocation, "one argument too many: '%s'", invocation->arguments[1]);
	return EXIT_DONE;
}

static int run(struct invocation *invocation)
{
	char list[64];
	words_list(verb_word, list, sizeof(list));
	if (invocation->argument_count == 0)
		return usage_error(invocation, "missing argument: %s", list);
	const char *name = invocation->arguments[0];
	for (size_t i = 0; i < VERBS; i++) {
		if (strcmp(name, verbs[i].name) != 0)
			continue;
		int status = check_options(invocation, &verbs[i]);
		return status == EXIT_DONE ? verbs[i].run(invocation) : status;
	}
	return usage_error(invocation, "unknown verb '%s' (%s)", name, list);
}

static const char *const usage[] = {
	"init [--store URL] [--bucket TIME] [--retention AGE] [--cluster NAME]",
	"add [--store URL] [--service NAME] [--host NAME] [--label KEY=VALUE]... [--spool FOLDER] FILE...",
	"add [--store URL] --services FILE|auto [--host NAME] [--label KEY=VALUE]... [--spool FOLDER] FILE...",
	"stats [--store URL]",
	"prune [--store URL] [--older-than AGE] [--service NAME]",
	"top [--store URL] [--from TIME] [--to TIME] [-r RES] [--host NAME] [--label KEY=VALUE]... [--format FORMAT]",
	NULL,
};

static const struct command_option options[] = {
	{ STORE_URL, 0, "store", "URL",
	  "The store: sqlite:///PATH, a path, or http://HOST:8123/DATABASE of ClickHouse; add makes it if it does not "
	  "exist",
	  STORE_DEFAULT },
	{ STORE_SERVICE, 0, "service", "NAME",
	  "add: the service that was recorded; prune: remove of this one only; top: show this one only",
	  "the program's name; of 'record -a', --services auto" },
	{ OPTION_SERVICES, 0, "services", "FILE",
	  "add: the service of each process, by the rules of this file (SUBJECT=PATTERN SERVICE), the unit or "
	  "container of its "
	  "control group, or its name; %s: without rules",
	  NULL },
	{ STORE_HOST, 0, "host", "NAME", "add: the machine; top: count only hits of this one",
	  "that of the recording" },
	{ STORE_LABEL, 0, "label", "KEY=VALUE",
	  "add: give all hits this label; top: count only hits with it; may be given several times", NULL },
	{ OPTION_SPOOL, 0, "spool", "FOLDER",
	  "add: keep recordings in this folder while the store cannot be reached, and send those that wait there",
	  NULL },
	{ OPTION_SPOOL_LIMIT, 0, "spool-limit", "SIZE",
	  "add: drop the recordings that wait longest, rather than let the folder exceed SIZE (64M, 2G)", "none" },
	{ OPTION_BUCKET, 0, "bucket", "TIME", "init: add up hits within this time: 10s, 1m", "10s" },
	{ OPTION_RETENTION, 0, "retention", "AGE", "init: the age above which prune removes recordings: 90d",
	  "for ever" },
	{ OPTION_CLUSTER, 0, "cluster", "NAME",
	  "init: distribute the store over the servers of this cluster, as their configuration (remote_servers) lists "
	  "them; to be run on each",
	  NULL },
	{ OPTION_OLDER, 0, "older-than", "AGE", "prune: remove recordings that ended before: 90s, 15m, 6h, 30d, 8w",
	  "the store's retention" },
	{ STORE_FROM, 0, "from", "TIME", "top: from this time on: -1h, @SECONDS or a date", NULL },
	{ STORE_TO, 0, "to", "TIME", "top: up to this time", NULL },
	ROW_RESOURCES("all"),
	ROW_THRESHOLD,
	ROW_LIMIT,
	ROW_FORMAT,
	ROWS_TERMINAL,
	ROW_MEMORY,
	{ 0 },
};

static const struct command_example examples[] = {
	{ "cpprof store add cpprof.data", "put a recording into the store cpprof.db" },
	{ "cpprof store add --store sqlite:///var/lib/cpprof.db --service shop --label version=7 *.data",
	  "several, with the service and a label" },
	{ "cpprof store add --services shop.rules --spool /var/spool/cpprof --spool-limit 1G now.data",
	  "a recording of a machine: each process for its service; it waits in a folder while the store is away" },
	{ "cpprof report --store cpprof.db --service shop --from -1h", "the last hour of a service, on all machines" },
	{ "cpprof store prune --older-than 30d", "what is older than 30 days" },
	{ "cpprof store top --from -1h", "how much of each resource each service used in the last hour" },
	{ 0 },
};

const struct command command_store = {
	.name = "store",
	.task = TASK_EXCHANGE,
	.summary = "keep many recordings in one database, for reports over all of them",
	.usage = usage,
	.options = options,
	.examples = examples,
	.words = words_of,
	.argument_max = SIZE_MAX,
	.run = run,
};
