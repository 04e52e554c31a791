/*
 * Writes the Firefox Profiler's processed profile (firefox-devtools/profiler, src/types/profile.ts): firefox.c the threads with
 * their samples and markers, firefox_tables.c the tables of stacks, frames, functions and strings that all threads share. Only these
 * two files include this header; firefox_import.c reads the format.
 */
#ifndef FORMATS_FIREFOX_H
#define FORMATS_FIREFOX_H

#include "base/hash_map.h"
#include "base/strings.h"
#include "formats/call_events.h"
#include "formats/json_out.h"

/* The version whose tables these are. The viewer reads it and each older one. */
#define FIREFOX_VERSION "60"

/* The call paths of a trace: a tree below those of the samples. */
struct firefox_stack {
	uint32_t parent; /* index of a stack; PROFILE_NONE: it is outermost */
	uint32_t name;   /* of call_events_name */
};

struct firefox {
	const struct format_input *input;
	const struct call_paths *paths;
	struct call_events *events; /* NULL: the profile is not a trace */
	struct json_out json;
	struct strings strings;      /* the string table, which is written last */
	struct firefox_stack *calls; /* stack (paths->count - 1) + i */
	size_t call_count, call_capacity;
	struct hash_map by_call; /* (parent, name) -> index in calls */
	size_t thread_count;     /* written so far */
};

/* Returns the number of a string in the table. An error is kept in json.status. */
uint32_t firefox_string(struct firefox *firefox, const char *text);

/* Writes "libs" and "shared". Returns 0 or ERROR_MEMORY. */
int firefox_write_tables(struct firefox *firefox);

#endif
