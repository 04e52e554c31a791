/*
 * frames: finds the frames of code addresses: function, file, line, inlined functions, and the kind of code.
 *
 * When a sample arrives, a recorder resolves (process, address, time) to a location: a module and an address in it.
 * This interface gives each location of a profile its frames. Each kind of code has a provider (frames/provider.h),
 * in a table of providers. A module without a provider is one function with the module's name.
 */
#ifndef FRAMES_FRAMES_H
#define FRAMES_FRAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/error.h"
#include "profile/profile.h"

/* The limits of naming. */
struct frames_limits {
	uint64_t memory_bytes; /* for one module; 0: 2 GB */
	uint64_t cpu_ns;       /* CPU time for all modules, beyond 100 ns for each byte of their files; 0: 10 s */
};

struct frames_options {
	/* Opens the ELF file of a module; returns a descriptor that frames/ closes, or a negative error with the reason
	 * in `error`. NULL: the module's path is opened. The recorder uses it for files that are in a container's root,
	 * or were deleted or replaced. */
	int (*open_module)(void *context, uint32_t module, struct error *error);
	/* Returns whether the locations of a module get frames in this call; NULL: all do. */
	bool (*wants_module)(void *context, uint32_t module);
	/* Called about every 20 ms and once at the end, with the number of locations done and of all locations; may be
	 * NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	/* Called about ten times a second while a debug file of the module at `path` is downloaded, and with NULL when that is over. `total`
	 * is 0 while the size is unknown. NULL: debug files are not downloaded, because the caller cannot wait. */
	void (*download)(void *context, const char *path, uint64_t done, uint64_t total);
	void *context;
	struct frames_limits limits;
	/* Finds what tail calls removed from the paths (frames/tail_frames.h), too. Only for a whole profile: it goes through all paths. */
	bool finds_tail_calls;
	/* When each of the first `time_count` locations was sampled, in ns of CLOCK_MONOTONIC, for code whose memory is used again; NULL:
	 * unknown. */
	const uint64_t *times;
	size_t time_count;
};

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
