#include "collect/sample/description.h"

#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

int description_add(struct profile *profile, const char *command_line)
{
	struct utsname host;
	char text[512] = "";
	int64_t result = profile_add_note(profile, "command", command_line);
	if (result >= 0 && uname(&host) == 0) {
		result = profile_add_note(profile, "host", host.nodename);
		snprintf(text, sizeof(text), "%s %s %s", host.sysname, host.release, host.machine);
		if (result >= 0)
			result = profile_add_note(profile, "kernel", text);
	}
	snprintf(text, sizeof(text), "%ld", sysconf(_SC_NPROCESSORS_ONLN));
	if (result >= 0)
		result = profile_add_note(profile, "cpus", text);
	if (result >= 0 && getcwd(text, sizeof(text)))
		result = profile_add_note(profile, "directory", text);
	if (result >= 0)
		result = profile_add_note(profile, "cpprof", CPPROF_VERSION);
	return result < 0 ? (int)result : 0;
}
