#include "profile_file/process_users.h"

#include <string.h>
#include <sys/utsname.h>

#include "base/file_place.h"

/* Returns whether the recording was made on this machine, where its user ids have a meaning. */
static bool is_of_here(const struct profile *profile)
{
	struct utsname here;
	const char *host = profile_note(profile, "host");
	return host && uname(&here) == 0 && strcmp(host, here.nodename) == 0;
}

void process_users_limit(struct profile *profile, uint32_t owner)
{
	if (owner == 0 || !is_of_here(profile))
		profile_set_users(profile, 0);
	else if (!file_place_is_ours(owner - 1))
		profile_set_users(profile, owner);
}
