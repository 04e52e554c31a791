/*
 * The provider of frames for one kind of code: a file frames/NAME/NAME.c with the constant struct NAME_provider, and NAME in this list.
 *
 * While a profile is named, frames.c makes one request for each module that a provider serves and that has locations
 * without frames. The provider answers by the functions of frames/naming_answer.h.
 */
#ifndef FRAMES_PROVIDER_H
#define FRAMES_PROVIDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "frames/options.h"
#include "frames/progress.h"
#include "profile/profile.h"

#define FRAMES_PROVIDERS(X) X(native) X(jit) X(kernel)

struct naming_answer;

/* A reason why a provider could not name a module. Each provider has one list of them. */
struct frames_cause {
	const char *remedy;   /* advice for the user: "record again" */
	bool is_interruption; /* the user asked to end: it concerns all files */
};

struct frames_failure {
	const struct frames_cause *cause; /* of the provider's list; NULL: no failure */
	struct error detail;              /* "cannot read /usr/bin/x: No such file or directory" */
};

/* The locations of one module, which are distinct and ascend by address, for a provider. */
struct frames_request {
	const struct frames_provider *provider;
	const struct profile *profile;
	const struct frames_options *options; /* not NULL; the provider uses open_module and times */
	struct progress *progress;
	uint32_t module;
	const uint32_t *locations;
	size_t count;
};

static inline uint64_t frames_request_address(const struct frames_request *request, size_t i)
{
	return request->profile->locations[request->locations[i]].address;
}

struct frames_provider {
	enum frame_kind kind; /* of the frames that it makes */

	/* The reasons why it may fail. */
	const struct frames_cause *causes;
	size_t cause_count;

	/* Required. Returns whether the provider names the locations of this module. At most one provider serves a
	 * module. */
	bool (*serves)(const struct profile *profile, uint32_t module);

	/* Required. Adds the frames of all locations, in their order. It runs in a jail (frames/jail/jail.h). Returns 0 or a negative error. If the
	 * module cannot be named, returns 0 with the answer's `failure` set; then the caller adds a finding and names the locations by
	 * address. */
	int (*name_module)(const struct frames_request *request, struct naming_answer *answer);

	/* Optional. See frames_assign_roles. */
	int (*assign_roles)(struct profile *profile);
};

#define X(name) extern const struct frames_provider name##_provider;
FRAMES_PROVIDERS(X)
#undef X

#endif
