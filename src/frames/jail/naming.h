/*
 * Names the modules of a profile in a jail. Only the recorder writes the profile; it checks what the child sends
 * (jail/additions.h). If there can be no child, a module is named in this process only if its file belongs to root or to
 * our user.
 *
 * Life cycle: naming_jail_init, naming_jail_name for each module, naming_jail_release.
 */
#ifndef FRAMES_JAIL_NAMING_H
#define FRAMES_JAIL_NAMING_H

#include "frames/jail/additions.h"
#include "frames/jail/jail.h"
#include "frames/provider.h"
#include "profile/file_users.h"

struct naming_jail {
	struct jail jail;
	struct frames_naming *naming; /* of the recorder */
	size_t copied;                /* functions of the profile when the child was made */
	size_t shown, count;          /* locations of the module: reported to the caller as done, and all */
	struct download download;     /* of all modules */
	struct file_users files;      /* whose processes executed the modules, where the caller opens no files itself */
	const char *path;             /* of the module for which a file is downloaded; NULL: none is */
	/* In the child */
	struct additions_before before;
	struct frames_options inside;
	struct jail_input *inside_input; /* of the task that runs */
};

void naming_jail_init(struct naming_jail *jail, struct frames_naming *naming);
void naming_jail_release(struct naming_jail *jail);

/* As frames_provider.name_module. */
int naming_jail_name(struct naming_jail *jail, const struct frames_provider *provider, uint32_t module,
		     const uint32_t *locations, size_t count, struct frames_failure *failure);

#endif
