/* Files on a system without folders: the page's engine has none. */
#include <errno.h>

#include "base/path.h"

bool path_is_confined(void)
{
	return false;
}

int path_open_for_users(const char *path, const struct path_users *users)
{
	(void)path, (void)users;
	errno = ENOSYS;
	return -1;
}

int path_open_input(const char *path, struct error *error)
{
	errno = ENOSYS;
	return error_set_errno(error, "cannot read '%s'", path);
}

int path_open_regular(const char *path)
{
	(void)path;
	errno = ENOSYS;
	return -1;
}
