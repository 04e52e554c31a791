/*
 * A perf.data file (Linux, tools/perf/Documentation/perf.data-file-format.txt): its events, its
 * description, and a list of its records in the order of time.
 *
 *   file:  magic "PERFILE2" | header 104 bytes | attributes and ids | records... | features, as the header's bits list them
 *   pipe:  magic "PERFILE2" | size 16 | records..., among them the attributes and features
 *
 * Records that perf compressed are unpacked into an unlinked temporary file; so is input that cannot be read twice.
 *
 * Life cycle: perf_data_open, any reading, perf_data_close.
 */
#ifndef COLLECT_PERF_DATA_FILE_H
#define COLLECT_PERF_DATA_FILE_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/cursor.h"
#include "base/error.h"
#include "base/hash_map.h"
#include "base/strings.h"

enum { PERF_DATA_RECORD_MOST = 65536, PERF_DATA_BUILD_ID_BYTES = 20 };

/* An event that was recorded. */
struct perf_data_event {
	struct perf_event_attr attr; /* zeros where the file's is shorter than ours */
	uint32_t name;               /* string: "cpu-clock"; "": unknown */
	uint64_t samples;
	uint64_t least_period, most_period; /* of its samples; 0: they have none */
};

/* The position of a record. */
struct perf_data_position {
	uint64_t time_ns; /* 0: none, so that it comes first */
	uint64_t offset;
	uint32_t event; /* index in events; UINT32_MAX: none */
	uint16_t size;
	bool is_unpacked;
	bool is_sample;
};

struct perf_data_build_id {
	uint32_t path; /* string */
	uint8_t bytes[PERF_DATA_BUILD_ID_BYTES];
	uint8_t size;
};

struct perf_data_file {
	int fd;         /* of the records, or -1; owned if it is `spool` */
	FILE *spool;    /* copied input; NULL: none; owned */
	FILE *unpacked; /* unpacked records; NULL: none; owned */
	struct perf_data_event *events;
	size_t event_count, event_capacity;
	struct hash_map event_by_id;
	bool is_cut; /* the compressed records end in the middle of one: perf does not always write its compressor's last bytes */
	struct perf_data_position *records; /* sorted by time; owned */
	size_t record_count, record_capacity;
	struct perf_data_build_id *build_ids;
	size_t build_id_count, build_id_capacity;
	struct strings strings;
	uint32_t host, release, processor, command; /* strings; "": unknown */
	uint32_t cpus;                              /* 0: unknown */
	int64_t modified_s;                         /* when the file was written last, in seconds of CLOCK_REALTIME */
	uint8_t *buffer;                            /* of PERF_DATA_RECORD_MOST bytes */
	const char *name;                           /* of the input, for messages */
};

/* Reads everything but the content of records. `name` must outlive the file. Returns 0 or a negative error. */
int perf_data_open(struct perf_data_file *file, FILE *in, const char *name, struct error *error);
void perf_data_close(struct perf_data_file *file);

/* Returns a record, valid until the next call, or NULL with the reason in `error`. */
const struct perf_event_header *perf_data_record(struct perf_data_file *file, size_t index, struct error *error);

/* Returns the build-id that the file has for a path, or NULL. */
const struct perf_data_build_id *perf_data_build_id(const struct perf_data_file *file, const char *path);

static inline const char *perf_data_string(const struct perf_data_file *file, uint32_t id)
{
	return strings_get(&file->strings, id);
}

/* file_features.c: the features of a perf.data file: what the recording's machine was, and the build-ids of files. */

enum { PERF_FEATURES = 256 };

/* Takes the content of feature number `feature`; those that are not used are skipped. Returns 0
 * or a negative error: ERROR_CORRUPT, ERROR_MEMORY. */
int perf_feature_take(struct perf_data_file *file, unsigned feature, struct cursor *in);

/* Takes a build_id_event: a record of a pipe, or an item of the feature. */
int perf_feature_take_build_id(struct perf_data_file *file, struct cursor *in);

#endif
