/*
 * A recording that is looked at while it goes on: profiles of the last seconds, one after the other.
 *
 *   monitor thread: drains the backend  --window, 4 a second-->  extract, 1 a second
 *   naming thread:  gives the extract the names that are known, finds new names in a jail  -->  newest profile
 *   reader (the caller's thread): live_take, whenever live_descriptor is readable
 *
 * 1. Data flows in this direction alone. Each profile has one owner at a time: the monitor, the naming thread, the reader.
 * 2. Nobody waits for a reader: a profile that was not taken is replaced by the next one.
 * 3. The monitor waits neither for names nor for a terminal, so that its rings do not overflow meanwhile.
 *
 * Life cycle: live_start, any number of live_take and live_state, live_stop.
 */
#ifndef COLLECT_LIVE_LIVE_H
#define COLLECT_LIVE_LIVE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/sample/monitor.h"
#include "profile/profile.h"

struct live;

struct live_options {
	const struct record_options *record; /* without a destination; what it points to stays valid until live_stop */
	const int *command_streams;          /* [3]: see struct record_apart */
	uint64_t window_ns;
};

enum { LIVE_MESSAGE = 512 };

struct live_state {
	bool has_ended;             /* the target has ended, or the recording failed: there is no other profile */
	char warning[LIVE_MESSAGE]; /* that was not returned before; "": none */
};

/* Starts the target, and waits for the first profile. Returns NULL and sets `error` if the target does not run. */
struct live *live_start(const struct live_options *options, struct error *error);

/* Returns a descriptor that is readable when there is a newer profile, or the state has changed. */
int live_descriptor(const struct live *live);

/* Returns the newest profile, which the caller owns; or NULL if there is none that was not taken. */
struct profile *live_take(struct live *live);
void live_state(struct live *live, struct live_state *state);

struct live_end {
	pid_t left; /* the process of the command, if it goes on */
};

/* Ends the recording. A command goes on. Returns 0, or the error that ended the recording. */
int live_stop(struct live *live, struct live_end *end, struct error *error);

#endif
