/*
 * The preload backend without agents. The test writes records into a channel as agents would, for processes that
 * are its children, and a sink writes as text whatever the backend reports.
 */
#ifndef TESTS_CHANNEL_WORLD_H
#define TESTS_CHANNEL_WORLD_H

#include <sys/types.h>

#include "collect/sample/preload/events.h"

extern struct channel *channel;
extern struct preload_slots *slots;
extern struct preload_events *events;
extern struct backend_request request; /* real, own:orders */

/* Appends to reported_text, for example "exec(a) fork(a b.0) sample(a.TID r0 x2 7) ". Children are 'a', 'b', ... in
 * the order in which they were forked. Thread ids are printed modulo 1000; fork and exit print 0 for a main
 * thread. */
extern const struct backend_sink sink;
extern char reported_text[64 * 1024];
extern size_t maps_reported;
extern pid_t children[8];
extern size_t child_count;

/* cmocka fixtures: each test has a new channel. */
int channel_world_set_up(void **state);
int channel_world_tear_down(void **state);

uint64_t now_ns(void);
uint32_t make_child(void);
void end_child(size_t number);

/* Write into the channel as the agent does. */
void connect_process(uint32_t number, uint32_t pid);
void connect_thread(uint32_t number, uint32_t process, uint32_t tid);
void put(uint32_t thread, const void *bytes, size_t size);
void put_event(uint32_t thread, enum channel_event event, uint32_t about, int64_t detail, const char *text);
void put_sample_at(uint32_t thread, uint64_t time_ns, uint32_t number, uint64_t hits, uint64_t amount);
void put_sample(uint32_t thread, uint32_t number, uint64_t hits, uint64_t amount);
/* Starts a process with a main thread, in process slot and thread slot `number`. Returns its pid. */
uint32_t start_program(uint32_t number);

/* Drains the channel and compares the reports since the last call with `expected`. */
void assert_reported(const char *expected);
/* The same, but drains twice, 25 ms apart: the backend reports the end of a process only after a delay. */
void assert_end_reported(const char *expected);

#endif
