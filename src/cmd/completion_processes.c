#include "cmd/completion_processes.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/strings.h"

enum { PATH_BYTES = 300, COMM_BYTES = 64 };

/* Reads the name of a process whose program can be seen. */
static bool read_name(const char *pid, char name[COMM_BYTES])
{
	char path[PATH_BYTES], program[2];
	snprintf(path, sizeof(path), "/proc/%s/exe", pid);
	if (readlink(path, program, sizeof(program)) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	FILE *file = fopen(path, "re");
	bool is_read = file && fgets(name, COMM_BYTES, file);
	if (file)
		fclose(file);
	if (is_read)
		name[strcspn(name, "\n")] = 0;
	return is_read && name[0];
}

bool completion_processes_each(const struct command_option *option, completion_offer *offer, void *context)
{
	bool are_pids = option->id == SUBJECT_PID && strcmp(option->name, "pid") == 0;
	bool are_names = option->id == SUBJECT_COMM && strcmp(option->name, "comm") == 0;
	struct strings offered;
	DIR *folder = are_pids || are_names ? opendir("/proc") : NULL;
	if (!folder || strings_init(&offered) < 0) {
		if (folder)
			closedir(folder);
		return are_pids || are_names;
	}
	for (struct dirent *entry; (entry = readdir(folder));) {
		char name[COMM_BYTES];
		size_t before = offered.count;
		if (strspn(entry->d_name, "0123456789") != strlen(entry->d_name) || !read_name(entry->d_name, name))
			continue;
		if (are_pids)
			offer(context, entry->d_name, name);
		else if (completion_is_plain(name, strlen(name)) && strings_add(&offered, name, strlen(name)) >= 0 &&
			 offered.count > before)
			offer(context, name, "");
	}
	closedir(folder);
	strings_release(&offered);
	return true;
}
