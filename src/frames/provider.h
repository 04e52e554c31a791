/*
 * The provider of frames for one kind of code. A provider is one constant struct and its row in frames.c.
 *
 * While a profile is named, frames.c calls name_module once for each module that the provider serves and that has
 * locations without frames.
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

/* A reason why a provider could not name a module. Each provider has one list of them. */
struct frames_cause {
	const char *remedy;   /* advice for the user: "record again" */
	bool is_interruption; /* the user asked to end: it concerns all files */
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

	/* The reasons why it may fail. */
	const struct frames_cause *causes;
	size_t cause_count;

	/* Required. Returns whether the provider names the locations of this module. At most one provider serves a
	 * module. */
	bool (*serves)(const struct profile *profile, uint32_t module);

	/* Required. Gives frames to `count` locations of one module, which are distinct and ascend by address. It runs in
	 * a jail (frames/jail/jail.h), and changes functions, frames and these locations of the profile only, and adds
	 * notes of nested functions. Returns ERROR_MEMORY, ERROR_LIMIT, or 0: either all have frames and `failure` is unchanged, or none has and `failure`
	 * has its cause set; then the caller adds a finding and names them by address. */
	int (*name_module)(struct frames_naming *naming, uint32_t module, const uint32_t *locations, size_t count,
			   struct frames_failure *failure);

	/* Optional. See frames_assign_roles. */
	int (*assign_roles)(struct profile *profile);
};

/* Gives a location one frame without file and line. Returns 0 or a negative error. */
int frames_set_plain(struct frames_naming *naming, uint32_t location, enum frame_kind kind,
		     const struct function_identity *identity);

#endif
