/*
 * The resources that can be recorded: one row each. A row says what is counted
 * and how the perf backend counts it; a request is a row with the user's interval.
 */
#ifndef RECORD_RESOURCES_H
#define RECORD_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum resource_modes {
	RESOURCE_ALL_MODES,  /* user and kernel */
	RESOURCE_USER_MODE,  /* only what is spent in user mode */
	RESOURCE_KERNEL_MODE /* only what is spent in the kernel on the thread's behalf */
};

struct resource_row {
	const char *name;    /* "page-faults" */
	const char *title;   /* "Page Faults" */
	const char *gtick;   /* what one gtick is: "fault" */
	const char *summary; /* one line for --help */
	bool is_time;        /* gticks are ns, intervals take ns, us, ms, s */
	bool is_hardware;    /* needs the machine's counters */
	/* The event comes from the kernel itself, so where only user mode may be
	 * watched there is none: refused, not silently empty. */
	bool needs_kernel;
	enum resource_modes modes;
	uint64_t default_interval; /* gticks */
	uint32_t perf_type;        /* PERF_TYPE_... */
	uint64_t perf_config;      /* PERF_COUNT_... */
};

extern const struct resource_row resource_rows[]; /* ends with a NULL name */

struct resource_request {
	const struct resource_row *row;
	uint64_t interval;     /* gticks, mean */
	bool default_interval; /* the user gave none */
};

enum { RESOURCE_REQUESTS_MAX = 16 };

/* "cpu", "cpu/500us", "page-faults/10". Errors: ERROR_USAGE, with the nearest
 * names, or the form that an interval has. */
int resource_parse(const char *words, struct resource_request *request, struct error *error);

/* "500us" (time: a unit is needed) or "10", "2k", "1M". */
int resource_parse_interval(const struct resource_row *row, const char *words, uint64_t *interval, struct error *error);

#endif
