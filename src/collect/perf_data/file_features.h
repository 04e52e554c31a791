/* The features of a perf.data file: what the recording's machine was, and the build-ids of files. */
#ifndef COLLECT_PERF_DATA_FILE_FEATURES_H
#define COLLECT_PERF_DATA_FILE_FEATURES_H

#include <stddef.h>
#include <stdint.h>

#include "base/cursor.h"
#include "collect/perf_data/file.h"

enum { PERF_FEATURES = 256 };

/* Takes the content of feature number `feature`; those that are not used are skipped. Returns 0 or a negative error: ERROR_CORRUPT,
 * ERROR_MEMORY. */
int perf_feature_take(struct perf_data_file *file, unsigned feature, struct cursor *in);

/* Takes a build_id_event: a record of a pipe, or an item of the feature. */
int perf_feature_take_build_id(struct perf_data_file *file, struct cursor *in);

#endif
