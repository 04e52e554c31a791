#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/memory_size.h"
#include "base/path.h"
#include "base/plural.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/store_options.h"
#include "cmd/view_options.h"
#include "http/http.h"
#include "store/spool.h"
#include "store/times.h"

#define STORE_DEFAULT "cpprof.db"

enum { OPTION_BUCKET = STORE_TO + 1, OPTION_RETENTION, OPTION_OLDER, OPTION_CLUSTER, OPTION_SPOOL };

static const char *url_of(const struct invocation *invocation)
{
	const char *url = option_value(invocation, STORE_URL);
	return url ? url : STORE_DEFAULT;
}

/* Returns the URL without user and password, for messages. */
static const char *shown_url(const struct invocation *invocation)
{
	static char text[512];
	return http_public_url(url_of(invocation), text, sizeof(text));
}

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
	if (read_settings(invocation, &settings, &error) < 0 || store_create(url_of(invocation), &settings, &error) < 0)
		return failure_of(invocation, &error);
	notice(invocation, "made store '%s'", shown_url(invocation));
	return EXIT_DONE;
}

/* --- add --- */

/* Shared by all files of one `add`. */
struct adding {
	const struct invocation *invocation;
	struct store *store;        /* NULL: not opened yet */
	const char *service, *host; /* NULL: as in the recording */
	struct store_labels labels;
	const char *spool; /* NULL: none */
	size_t added, kept;
	bool is_away; /* the store cannot be reached */
};

/* Sets the hash of the file's content, and the time at which it was last written. */
static int identify(const char *path, struct store_recording *recording, struct error *error)
{
	enum { BYTES = 65536 };
	static char bytes[BYTES];
	struct stat status;
	XXH3_state_t *hash = XXH3_createState();
	int fd = path_open_regular(path);
	ssize_t got = fd < 0 || !hash || fstat(fd, &status) < 0 ? -1 : 1;
	if (got > 0)
		XXH3_128bits_reset(hash);
	while (got > 0 && (got = read(fd, bytes, sizeof(bytes))) > 0)
		XXH3_128bits_update(hash, bytes, (size_t)got);
	int code = got < 0 ? error_set_errno(error, "cannot read '%s'", path) : 0;
	if (code == 0) {
		XXH128_canonical_t canonical;
		XXH128_canonicalFromHash(&canonical, XXH3_128bits_digest(hash));
		memcpy(recording->identity, canonical.digest, sizeof(recording->identity));
		recording->start_unix_ns = (int64_t)status.st_mtim.tv_sec * STORE_NS_PER_S + status.st_mtim.tv_nsec;
	}
	if (fd >= 0)
		close(fd);
	XXH3_freeState(hash);
	return code;
}

static void describe(const struct adding *adding, struct store_recording *recording)
{
	const struct profile *profile = recording->profile;
	const char *program = profile->process_count > 0 ? profile_string(profile, profile->processes[0].name) : "";
	const char *host = profile_note(profile, "host");
	recording->service = adding->service ? adding->service : program;
	recording->host = adding->host ? adding->host : host ? host : "";
	recording->labels = adding->labels;
}

/* A store is made for a profile only, and not by a wrong name. */
static int open_for_adding(struct adding *adding, struct error *error)
{
	if (adding->is_away)
		return ERROR_UNREACHABLE;
	if (!adding->store)
		adding->store = store_open(url_of(adding->invocation), STORE_WRITE, error);
	return adding->store ? 0 : error->code;
}

/* Keeps a recording that the store has not taken, unless the recording is the reason. Returns EXIT_DONE if the store may take it
 * later. */
static int spool_recording(struct adding *adding, const struct store_recording *recording, const struct error *reason)
{
	const struct invocation *invocation = adding->invocation;
	struct error error = { 0 };
	bool is_known = adding->is_away;
	adding->is_away = reason->code == ERROR_UNREACHABLE;
	if (!is_known)
		failure_of(invocation, reason);
	else if (!adding->spool)
		failure(invocation, "cannot add '%s': the store cannot be reached", recording->name);
	if (!adding->spool || reason->code == ERROR_LIMIT || reason->code == ERROR_CORRUPT)
		return EXIT_FAILED;
	if (spool_put(adding->spool, recording, &error) < 0)
		return failure_of(invocation, &error);
	adding->kept++;
	return adding->is_away ? EXIT_DONE : EXIT_FAILED;
}

static int add_file(struct adding *adding, const char *path)
{
	struct store_recording recording = { .name = path };
	struct error error = { 0 };
	if (identify(path, &recording, &error) < 0)
		return failure_of(adding->invocation, &error);
	struct profile *profile = profile_open_file(adding->invocation, path);
	if (!profile)
		return EXIT_FAILED;
	recording.profile = profile;
	describe(adding, &recording);
	int status = open_for_adding(adding, &error);
	if (status == 0)
		status = store_add(adding->store, &recording, &error);
	if (status > 0)
		adding->added++;
	else if (status == 0)
		notice(adding->invocation, "'%s' is in the store already", recording.name);
	error.code = status < 0 ? status : 0;
	int result = status < 0 ? spool_recording(adding, &recording, &error) : EXIT_DONE;
	profile_free(profile);
	return result;
}

/* Sends what waits in the spool. Returns EXIT_DONE, also if the store is away. */
static int send_spool(struct adding *adding)
{
	const struct invocation *invocation = adding->invocation;
	struct spool_counts counts = { 0 };
	struct error error = { 0 };
	if (!adding->spool || !spool_has(adding->spool))
		return EXIT_DONE;
	int status = open_for_adding(adding, &error);
	if (status == 0)
		status = spool_send(adding->spool, adding->store, &counts, &error);
	if (counts.sent > 0)
		notice(invocation, "sent %" PRIu64 " recording%s of '%s'", counts.sent,
		       plural_ending("recording", (double)counts.sent), adding->spool);
	if (status == 0)
		return EXIT_DONE;
	adding->is_away = status == ERROR_UNREACHABLE;
	failure_of(invocation, &error);
	return adding->is_away ? EXIT_DONE : EXIT_FAILED;
}

static int read_labels(const struct invocation *invocation, struct store_label *labels, size_t *count,
		       struct error *error)
{
	int status = 0;
	for (size_t i = 0; i < invocation->use_count && status == 0; i++) {
		const struct option_use *use = &invocation->uses[i];
		if (use->option->id != STORE_LABEL)
			continue;
		/* The words of the command line may be changed. */
		status = store_label_read((char *)use->value, &labels[*count], error);
		for (size_t j = 0; j < *count && status == 0; j++)
			if (strcmp(labels[j].key, labels[*count].key) == 0)
				status = error_set(error, ERROR_USAGE, "label '%s' is given twice (give it once)",
						   labels[j].key);
		++*count;
	}
	return status;
}

/* Adds all files that can be added. */
static int add_files(struct adding *adding)
{
	const struct invocation *invocation = adding->invocation;
	int status = send_spool(adding);
	for (size_t i = 1; i < invocation->argument_count; i++)
		if (add_file(adding, invocation->arguments[i]) != EXIT_DONE)
			status = EXIT_FAILED;
	if (adding->added > 0)
		notice(invocation, "added %zu recording%s to '%s'", adding->added,
		       plural_ending("recording", (double)adding->added), shown_url(invocation));
	if (adding->kept > 0)
		notice(invocation, "kept %zu recording%s in '%s' (cpprof store add --spool sends them)", adding->kept,
		       plural_ending("recording", (double)adding->kept), adding->spool);
	return status;
}

static int run_add(const struct invocation *invocation)
{
	struct error error = { 0 };
	struct adding adding = { .invocation = invocation,
				 .service = option_value(invocation, STORE_SERVICE),
				 .host = option_value(invocation, STORE_HOST),
				 .spool = option_value(invocation, OPTION_SPOOL) };
	if (invocation->argument_count < 2 && !adding.spool)
		return usage_error(invocation, "missing argument FILE (cpprof store add cpprof.data)");
	struct store_label *labels = calloc(invocation->use_count + 1, sizeof(*labels));
	size_t count = 0;
	int status = labels ? read_labels(invocation, labels, &count, &error)
			    : error_set(&error, ERROR_MEMORY, "out of memory");
	adding.labels = (struct store_labels){ .items = labels, .count = count };
	status = status == 0 ? add_files(&adding) : failure_of(invocation, &error);
	store_close(adding.store);
	free(labels);
	return status;
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
	struct store *store = store_open(url_of(invocation), STORE_READ, &error);
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
	struct store *store = store_open(url_of(invocation), STORE_READ, &error);
	store_close(store); /* pruning does not make a store */
	store = store ? store_open(url_of(invocation), STORE_WRITE, &error) : NULL;
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
	report.profile_path = url;
	report.profile = profile_open(&report, url);
	int status = report.profile ? command_report.run(&report) : EXIT_FAILED;
	profile_free(report.profile);
	return status;
}

static int run_top(const struct invocation *invocation)
{
	char *url = store_options_url_of(invocation, url_of(invocation), "");
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
	{ "add", run_add, { STORE_URL, STORE_SERVICE, STORE_HOST, STORE_LABEL, OPTION_SPOOL, OPTION_MEMORY } },
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
	return id == ARGUMENT_WORDS ? verb_word : view_option_words(id);
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
	if (verb->run != run_add && invocation->argument_count > 1)
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
	  "the program's name" },
	{ STORE_HOST, 0, "host", "NAME", "add: the machine; top: count only hits of this one",
	  "that of the recording" },
	{ STORE_LABEL, 0, "label", "KEY=VALUE",
	  "add: give all hits this label; top: count only hits with it; may be given several times", NULL },
	{ OPTION_SPOOL, 0, "spool", "FOLDER",
	  "add: keep recordings in this folder while the store cannot be reached, and send those that wait there",
	  NULL },
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
