/* Recordings of a workload that have enough samples. */
#ifndef CMD_OPTIMIZE_SAMPLES_H
#define CMD_OPTIMIZE_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "profile/profile.h"

struct optimize_samples {
	struct profile *profile; /* owned by the caller */
	size_t runs;             /* of the workload */
	bool any_code;           /* set it: all hits are used, not only those in lines */
	uint64_t hits, used;     /* all, and those in lines of the build */
};

/* Records the workload in a folder: `runs` times or, if that is 0, as often as it takes to get enough samples. `data` is
 * written. Returns 0 or a negative error: ERROR_LIMIT if even many runs are too few. */
int optimize_samples_take(struct optimize_samples *samples, const char *folder, const char *workload, const char *data,
			  struct error *error);

#endif
