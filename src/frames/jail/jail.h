/*
 * Names modules in a process without privileges.
 *
 * A recorder that runs as root names the addresses of programs whose files anybody may have made, by libraries that were
 * not made for hostile files. So a child process does that, in a jail (jail/confine.h): it may read the files that the
 * recorder has opened for it, compute, and answer. Whatever happens in it costs the names of one module:
 *
 *   recorder                                        child, a copy of the recorder
 *   opens the module's file             -- name -->
 *                                       <-- open -- a debug file, by its path or build-id
 *   opens it: only a regular ELF file   - opened ->
 *                                       <- named -- strings, functions, frames
 *   checks and adds them (jail/additions.h)
 *
 *   struct jail         no child  --jail_name_module-->  child  --it ends, errs, or exceeds a limit-->  no child
 *
 * 1. Only the recorder writes the profile; nothing that the child sends is trusted.
 * 2. A child that has erred is killed, and the next module gets a new one.
 * 3. The time for a module is halved each time that a module exceeds it.
 * 4. If there can be no child, a module is named in this process only if its file belongs to root or to our user.
 */
#ifndef FRAMES_JAIL_JAIL_H
#define FRAMES_JAIL_JAIL_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "frames/provider.h"

struct jail {
	struct frames_naming *naming; /* of the recorder */
	pid_t child;                  /* 0: none */
	int socket;
	struct buffer inbox;
	size_t copied;   /* functions of the profile when the child was made */
	uint64_t cpu_ns; /* for the next module */
	uint64_t memory_bytes;
	bool impossible;    /* there can be no child */
	char obstacle[160]; /* why */
};

void jail_init(struct jail *jail, struct frames_naming *naming);
void jail_release(struct jail *jail);

/* As frames_provider.name_module. */
int jail_name_module(struct jail *jail, const struct frames_provider *provider, uint32_t module,
		     const uint32_t *locations, size_t count, struct frames_failure *failure);

#endif
