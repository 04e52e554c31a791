/*
 * Names the functions of a finished profile that have no names: debug symbols were installed since, or a server has them. The file of a
 * module need not exist on this machine anymore, or ever: its debug file, found by the build-id, suffices.
 */
#ifndef FRAMES_RENAME_PROFILE_H
#define FRAMES_RENAME_PROFILE_H

#include "base/error.h"
#include "frames/frames.h"

struct rename_result {
	size_t lacking;    /* locations whose functions had no names */
	size_t named;      /* of these, the locations that have a name now */
	size_t modules;    /* their modules */
	size_t tail_calls; /* new rows of the profile's tail calls; a reader inserts their functions */
	/* A file that could have names, which was refused with EACCES (profile/file_users.h); NULL: none. A string of the profile. */
	const char *refused;
};

/* Looks up the locations of all modules that have functions without names; a location keeps its frames if its function still has no name.
 * Searches tail calls where the paths have none, in the modules' files, if they are there.
 * Replaces the findings about missing names and downloads. Of `options`, `progress`, `download`, `context` and `limits` are used. Returns 0,
 * ERROR_MEMORY or ERROR_LIMIT; then the profile may have locations without frames that no path has. */
int frames_rename_profile(struct profile *profile, const struct frames_options *options, struct rename_result *result,
			  struct error *error);

#endif
