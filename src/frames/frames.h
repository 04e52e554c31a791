/*
 * frames: from an address in a process to what executed there: function, file,
 * line, inlined functions, and the kind of code.
 *
 * A recorder resolves (process, address, time) to a location, that is a module
 * and an address in it, when the sample arrives; this interface gives each
 * location of a profile its frames. Which code can be named, and how, is a
 * table of providers (frames/provider.h), one for each kind of code. A module
 * that no provider serves is one function with the module's name.
 */
#ifndef FRAMES_FRAMES_H
#define FRAMES_FRAMES_H

#include <stddef.h>

#include "base/error.h"
#include "profile/profile.h"

struct frames_options {
	/* Opens the ELF file behind a module, or returns -1; NULL: open the
	 * module's path. The recorder uses it to reach files in a container's
	 * root or already deleted. The caller of it closes the descriptor. */
	int (*open_module)(void *context, uint32_t module);
	/* Called every 20 ms or so, and once at the end, with locations done and
	 * locations in all; may be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	void *context;
};

/* Gives frames to all locations without any and sets `symbolized`. Locations of
 * a module that cannot be named get names of the form "module+0x1a40", and the
 * profile a finding with the reason, one of the provider's causes.
 * `options` may be NULL. Returns 0, ERROR_MEMORY or ERROR_LIMIT. After locations
 * were added to a named profile, clear `symbolized` and call this again: it
 * names only those. */
int frames_name_profile(struct profile *profile, const struct frames_options *options, struct error *error);

/* Sets the roles (enum function_role) that follow from where functions without
 * names stand in the call paths. frames_name_profile does this too; callers that
 * add nodes afterwards do it again. Returns 0 or ERROR_MEMORY. */
int frames_assign_roles(struct profile *profile);

#endif
