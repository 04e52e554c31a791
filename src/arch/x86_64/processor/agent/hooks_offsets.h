/* Offsets of the structs that hooks.S uses. hooks/paths.c asserts that they are correct. */
#ifndef ARCH_X86_64_PROCESSOR_AGENT_HOOKS_OFFSETS_H
#define ARCH_X86_64_PROCESSOR_AGENT_HOOKS_OFFSETS_H

/* struct hook_thread */
#define THREAD_MEASUREMENT 0
#define THREAD_TOP 8
#define THREAD_LIMIT 24
#define THREAD_NEXT_EVENT 88
#define THREAD_EVENTS_END 96
#define THREAD_TICKS_HIGH 104
#define THREAD_CACHE 112

/* struct hook_measurement */
#define MEASUREMENT_ENTERED 8

/* struct hook_frame */
#define FRAME_NODE 0
#define FRAME_RETURN_SLOT 8
#define FRAME_CALL_SITE 16
#define FRAME_GUESS 24
#define FRAME_BYTES 32

/* struct tally_node and tally_edge */
#define NODE_NUMBER 40
#define NODE_RECENT 48
#define EDGE_CALL_SITE 0
#define EDGE_FUNCTION 8
#define EDGE_COUNT 16
#define EDGE_CHILD 24
#define EDGE_CODE 44
#define EDGE_AFTER 48

/* The word of an event: its number times this, plus its kind. */
#define EVENT_NUMBER_TIMES 4
#define EVENT_ENTER 1
#define EVENT_BYTES 8
/* Bytes of a ring in which events may begin. */
#define EVENTS_BYTES 65432

/* An edge's index in hook_thread.cache: (call site + function / 4) modulo its size. */
#define CACHE_SHIFT 2
#define CACHE_SIZE 4096

#endif
