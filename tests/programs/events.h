/*
 * One countable event, made by the function `countable_event`, which is the last frame of its path. The macro EVENTS
 * selects the kind, so that each backend can sample each event (record_support.py: COUNTED):
 *
 *   EVENTS_PAGES   the first touch of a page:       page-faults/1
 *   EVENTS_CALLS   a system call, getppid:          syscalls:getppid/1
 *   EVENTS_TICKS   a tick of a resource of its own: own:event/1, linked with libcpprof
 *   EVENTS_MOVES   a move to another processor:     migrations/1, the only events that are rare on a whole machine
 *
 * The number of events at a path does not depend on a clock, a scheduler, or the processor's speed.
 */
#ifndef EVENTS_H
#define EVENTS_H

#define EVENTS_PAGES 1
#define EVENTS_CALLS 2
#define EVENTS_TICKS 3
#define EVENTS_MOVES 4

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
__attribute__((naked, noinline, unused)) static void countable_event(__attribute__((unused)) char *page)
{
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

#elif EVENTS == EVENTS_MOVES

#include <sched.h>
#include <stdlib.h>

static cpu_set_t event_places[2];

__attribute__((constructor(101))) static void event_prepare(void)
{
	cpu_set_t allowed;
	int found = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		abort();
	for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			CPU_SET(cpu, &event_places[found++]);
	if (found < 2)
		abort();
}

__attribute__((naked, noinline, unused)) static void countable_event(__attribute__((unused)) const cpu_set_t *place)
{
	__asm__("movq %rdi, %rdx\n\txorl %edi, %edi\n\tmovl $128, %esi\n\tmovl $203, %eax\n\tsyscall\n\tret"); /* sched_setaffinity */
}

/* The thread is on the first processor before, wherever it was. */
#define EVENT_HERE()                                                                 \
	do {                                                                         \
		if (sched_setaffinity(0, sizeof(event_places[0]), &event_places[0])) \
			abort();                                                     \
		countable_event(&event_places[1]);                                   \
	} while (0)

#else
#error "EVENTS is one of EVENTS_PAGES, EVENTS_CALLS, EVENTS_TICKS, EVENTS_MOVES"
#endif

#endif
