/*
 * The preload backend without a runtime: the test writes into a channel what a runtime
 * would, of processes that are its children, and a sink writes down what is told.
 */
#ifndef TESTS_CHANNEL_WORLD_H
#define TESTS_CHANNEL_WORLD_H

#include <sys/types.h>

#include "collect/sample/preload/events.h"

extern struct channel *channel;
extern struct preload_slots *slots;
extern struct preload_events *events;
extern struct backend_request request; /* real, own:orders */

/* "exec(a) fork(a b.0) sample(a.TID r0 x2 7) ": children are 'a', 'b', ... in the order of
 * their making; thread ids without their thousands, 0 for main threads. */
extern const struct backend_sink sink;
extern char told_text[64 * 1024];
extern size_t maps_told;
extern pid_t children[8];
extern size_t child_count;

/* For cmocka: a new world for each test. */
int channel_world_set_up(void **state);
int channel_world_tear_down(void **state);

uint64_t now_ns(void);
uint32_t make_child(void);
void end_child(size_t number);

/* As the runtime does. */
void connect_process(uint32_t number, uint32_t pid);
void connect_thread(uint32_t number, uint32_t process, uint32_t tid);
void put(uint32_t thread, const void *bytes, size_t size);
void put_event(uint32_t thread, enum channel_event event, uint32_t about, int64_t detail, const char *text);
void put_sample_at(uint32_t thread, uint64_t time_ns, uint32_t number, uint64_t hits, uint64_t amount);
void put_sample(uint32_t thread, uint32_t number, uint64_t hits, uint64_t amount);
/* A process with a main thread, both in the slots of that number. Its pid. */
uint32_t start_program(uint32_t number);

/* What is told when all that is there is drained. */
void assert_told(const char *expected);
/* ... with the ends of processes that have just died, which are looked for a little longer. */
void assert_told_of_end(const char *expected);

#endif
