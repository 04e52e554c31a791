#include "collect/sample/environments.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_entry(long pid, const char *entry)
{
	char path[64], *own = NULL;
	size_t room = 0;
	bool found = false;
	snprintf(path, sizeof(path), "/proc/%ld/environ", pid);
	FILE *file = fopen(path, "re");
	while (file && !found && getdelim(&own, &room, '\0', file) > 0)
		found = strcmp(own, entry) == 0;
	free(own);
	if (file)
		fclose(file);
	return found;
}

bool environments_have(const char *entry)
{
	DIR *directory = opendir("/proc");
	const struct dirent *process;
	bool found = false;
	while (directory && !found && (process = readdir(directory)) != NULL) {
		long pid = strtol(process->d_name, NULL, 10);
		found = pid > 0 && has_entry(pid, entry);
	}
	if (directory)
		closedir(directory);
	return found;
}
