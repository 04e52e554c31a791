/*
 * The control group of a process: the unit, container or session that it belongs to.
 */
#ifndef COLLECT_SAMPLE_STATE_CGROUP_H
#define COLLECT_SAMPLE_STATE_CGROUP_H

#include <stddef.h>
#include <sys/types.h>

/* Reads the path of a process's control group, such as "/system.slice/cron.service"; "" if it cannot be
 * read. Cuts it to `size`. */
void cgroup_read(pid_t pid, char *path, size_t size);

/* The same from the text of a /proc/PID/cgroup. Prefers cgroup v2, then the hierarchy of systemd, then the
 * first one. */
void cgroup_parse(const char *text, char *path, size_t size);

#endif
