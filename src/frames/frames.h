/*
 * frames: finds the frames of code addresses: function, file, line, inlined functions, and the kind of code.
 *
 * When a sample arrives, a recorder resolves (process, address, time) to a location: a module and an address in it.
 * This interface gives each location of a profile its frames. Each kind of code has a provider (frames/provider.h),
 * in a table of providers. A module without a provider is one function with the module's name.
 */
#ifndef FRAMES_FRAMES_H
#define FRAMES_FRAMES_H

#include "base/error.h"
#include "frames/options.h"
#include "profile/profile.h"

/* Gives frames to all locations of wanted modules that have none, and sets `symbolized`. A child process without privileges reads the
 * modules' files (frames/jail/naming.h). If a module cannot be named, its locations get names of the form
 * "module+0x1a40", and the profile gets a finding with the reason: a cause of the provider or of the jail. Debug files that
 * were not downloaded are findings, too. `options`
 * may be NULL. Returns 0, ERROR_MEMORY or ERROR_LIMIT. After locations were added to a named
 * profile, clear `symbolized` and call this again: it names only those. */
int frames_name_profile(struct profile *profile, const struct frames_options *options, struct error *error);

/* Sets the roles (enum function_role) of functions without names, which follow from their position in the call
 * paths. frames_name_profile does this too; callers that add nodes afterwards call it again. Returns 0 or
 * ERROR_MEMORY. */
int frames_assign_roles(struct profile *profile);

#endif
