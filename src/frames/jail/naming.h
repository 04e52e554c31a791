/*
 * The naming of one profile. Providers run in a jail, and only the recorder writes the profile: it checks what the child answers
 * (frames/naming_answer.h). If there can be no child, a provider runs in this process, but only on a file that belongs to root or to
 * our user.
 *
 * Life cycle: naming_init, naming_name for each module, naming_release.
 */
#ifndef FRAMES_JAIL_NAMING_H
#define FRAMES_JAIL_NAMING_H

#include "frames/functions.h"
#include "frames/jail/jail.h"
#include "frames/provider.h"
#include "profile/file_users.h"

struct naming {
	struct profile *profile;
	const struct frames_options *options; /* not NULL */
	struct functions functions;
	struct progress progress;
	/* Private to naming.c */
	struct jail jail;
	size_t shown, count;      /* locations of the module: reported to the caller as done, and all */
	struct download download; /* of all modules */
	struct file_users files;  /* whose processes executed the modules, where the caller opens no files itself */
	const char *path;         /* of the module for which a file is downloaded; NULL: none is */
};

/* `total`: the locations that will be named. Returns 0 or ERROR_MEMORY; call naming_release in any case. */
int naming_init(struct naming *naming, struct profile *profile, const struct frames_options *options, size_t total);
void naming_release(struct naming *naming);

/* Gives frames to the locations of a request for this profile. Returns ERROR_MEMORY, ERROR_LIMIT, or 0: either all have frames and `failure` is
 * unchanged, or none has and `failure` has its cause set: one of the provider's or of the jail's. */
int naming_name(struct naming *naming, const struct frames_request *request, struct frames_failure *failure);

/* The same in this process, by a provider that opens no files and does not fail. */
int naming_name_here(struct naming *naming, const struct frames_request *request);

#endif
