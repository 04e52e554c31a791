/*
 * A sample sink that the test calls in the place of a backend. Its processes and files do not exist; an address in a file is
 * therefore an offset in it.
 */
#ifndef TESTS_FED_SINK_H
#define TESTS_FED_SINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sample/sample_sink.h"

enum {
	FED_PID = 1900000000, /* larger than any real pid */
	FED_CODE = 0x10000,   /* where fed_begin maps the first 0x1000 bytes of "/a" */
};

struct fed {
	struct sample_sink sink;
	struct backend_sink backend_sink;
	char text[4096]; /* returned by fed_path */
};

/* cmocka fixtures: *state is a struct fed that has process FED_PID with its code, and one resource. */
int fed_begin(void **state);
int fed_end(void **state);

void fed_map(struct fed *fed, uint32_t pid, uint64_t start, uint64_t end, const char *path, bool is_data);

/* Returns a sample whose stack a backend has walked: addresses, innermost first, terminated by 0. */
struct backend_sample fed_stack(uint32_t pid, uint32_t tid, enum unwind_cause cause, const uint64_t *addresses);
#define FED_STACK(pid, tid, ...) fed_stack(pid, tid, UNWIND_ROOT, (const uint64_t[]){ __VA_ARGS__, 0 })

/* Feeds a sample. Returns the node of its hit, or PROFILE_NONE if the sink did not add exactly one. */
uint32_t fed_sample(struct fed *fed, struct backend_sample sample);

/* Returns the path of a node, outermost frame first: "/a+10 /a+2f [thread] /b+8". Valid until the next call. */
const char *fed_path(struct fed *fed, uint32_t node);

/* Returns the number of stacks that ended with this cause. */
uint64_t fed_cause(struct fed *fed, enum unwind_cause cause);

#endif
