/*
 * One kind of code and how its addresses get frames. A provider is one constant
 * struct and its row in frames.c.
 *
 * While a profile is named, frames.c calls name_module once for each module that
 * the provider serves and that has locations without frames.
 */
#ifndef FRAMES_PROVIDER_H
#define FRAMES_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "frames/frames.h"
#include "frames/functions.h"
#include "frames/progress.h"

/* Why a provider could not name a module. Each provider has one list of them. */
struct frames_cause {
	const char *remedy; /* what the user can do: "record again" */
};

/* The naming of one profile, shared by the providers. */
struct frames_naming {
	struct profile *profile;
	const struct frames_options *options; /* not NULL */
	struct functions functions;
	struct progress progress;
};

/* Filled in by a provider that cannot name a module. */
struct frames_failure {
	const struct frames_cause *cause; /* of the provider's list; NULL: no failure */
	struct error detail;              /* "cannot read /usr/bin/x: No such file or directory" */
};

struct frames_provider {
	enum frame_kind kind; /* of the frames that it makes */

	/* Required. Whether the provider names the locations of this module. At
	 * most one provider serves a module. */
	bool (*serves)(const struct profile *profile, uint32_t module);

	/* Required. Gives frames to `count` locations of one module, which ascend
	 * by address and differ. Returns 0 with `failure` untouched (all have
	 * frames) or with its cause set (none has; the caller warns and names
	 * them by address), ERROR_MEMORY or ERROR_LIMIT. */
	int (*name_module)(struct frames_naming *naming, uint32_t module, const uint32_t *locations, size_t count,
			   struct frames_failure *failure);

	/* Optional. See frames_assign_roles. */
	int (*assign_roles)(struct profile *profile);
};

/* Gives a location one frame without file and line. */
int frames_set_plain(struct frames_naming *naming, uint32_t location, enum frame_kind kind,
		     const struct function_identity *identity);

#endif
