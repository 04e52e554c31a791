/*
 * The seccomp filters that the program has installed, as copies of its programs, and their interpretation: would the
 * kernel execute a system call? Every system call of the agent asks this first (machine_syscall), so that the agent
 * never makes one for which a filter would end the program, send SIGSYS or ask a supervisor.
 */
#ifndef COLLECT_AGENT_CORE_FILTER_H
#define COLLECT_AGENT_CORE_FILTER_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FILTER_ARGUMENTS = 6 };

/* A filter of a thread and, behind it, those that were installed before. Never freed once it is installed: threads
 * and processes that the thread starts have it, too. */
struct machine_filter {
	const struct machine_filter *next;
	uint32_t is_strict; /* 1: the strict mode, which has no program */
	uint32_t count;     /* instructions */
	struct sock_filter code[];
};

/* Returns whether all filters of the list permit the call: their results are SECCOMP_RET_ALLOW or SECCOMP_RET_LOG.
 * NULL permits every call. Async-signal-safe, and uses only general registers. */
bool filter_permits(const struct machine_filter *filters, long number, const long arguments[FILTER_ARGUMENTS]);

/* This thread is about to set the filter of all threads, which other threads follow already: it
 * may still make the calls that the filter will forbid. */
extern _Thread_local bool filter_is_to_come __attribute__((tls_model("initial-exec")));

struct filter_call {
	long number, arguments[FILTER_ARGUMENTS];
};

/* Returns whether one of the calls would have another effect than an error: the filters end the
 * program, send SIGSYS, or ask another process. */
bool filter_harms(const struct machine_filter *filters, const struct filter_call *calls, size_t count);

/* Returns whether all known filters of this thread permit it to start a process. */
bool filter_permits_processes(const struct machine_filter *filters);

#endif
