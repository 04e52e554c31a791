#include "collect/sample/bpf/kernel_version.h"

#include <stdio.h>
#include <sys/utsname.h>

bool kernel_version_is_from(unsigned major, unsigned minor)
{
	struct utsname host;
	unsigned first = 0, second = 0;
	if (uname(&host) < 0 || sscanf(host.release, "%u.%u", &first, &second) != 2)
		return false;
	return first > major || (first == major && second >= minor);
}
