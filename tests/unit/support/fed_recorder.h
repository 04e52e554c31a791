/*
 * A recorder that is fed by hand, through its sink: processes that do not exist,
 * with files that do not either, so that an address is an offset in its file.
 */
#ifndef TESTS_FED_RECORDER_H
#define TESTS_FED_RECORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collect/sample/recorder.h"

enum {
	FED_PID = 1900000000, /* higher than a process's can be */
	FED_CODE = 0x10000,   /* where fed_begin maps 0x1000 bytes of "/a", from its beginning */
};

struct fed {
	struct recorder recorder;
	struct backend_sink sink;
	char text[4096]; /* of fed_path */
};

/* For cmocka: *state is a struct fed with process FED_PID and its code, one resource. */
int fed_begin(void **state);
int fed_end(void **state);

void fed_map(struct fed *fed, uint32_t pid, uint64_t start, uint64_t end, const char *path, bool is_data);

/* A stack as a backend walks it: addresses, innermost first, ended by a 0. */
struct backend_sample fed_stack(uint32_t pid, uint32_t tid, enum unwind_cause cause, const uint64_t *addresses);
#define FED_STACK(pid, tid, ...) fed_stack(pid, tid, UNWIND_ROOT, (const uint64_t[]){ __VA_ARGS__, 0 })

/* Feeds a sample; its node. */
uint32_t fed_sample(struct fed *fed, struct backend_sample sample);

/* The path of a node, outermost first: "/a+10 /a+2f [thread] /b+8". Valid until the next call. */
const char *fed_path(struct fed *fed, uint32_t node);

/* How many stacks were counted as having ended so. */
uint64_t fed_cause(struct fed *fed, enum unwind_cause cause);

#endif
