/*
 * A child of the test that a backend watches, and the events that the backend reports about it. The child waits
 * for a signal from the test, runs its function ("deed"), and then stays until the test ends it. `stage` is memory
 * that both share.
 */
#ifndef TESTS_WATCHED_CHILD_H
#define TESTS_WATCHED_CHILD_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "collect/sample/backend.h"

/* For cmocka_run_group_tests. */
int watched_child_set_up(void **state);
int watched_child_tear_down(void **state);

/* --- the reports --- */

enum what { A_SAMPLE, A_MAP, A_DATA_MAP, A_FORK, A_CREATION, AN_EXIT };

struct watched_event {
	enum what what;
	uint32_t request;
	uint32_t pid, tid, child;
	uint64_t time_ns;
	uint64_t address; /* accessed by the sample, or the start of a map */
	bool has_address, has_stack;
	char path[PATH_MAX];
};

extern struct watched_event *watched_events;
extern size_t watched_event_count;

/* Adds each event to `watched_events`. Lost events fail the test. */
extern const struct backend_sink watched_sink;

/* Returns the index of the first event from `from` on that has this kind, this process and this address (0: any),
 * or watched_event_count if there is none. */
size_t find_event(size_t from, enum what what, pid_t pid, uint64_t address);
bool has_event(enum what what, pid_t pid, uint64_t address);

/* --- the child --- */

enum { CHILD_SECONDS = 30 }; /* the child's longest run time */

struct stage {
	pid_t threads[2]; /* the thread that the child starts, and the thread that this one starts */
	pid_t process;    /* the process that the child starts */
};

extern struct stage *stage;

pid_t child_start(void (*deed)(void));

void child_begin(void);

/* Waits at most `timeout_ms` for the deed to return. The child then waits for child_end. */
bool child_is_done(int timeout_ms);
void child_end(pid_t pid);

/* Returns the request for a resource; skips the test where the perf backend is not permitted to measure it. */
struct resource_request request_permitted(const char *words);

/* --- memory --- */

enum { PAGES = 64, GAP_PAGES = 4 };

/* PAGES inaccessible pages, which the child inherits at the same address. */
extern uint8_t *region;
extern size_t page_bytes;

void region_reserve(void);
void *region_map_at(size_t page, size_t pages, int protection);
uint64_t region_address(size_t page);

/* A deed that maps data at pages GAP_PAGES (writable) and 2 * GAP_PAGES, code at 3 * GAP_PAGES, and the program's
 * own file as data at 4 * GAP_PAGES, and that extends the heap. */
void region_map(void);

#endif
