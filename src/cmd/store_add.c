/* `cpprof store add`. */
#include "cmd/store_add.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "base/huge_pages.h"
#include "base/memory_size.h"
#include "base/path.h"
#include "base/plural.h"
#include "base/time_unit.h"
#include "cmd/message.h"
#include "cmd/profile_open.h"
#include "cmd/store_options.h"
#include "store/service_names.h"
#include "store/spool.h"

/* Shared by all files of one `add`. */
struct adding {
	const struct invocation *invocation;
	struct store *store;         /* NULL: not opened yet */
	const char *service, *host;  /* NULL: as in the recording */
	const char *services;        /* the value of --services; NULL: not given */
	struct service_rules *rules; /* of its file; owned; NULL: none */
	struct store_labels labels;
	const char *spool; /* NULL: none */
	struct spool_limit spool_limit;
	size_t added, kept;
	size_t parts; /* recordings that the store has made of the added ones, one for each service */
	bool is_away; /* the store cannot be reached or opened */
};

/* The time of a file that is out of range. */
static const int64_t NO_TIME = INT64_MAX;

/* Sets the hash of the file's content, and the time at which it was last written, or NO_TIME. */
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
		if (!time_unix_ns(&status.st_mtim, &recording->start_unix_ns))
			recording->start_unix_ns = NO_TIME;
	}
	if (fd >= 0)
		close(fd);
	XXH3_freeState(hash);
	return code;
}

/* Makes host and start time a part of the identity of a file that does not state its start: imports of equal content may be of different
 * machines and times. */
static void identify_import(struct store_recording *recording)
{
	const XXH64_hash_t seed =
		XXH3_64bits_withSeed(recording->host, strlen(recording->host), (XXH64_hash_t)recording->start_unix_ns);
	XXH128_canonical_t canonical;
	XXH128_canonicalFromHash(&canonical,
				 XXH3_128bits_withSeed(recording->identity, sizeof(recording->identity), seed));
	memcpy(recording->identity, canonical.digest, sizeof(recording->identity));
}

/* Sets what a store adds to the profile. The caller releases the names, which are those of `recording`. */
static int describe(const struct adding *adding, struct store_recording *recording, struct service_names *names,
		    struct error *error)
{
	const struct profile *profile = recording->profile;
	const char *host = profile_note(profile, "host");
	*names = (struct service_names){ 0 };
	recording->service = adding->service;
	recording->host = adding->host ? adding->host : host ? host : "";
	recording->labels = adding->labels;
	if (profile->start_unix_ns == 0)
		identify_import(recording);
	if (adding->service)
		return 0;
	if (service_names_init(names, profile, adding->rules) < 0)
		return error_memory(error);
	recording->service = names->rest;
	if (adding->services || service_names_is_machine(profile))
		recording->services = names->items;
	return 0;
}

/* A store is made for a profile only, and not by a wrong name. */
static int open_for_adding(struct adding *adding, struct error *error)
{
	if (adding->is_away)
		return ERROR_UNREACHABLE;
	if (!adding->store)
		adding->store = store_open(store_options_named(adding->invocation), STORE_WRITE, error);
	return adding->store ? 0 : error->code;
}

/* Keeps a recording that the store has not taken in the spool, unless the recording is the reason. Returns EXIT_DONE if it is there. */
static int spool_recording(struct adding *adding, const struct store_recording *recording, const struct error *reason)
{
	const struct invocation *invocation = adding->invocation;
	struct error error = { 0 };
	bool is_known = adding->is_away;
	bool is_kept = adding->spool && reason->code != ERROR_LIMIT;
	adding->is_away = reason->code == ERROR_UNREACHABLE || !adding->store;
	if (!is_known && is_kept)
		warning(invocation, "%s", reason->message);
	else if (!is_known)
		failure_of(invocation, reason);
	else if (!is_kept)
		failure(invocation, "cannot add '%s': the store cannot be reached or opened", recording->name);
	if (!is_kept)
		return EXIT_FAILED;
	if (spool_put(adding->spool, recording, &adding->spool_limit, &error) < 0)
		return failure_of(invocation, &error);
	adding->kept++;
	return EXIT_DONE;
}

/* Warns of a recording from the future: windows of time that end now do not have it, and prune keeps it. */
static void check_clock(const struct adding *adding, const struct store_recording *recording)
{
	enum { TOLERATED_S = 60 };
	const int64_t known_ns = recording->profile->start_unix_ns;
	const int64_t ahead_s = (known_ns ? known_ns : recording->start_unix_ns) / STORE_NS_PER_S - time(NULL);
	if (ahead_s > TOLERATED_S)
		warning(adding->invocation,
			"'%s' starts %" PRId64
			" s in the future by the clock of this machine, and selections that end now "
			"leave it out (set the clocks, or the time of a file that does not state its start)",
			recording->name, ahead_s);
}

/* Adds a recording to the store, or else keeps it in the spool. */
static int add_recording(struct adding *adding, struct store_recording *recording)
{
	struct error error = { 0 };
	struct service_names names;
	if (describe(adding, recording, &names, &error) < 0) {
		service_names_release(&names);
		return failure_of(adding->invocation, &error);
	}
	int status = open_for_adding(adding, &error);
	if (status == 0)
		status = store_add(adding->store, recording, &error);
	if (status > 0) {
		adding->added++;
		adding->parts += (size_t)status;
	} else if (status == 0) {
		notice(adding->invocation, "'%s' is in the store already, as it was first added", recording->name);
	}
	error.code = status < 0 ? status : 0;
	int result = status < 0 ? spool_recording(adding, recording, &error) : EXIT_DONE;
	service_names_release(&names);
	return result;
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
	bool is_dated = profile->start_unix_ns != 0 || recording.start_unix_ns != NO_TIME;
	int result = is_dated ? EXIT_DONE
			      : failure(adding->invocation,
					"cannot add '%s': the file's time is out of range (touch sets it)", path);
	if (is_dated) {
		check_clock(adding, &recording);
		result = add_recording(adding, &recording);
	}
	profile_free(profile);
	return result;
}

/* Sends what waits in the spool. What cannot be sent is a warning: the status is that of the files of the command line. */
static void send_spool(struct adding *adding)
{
	const struct invocation *invocation = adding->invocation;
	struct spool_counts counts = { 0 };
	struct error error = { 0 };
	if (!adding->spool || !spool_has(adding->spool))
		return;
	int status = open_for_adding(adding, &error);
	if (status == 0)
		status = spool_send(adding->spool, adding->store, &counts, &error);
	if (counts.sent > 0)
		notice(invocation, "sent %" PRIu64 " recording%s of '%s'", counts.sent,
		       plural_ending("recording", (double)counts.sent), adding->spool);
	if (status == 0)
		return;
	adding->is_away = status == ERROR_UNREACHABLE || !adding->store;
	warning(invocation, "%s", error.message);
	if (counts.refused > 0)
		warning(invocation,
			"%" PRIu64 " recording%s of '%s' cannot be added: renamed from .spool to .bad, not tried again",
			counts.refused, plural_ending("recording", (double)counts.refused), adding->spool);
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

static void report(const struct adding *adding)
{
	const struct invocation *invocation = adding->invocation;
	uint64_t dropped = adding->spool_limit.dropped;
	char parts[64] = "";
	if (adding->parts > adding->added)
		snprintf(parts, sizeof(parts), " in %zu parts, one for each service,", adding->parts);
	if (adding->added > 0)
		notice(invocation, "added %zu recording%s%s to '%s'", adding->added,
		       plural_ending("recording", (double)adding->added), parts, store_options_shown(invocation));
	if (adding->kept > 0)
		notice(invocation, "kept %zu recording%s in '%s' (cpprof store add --spool sends them)", adding->kept,
		       plural_ending("recording", (double)adding->kept), adding->spool);
	if (dropped > 0)
		warning(invocation,
			"dropped %" PRIu64 " recording%s of '%s', the oldest first: no room (--spool-limit)", dropped,
			plural_ending("recording", (double)dropped), adding->spool);
}

static bool has_kept;

bool store_add_has_kept(void)
{
	return has_kept;
}

/* Adds all files that can be added. */
static int add_files(struct adding *adding)
{
	const struct invocation *invocation = adding->invocation;
	int status = EXIT_DONE;
	huge_pages_keep_freed();
	send_spool(adding);
	for (size_t i = 1; i < invocation->argument_count; i++)
		if (add_file(adding, invocation->arguments[i]) != EXIT_DONE)
			status = EXIT_FAILED;
	report(adding);
	has_kept = adding->kept > 0;
	return status;
}

/* --- the command line --- */

static const char AUTO[] = "auto";

const char *store_add_services_word(size_t index)
{
	return index == 0 ? AUTO : NULL;
}

/* Returns EXIT_DONE, or prints a usage error. */
static int check_options(const struct adding *adding)
{
	const struct invocation *invocation = adding->invocation;
	if (invocation->argument_count < 2 && !adding->spool)
		return usage_error(invocation, "missing argument FILE (cpprof store add cpprof.data)");
	if (adding->service && adding->services)
		return usage_error(invocation, "--services cannot be combined with --service (leave out one of them)");
	if (option_given(invocation, OPTION_SPOOL_LIMIT) && !adding->spool)
		return usage_error(invocation, "--spool-limit needs a folder (--spool FOLDER)");
	return EXIT_DONE;
}

static int read_options(struct adding *adding, struct store_label *labels, struct error *error)
{
	const char *limit = option_value(adding->invocation, OPTION_SPOOL_LIMIT);
	size_t count = 0;
	int status = read_labels(adding->invocation, labels, &count, error);
	adding->labels = (struct store_labels){ .items = labels, .count = count };
	if (status == 0 && limit &&
	    (!memory_size_read(limit, &adding->spool_limit.bytes) || adding->spool_limit.bytes == 0))
		status = error_set(error, ERROR_USAGE, "--spool-limit %s is no size (64M, 2G)", limit);
	if (status == 0 && adding->services && strcmp(adding->services, AUTO) != 0) {
		adding->rules = service_rules_read(adding->services, error);
		status = adding->rules ? 0 : error->code;
	}
	return status;
}

int store_add_run(const struct invocation *invocation)
{
	struct error error = { 0 };
	struct adding adding = { .invocation = invocation,
				 .service = option_value(invocation, STORE_SERVICE),
				 .services = option_value(invocation, OPTION_SERVICES),
				 .host = option_value(invocation, STORE_HOST),
				 .spool = option_value(invocation, OPTION_SPOOL) };
	int status = check_options(&adding);
	if (status != EXIT_DONE)
		return status;
	struct store_label *labels = calloc(invocation->use_count + 1, sizeof(*labels));
	status = labels ? read_options(&adding, labels, &error) : error_memory(&error);
	status = status == 0 ? add_files(&adding) : failure_of(invocation, &error);
	store_close(adding.store);
	service_rules_free(adding.rules);
	free(labels);
	return status;
}
