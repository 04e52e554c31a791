#include <unistd.h>

#include "base/file_place.h"
#include "ui/page/write.h"

bool page_is_own(struct file_users *users, const struct profile *profile, const char *path)
{
	struct path_users found;
	uid_t caller = geteuid();
	gid_t group;
	file_place_caller(&caller, &group);
	return file_users_find(users, profile, path, &found) == 0 && !found.has_others && found.count == 1 &&
	       (found.ids[0] == geteuid() || found.ids[0] == caller);
}
