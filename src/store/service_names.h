/*
 * The services of the processes of a recording. The first of these names the service of a process:
 *
 *   rules     of a file: each line has a pattern of fnmatch, and the service of the processes that match it
 *             unit=php*-fpm    shop
 *             cgroup=/batch    nightly      # as --cgroup: the group with all below it
 *             container=*      containers
 *             name=java        search
 *   owner     the systemd unit or the container of its control group (profile/cgroup.h)
 *   name      its own; "kernel" for the threads of the kernel. A process chooses its name, so only the names with most hits count
 *
 * The others are of the service of the rest. Services have the form that other outputs give names (base/safe_text.h).
 *
 * Life cycle: service_rules_read, service_names_init for each recording, service_names_release, service_rules_free.
 */
#ifndef STORE_SERVICE_NAMES_H
#define STORE_SERVICE_NAMES_H

#include "base/error.h"
#include "base/strings.h"
#include "profile/profile.h"

struct service_rules;

/* Reads a file of rules. Returns NULL with `error` set if it cannot, or at the first line that is no rule: "FILE:LINE: expected ...". */
struct service_rules *service_rules_read(const char *path, struct error *error);
void service_rules_free(struct service_rules *rules); /* NULL is allowed */

enum { SERVICE_NAMES_MOST = 256 }; /* services that are names of processes */

struct service_names {
	const char **items; /* [process_count]; the array is owned, the texts are those of `texts` */
	const char *rest;   /* the service of what belongs to no process: "machine", or the name of the first process */
	struct strings texts;
};

/* `rules` may be NULL. Returns 0, or ERROR_MEMORY or ERROR_LIMIT; in any case the caller releases the names. */
int service_names_init(struct service_names *names, const struct profile *profile, const struct service_rules *rules);
void service_names_release(struct service_names *names);

/* Returns whether every process of a machine was recorded: 'cpprof record -a'. */
bool service_names_is_machine(const struct profile *profile);

#endif
