/*
 * A child of the test that a backend watches, and what is told of it. The child
 * waits for a word before its deed, and stays until it may end; `stage` is shared
 * with it.
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

/* --- what was told --- */

enum what { A_SAMPLE, A_MAP, A_DATA_MAP, A_FORK, A_CREATION, AN_EXIT };

struct telling {
	enum what what;
	uint32_t request;
	uint32_t pid, tid, child;
	uint64_t time_ns;
	uint64_t address; /* touched, or a map's start */
	bool has_address, has_stack;
	char path[PATH_MAX];
};

extern struct telling *told;
extern size_t told_count;

/* Adds what it is told to `told`; nothing may be lost. */
extern const struct backend_sink told_sink;

/* The index of the first telling from `from` on of that kind about a process (0 as
 * address: any), or told_count. */
size_t told_find(size_t from, enum what what, pid_t pid, uint64_t address);
bool told_is(enum what what, pid_t pid, uint64_t address);

/* --- the child --- */

enum { CHILD_SECONDS = 30 }; /* that it lives at most */

struct stage {
	pid_t threads[2]; /* the one that it starts, and the one that this starts */
	pid_t process;    /* that it starts */
};

extern struct stage *stage;

pid_t child_start(void (*deed)(void));

void child_begin(void);

/* Waits so long for the end of the deed; the child then waits for child_end. */
bool child_is_done(int timeout_ms);
void child_end(pid_t pid);

/* What the words ask for; skips the test where the perf backend may not measure it. */
struct resource_request request_permitted(const char *words);

/* --- memory --- */

enum { PAGES = 64, GAP_PAGES = 4 };

/* PAGES pages that nobody can use; inherited by the child at the same place. */
extern uint8_t *region;
extern size_t page_bytes;

void region_reserve(void);
void *region_map_at(size_t page, size_t pages, int protection);
uint64_t region_address(size_t page);

/* A deed: data at pages GAP_PAGES (writable) and 2 * GAP_PAGES, code at 3 * GAP_PAGES,
 * the program's own file as data at 4 * GAP_PAGES, and a heap that grows. */
void region_map(void);

#endif
