#include "record/proc_maps.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool proc_maps_find(pid_t pid, uint64_t address, uint64_t *start, uint64_t *end, char *path, size_t size)
{
	char name[64];
	snprintf(name, sizeof(name), "/proc/%d/maps", (int)pid);
	FILE *file = fopen(name, "re");
	if (!file)
		return false;
	char *line = NULL;
	size_t capacity = 0;
	bool found = false;
	/* "start-end rwxp offset device inode path", in order of address. */
	while (!found && getline(&line, &capacity, file) > 0) {
		int path_at = 0;
		if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %*s %n", start, end, &path_at) < 2 ||
		    path_at == 0)
			continue;
		if (*start > address)
			break;
		found = address < *end;
		line[strcspn(line, "\n")] = 0;
		snprintf(path, size, "%s", line + path_at);
	}
	free(line);
	fclose(file);
	return found;
}
