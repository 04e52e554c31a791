/*
 * One countable event, made by the function `countable_event`, which is the last frame of its path. The macro EVENTS
 * selects the kind, so that each backend can sample each event (record_support.py: COUNTED):
 *
 *   EVENTS_PAGES   the first touch of a page:       page-faults/1
 *   EVENTS_CALLS   a system call, getppid:          syscalls:getppid/1
 *   EVENTS_TICKS   a tick of a resource of its own: own:event/1, linked with libcpprof
 *
 * The number of events at a path does not depend on a clock, a scheduler, or the processor's speed.
 */
#ifndef EVENTS_H
#define EVENTS_H

#define EVENTS_PAGES 1
#define EVENTS_CALLS 2
#define EVENTS_TICKS 3

#if EVENTS == EVENTS_PAGES

#include <stdlib.h>
#include <sys/mman.h>

enum { EVENT_PAGE_BYTES = 4096, EVENT_PAGES = 1 << 14 };

static char *event_pages;
static unsigned event_pages_used;

/* Reserves memory with pages of the smallest size, none of which is touched. */
__attribute__((constructor(101))) static void event_prepare(void)
{
	event_pages = (char *)mmap(NULL, (size_t)EVENT_PAGES * EVENT_PAGE_BYTES, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (event_pages == MAP_FAILED || madvise(event_pages, (size_t)EVENT_PAGES * EVENT_PAGE_BYTES, MADV_NOHUGEPAGE))
		abort();
}

/* Has no frame, so that the touched page is its only page fault: `call` writes the return address for its caller. */
__attribute__((naked, noinline, unused)) static void countable_event(char *page)
{
	(void)page;
	__asm__("movb $1, (%rdi)\n\tret");
}

/* The first read faults if the code of `countable_event` is not mapped in this process yet. */
#define EVENT_HERE()                                                                                    \
	do {                                                                                            \
		const unsigned event_page = __atomic_fetch_add(&event_pages_used, 1, __ATOMIC_RELAXED); \
		(void)*(volatile const char *)(void *)countable_event;                                  \
		if (event_page >= EVENT_PAGES)                                                          \
			abort();                                                                        \
		countable_event(event_pages + (size_t)event_page * EVENT_PAGE_BYTES);                   \
	} while (0)

#elif EVENTS == EVENTS_CALLS

__attribute__((naked, noinline, unused)) static void countable_event(void)
{
	__asm__("movl $110, %eax\n\tsyscall\n\tret"); /* getppid */
}

#define EVENT_HERE() countable_event()

#elif EVENTS == EVENTS_TICKS

#include <cpprof/runtime.h>

static cpprof_counter *event_counter;

__attribute__((constructor(101))) static void event_prepare(void)
{
	event_counter = cpprof_resource("event", "event");
}

__attribute__((noinline, unused)) static void countable_event(void)
{
	cpprof_tick(event_counter, 1);
	__asm__ volatile("" ::: "memory"); /* the tick is no tail call */
}

#define EVENT_HERE() countable_event()

#else
#error "EVENTS is one of EVENTS_PAGES, EVENTS_CALLS, EVENTS_TICKS"
#endif

#endif
