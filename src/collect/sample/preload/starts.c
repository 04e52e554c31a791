#include "collect/sample/preload/starts.h"

#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Stores the last part of a path, or "" if the path is empty. */
static void take_name(char *name, size_t bytes, const char *path)
{
	const char *slash = strrchr(path, '/');
	snprintf(name, bytes, "%s", slash ? slash + 1 : path);
}

static void clear_start(struct preload_start *start)
{
	close(start->pidfd); /* this removes it from the epoll */
	*start = (struct preload_start){ 0 };
}

void preload_starts_children(uint32_t pid, uint32_t tid, void (*found)(void *context, uint32_t child), void *context)
{
	char path[64];
	unsigned child;
	snprintf(path, sizeof(path), "/proc/%u/task/%u/children", pid, tid);
	FILE *file = fopen(path, "re"); /* NULL also on kernels that do not list children */
	while (file && fscanf(file, "%u", &child) == 1)
		found(context, child);
	if (file)
		fclose(file);
}

static bool is_known(const struct preload_starts *starts, uint32_t pid)
{
	for (size_t i = 0; i < PRELOAD_STARTS; i++)
		if (starts->items[i].pid == pid)
			return true;
	return false;
}

/* Reads the name of a running process. */
static void read_name(char *name, size_t bytes, uint32_t pid)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%u/comm", pid);
	FILE *file = fopen(path, "re");
	if (file && fgets(name, (int)bytes, file))
		name[strcspn(name, "\n")] = 0;
	if (file)
		fclose(file);
}

static void find_reason(struct preload_absence *absence, const struct preload_starts *starts, uint32_t pid)
{
	absence->reason = preload_reason_of(pid, starts->channel_path);
	read_name(absence->name, sizeof(absence->name), pid);
}

void preload_starts_add(struct preload_starts *starts, int deaths, uint32_t first, uint32_t pid, uint64_t now_ns)
{
	struct preload_start *start = NULL;
	for (size_t i = 0; i < PRELOAD_STARTS && !start; i++)
		if (starts->items[i].pid == 0)
			start = &starts->items[i];
	int pidfd = start && !is_known(starts, pid) ? (int)syscall(SYS_pidfd_open, pid, 0) : -1;
	if (pidfd < 0)
		return;
	struct epoll_event event = { .events = EPOLLIN, .data.u32 = first + (uint32_t)(start - starts->items) };
	*start = (struct preload_start){ .pid = pid, .pidfd = pidfd, .seen_ns = now_ns };
	if (epoll_ctl(deaths, EPOLL_CTL_ADD, pidfd, &event) < 0)
		clear_start(start);
	else
		find_reason(&start->at_first, starts, pid);
	snprintf(starts->last, sizeof(starts->last), "%s", start->at_first.name);
}

void preload_starts_connected(struct preload_starts *starts, uint32_t pid)
{
	for (size_t i = 0; i < PRELOAD_STARTS; i++)
		if (starts->items[i].pid == pid && pid > 0)
			clear_start(&starts->items[i]);
}

static bool has_lived(const struct preload_start *start, uint64_t now_ns)
{
	return start->pid > 0 && now_ns > start->seen_ns + PRELOAD_LIVED_NS;
}

void preload_starts_find_reason_of(struct preload_starts *starts, uint32_t pid)
{
	struct preload_absence absence = { 0 };
	find_reason(&absence, starts, pid);
	if (absence.reason)
		starts->absence = absence;
}

struct preload_absence preload_starts_announced(struct preload_starts *starts, const char *path, uint32_t lacks)
{
	struct preload_absence absence = { .reason = preload_reason_of_exec(path, lacks) };
	take_name(absence.name, sizeof(absence.name), path);
	take_name(starts->last, sizeof(starts->last), path);
	return absence;
}

void preload_starts_find_reasons(struct preload_starts *starts, uint64_t now_ns)
{
	for (size_t i = 0; i < PRELOAD_STARTS; i++) {
		struct preload_start *start = &starts->items[i];
		if (start->was_asked || !has_lived(start, now_ns))
			continue;
		start->was_asked = true;
		preload_starts_find_reason_of(starts, start->pid);
	}
}

bool preload_starts_died(struct preload_starts *starts, uint32_t number, uint64_t now_ns)
{
	const struct preload_start *start = &starts->items[number];
	bool lived = has_lived(start, now_ns);
	if (lived && !start->was_asked && start->at_first.reason)
		starts->absence = start->at_first;
	if (starts->items[number].pid > 0)
		clear_start(&starts->items[number]);
	return lived;
}

size_t preload_starts_living(const struct preload_starts *starts, uint64_t now_ns)
{
	size_t count = 0;
	for (size_t i = 0; i < PRELOAD_STARTS; i++)
		count += has_lived(&starts->items[i], now_ns);
	return count;
}

void preload_starts_release(struct preload_starts *starts)
{
	for (size_t i = 0; i < PRELOAD_STARTS; i++)
		if (starts->items[i].pid > 0)
			clear_start(&starts->items[i]);
}
