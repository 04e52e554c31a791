/*
 * A store: many recordings in one place. Each call path and each name is stored once, hits are
 * added up in buckets of time, and a selection of recordings comes back as a profile, on which all
 * analyses and reports work.
 *
 *   struct profile --store_add--> rows --store_select--> struct profile
 *
 * The logical tables are the same in every kind of store:
 *
 *   profiles      a row for each recording, or for each service of it: service, host, time, losses, and its description (store/description.h)
 *   labels        of recordings, as their owner gave them
 *   modules, functions, locations, frames, stacks
 *                 each distinct one once, found by a 64-bit hash; a stack is the hash of its caller's stack and a location
 *   hits          (recording, resource, thread, label set of the program; bucket, stack) with the sum of hits and the number of samples; on SQLite many
 *                 rows together in a block
 *   touches       the memory of page faults
 *
 * Figures are the same as those of the recordings' files. Times are rounded down to buckets.
 *
 * A kind of store is a row in store.c. Life cycle: store_open, any number of calls, store_close.
 * Every function that can fail returns a negative error code, or NULL, with `error` set.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

#define STORE_NS_PER_S INT64_C(1000000000)

enum {
	STORE_IDENTITY_BYTES = 16,
	STORE_FILE_BYTES = 12, /* those at the beginning of an identity are of the file alone */
	STORE_BUCKET_SECONDS = 10,
	STORE_LABELS_MOST = 1024, /* of a recording */
};

struct store_label {
	const char *key, *value; /* not owned */
};

struct store_labels {
	const struct store_label *items; /* not owned; distinct keys */
	size_t count;
};

/* A recording that is to be added. Texts are not owned. */
struct store_recording {
	const struct profile *profile;
	const char *name; /* for messages */
	const char *service, *host;
	/* By process of the profile: its service, if they differ; then `service` is that of what belongs to no process
	 * (store/service_parts.h). NULL: all is of `service`. */
	const char *const *services;
	struct store_labels labels;
	uint8_t identity[STORE_IDENTITY_BYTES]; /* hash of its file's content: an equal one is not added again */
	int64_t start_unix_ns;                  /* stands in for the profile's, if that is not known */
};

/* Texts are not owned. */
struct store_selection {
	const char *service, *host; /* NULL: any */
	struct store_labels labels; /* hits must have all of them, from the program or its recording */
	/* Hits get the labels `service` and `host` of their recording, if they have no such keys; those without a time get the time of its
	 * start. The sum starts with the first recording, even if that does not know its start. */
	bool has_sources;
	/* Hits of one call path, resource, label set and size of a sample are added up, without times and threads, and the profile has no touches,
	 * processes and threads: its hits grow with the call paths and label sets, not with the time. */
	bool is_sum;
	int64_t from_unix_ns; /* INT64_MIN: open */
	int64_t to_unix_ns;   /* exclusive; INT64_MAX: open */
	/* Words for the resources that are needed: a name, its beginning, or a title. Hits of
	 * others are left out, except those by which reports divide: calls and lines. 0: all are
	 * needed. */
	const char *const *resources;
	size_t resource_count;
	uint64_t memory;    /* limit of the bytes of a description, and of all hits; 0: none */
	const char *remedy; /* for recordings that do not fit together; NULL: to select fewer */
};

/* Returns whether a word of the selection stands for the resource. */
bool store_names_resource(const struct store_selection *selection, const char *name, const char *title);

struct store_settings {
	int64_t bucket_ns;
	int64_t retention_s; /* 0: recordings are kept for ever */
	const char *
		cluster; /* the servers among which the store is distributed; NULL: one. Owned by the store, or the caller */
};

struct store_statistics {
	struct store_settings settings;
	uint64_t profiles, hits, samples, touches, stacks, locations, functions, modules;
	uint64_t bytes;                      /* of the store on its disk */
	int64_t first_unix_ns, last_unix_ns; /* start and end of all recordings */
};

enum store_mode { STORE_READ, STORE_WRITE };

struct store;

/* Makes a new store. Fails if there is one. */
int store_create(const char *url, const struct store_settings *settings, struct error *error);

/* Opens a store. With STORE_WRITE, makes it if it does not exist. An error of code
 * ERROR_UNREACHABLE, here and in the calls below, may pass: the server is away. */
struct store *store_open(const char *url, enum store_mode mode, struct error *error);
void store_close(struct store *store); /* NULL is allowed */

/* Returns the length of the buckets. */
int64_t store_bucket_ns(const struct store *store);

/* Returns 0, or ERROR_LIMIT if no store takes the recording. */
int store_check(const struct store_recording *recording, struct error *error);

/* Returns the number of recordings that were added, 1 or one for each service, 0 if an equal one or a service of it was there, or a
 * negative error; then nothing was added. (After ERROR_UNREACHABLE, a server may have added it, whose confirmation got lost.)
 * ERROR_LIMIT: the recording is the reason, and no other store takes it. */
int store_add(struct store *store, const struct store_recording *recording, struct error *error);

/* Returns a profile with all names, which the caller frees. Fails with ERROR_NOT_FOUND if the
 * selection is empty, and with ERROR_LIMIT if it needs more memory than it may. */
struct profile *store_select(struct store *store, const struct store_selection *selection, struct error *error);

int store_stats(struct store *store, struct store_statistics *statistics, struct error *error);

/* Removes the recordings that ended before a time, then everything to which no recording refers,
 * and returns the memory to the disk. `service` NULL: of any. Sets *removed to the number of
 * recordings. */
int store_prune(struct store *store, int64_t before_unix_ns, const char *service, uint64_t *removed,
		struct error *error);

/* Returns whether the text is the URL of a kind of store: "sqlite:///var/lib/cpprof.db", "http://host:8123/db". */
bool store_is_url(const char *text);

/* Returns whether a file that begins with these bytes is a store. 72 bytes are enough. */
bool store_is_file(const unsigned char *start, size_t bytes);

/* A kind of store. `place` is behind "SCHEME://". */
struct store_kind {
	const char *schemes[2]; /* the second one may be NULL */
	int (*create)(const char *url, const char *place, const struct store_settings *settings, struct error *error);
	struct store *(*open)(const char *url, const char *place, enum store_mode mode, struct error *error);
	void (*close)(struct store *store);
	int64_t (*bucket_ns)(const struct store *store);
	/* Returns 1 if the store has an identity with the recording's STORE_FILE_BYTES, 0 if not, or a negative error. */
	int (*has)(struct store *store, const struct store_recording *recording, struct error *error);
	/* Adds a recording that `has` did not find, with all its processes: `services` is NULL; or, after others without
	 * `end`, another part of the same file. It does not count before `end`. Returns 1, 0 if another program has added the
	 * file meanwhile, or a negative error. */
	int (*add)(struct store *store, const struct store_recording *recording, struct error *error);
	/* Makes what was added count, all of it at once, if `status` is 0; otherwise nothing is added. Returns `status` or an
	 * error. */
	int (*end)(struct store *store, int status, struct error *error);
	struct profile *(*select)(struct store *store, const struct store_selection *selection, struct error *error);
	int (*stats)(struct store *store, struct store_statistics *statistics, struct error *error);
	int (*prune)(struct store *store, int64_t before_unix_ns, const char *service, uint64_t *removed,
		     struct error *error);
};

/* Each kind's own struct begins with it. */
struct store {
	const struct store_kind *kind;
};

extern const struct store_kind store_sqlite, store_clickhouse;

#endif
