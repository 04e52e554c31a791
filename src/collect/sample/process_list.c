#include "collect/sample/process_list.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

/* A process as /proc/PID/stat describes it. */
struct running {
	pid_t pid, parent;
	bool is_kernel, has_ended;
	char name[64];
};

struct all_running {
	struct running *items;
	size_t count, capacity;
};

/* "1234 (name (x)) S 1 1234 1234 0 -1 4194560 ...": the name may contain anything, but the last ')' ends it. */
static bool parse_stat(char *text, struct running *running)
{
	enum { KERNEL_THREAD = 0x00200000 };
	char *open = strchr(text, '('), *close = strrchr(text, ')');
	int parent;
	unsigned flags;
	char state;
	if (!open || !close || close < open ||
	    sscanf(close + 1, " %c %d %*d %*d %*d %*d %u", &state, &parent, &flags) != 3)
		return false;
	*close = 0;
	running->pid = (pid_t)strtol(text, NULL, 10);
	running->parent = parent;
	running->is_kernel = (flags & KERNEL_THREAD) != 0;
	running->has_ended = state == 'Z' || state == 'X';
	snprintf(running->name, sizeof(running->name), "%s", open + 1);
	return running->pid > 0;
}

/* Returns false if the process has ended. */
static bool read_running(const char *pid, struct running *running)
{
	char path[300], text[1024];
	snprintf(path, sizeof(path), "/proc/%s/stat", pid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	if (fd >= 0)
		close(fd);
	if (got <= 0)
		return false;
	text[got] = 0;
	return parse_stat(text, running);
}

bool process_has_ended(pid_t pid)
{
	struct running running;
	char number[16];
	snprintf(number, sizeof(number), "%d", (int)pid);
	return read_running(number, &running) && running.has_ended;
}

/* Lists the processes of the machine. The caller frees the items. */
static int list_running(struct all_running *all, struct error *error)
{
	*all = (struct all_running){ 0 };
	DIR *directory = opendir("/proc");
	if (!directory)
		return error_set_errno(error, "cannot list the processes in /proc");
	int result = 0;
	for (const struct dirent *entry; result == 0 && (entry = readdir(directory));) {
		struct running running;
		if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !read_running(entry->d_name, &running))
			continue;
		result = ARRAY_RESERVE(all->items, all->capacity, all->count + 1);
		if (result == 0)
			all->items[all->count++] = running;
	}
	closedir(directory);
	return result < 0 ? error_memory(error) : 0;
}

static bool is_listed(const struct process_list *list, pid_t pid)
{
	for (size_t i = 0; i < list->count; i++)
		if (list->items[i].pid == pid)
			return true;
	return false;
}

static int add(struct process_list *list, pid_t pid, enum process_origin origin, struct error *error)
{
	if (ARRAY_RESERVE(list->items, list->capacity, list->count + 1) < 0)
		return error_memory(error);
	list->items[list->count++] = (struct listed_process){ .pid = pid, .origin = origin };
	return 0;
}

int process_list_add_id(struct process_list *list, pid_t pid, struct error *error)
{
	return is_listed(list, pid) ? 0 : add(list, pid, PROCESS_BY_ID, error);
}

int process_list_add_named(struct process_list *list, const char *name, struct error *error)
{
	enum { COMM_BYTES = 15 };
	struct all_running all;
	int result = list_running(&all, error);
	bool found = false;
	for (size_t i = 0; i < all.count && result == 0; i++) {
		const struct running *running = &all.items[i];
		if (running->is_kernel || running->has_ended || running->pid == getpid() ||
		    strncmp(running->name, name, COMM_BYTES) != 0)
			continue;
		found = true;
		if (!is_listed(list, running->pid))
			result = add(list, running->pid, PROCESS_BY_NAME, error);
	}
	free(all.items);
	if (result == 0 && !found)
		return error_set(error, ERROR_NOT_FOUND, "no running process has the name '%s' ('ps -e' lists names)",
				 name);
	return result;
}

/* A parent can have a larger number than its child, so the search is repeated until it finds no more. */
int process_list_add_children(struct process_list *list, struct error *error)
{
	struct all_running all;
	size_t before = list->count, in_round;
	int result = list_running(&all, error);
	do {
		in_round = list->count;
		for (size_t i = 0; i < all.count && result == 0; i++) {
			const struct running *running = &all.items[i];
			if (!running->has_ended && running->pid != getpid() && is_listed(list, running->parent) &&
			    !is_listed(list, running->pid))
				result = add(list, running->pid, PROCESS_CHILD, error);
		}
	} while (result == 0 && list->count > in_round);
	free(all.items);
	return result < 0 ? result : (int)(list->count - before);
}

bool process_list_is_empty(const struct process_list *list)
{
	return !list || list->count == 0;
}

void process_list_release(struct process_list *list)
{
	free(list->items);
	*list = (struct process_list){ 0 };
}

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

bool processes_have_variable(const char *entry)
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
