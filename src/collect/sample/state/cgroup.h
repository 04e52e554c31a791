/*
 * The control group of a process: the unit, container or session that it belongs to.
 */
#ifndef COLLECT_SAMPLE_STATE_CGROUP_H
#define COLLECT_SAMPLE_STATE_CGROUP_H

#include <stddef.h>
#include <sys/types.h>

/* Its path, "/system.slice/cron.service"; "" if it cannot be read. Cut to `size`. */
void cgroup_read(pid_t pid, char *path, size_t size);

/* The same from the text of a /proc/PID/cgroup: cgroup v2's, else that which systemd
 * keeps, else the first hierarchy's. */
void cgroup_parse(const char *text, char *path, size_t size);

#endif
