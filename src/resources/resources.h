/*
 * The resources that can be recorded: one row each. A row says what is counted
 * and where the kernel can be asked for it; a request is a row with what the
 * user gave: an interval, and for some rows a name (syscalls:read, calls:qsort).
 */
#ifndef RESOURCES_RESOURCES_H
#define RESOURCES_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "abi/counters.h"
#include "base/error.h"

enum resource_modes {
	RESOURCE_ALL_MODES,  /* user and kernel */
	RESOURCE_USER_MODE,  /* only the part in user mode */
	RESOURCE_KERNEL_MODE /* only the part in the kernel on the thread's behalf */
};

struct resource_request;

struct resource_row {
	const char *name;       /* "page-faults"; with `parameters`: the part before the first colon */
	const char *parameters; /* NULL: none; "NAME", "FUNCTION[@MODULE]", ...: the part behind it */
	bool parameters_optional;
	bool parameters_hold_slashes; /* paths: the interval is behind the last slash, if it is one */
	/* Turns the parameters into request->target; NULL where there are none. */
	int (*parse)(const char *parameters, struct resource_request *request, struct error *error);
	const char *title;   /* "Page Faults" */
	const char *gtick;   /* one gtick: "fault" */
	const char *summary; /* one line for --help */
	bool is_time;        /* intervals take ns, us, ms, s */
	uint32_t gtick_ns;   /* for time: the length of a gtick */
	bool is_hardware;    /* needs the machine's counters */
	/* The event comes from the kernel itself, so where only user mode may be
	 * watched there is none: refused, not silently empty. */
	bool needs_kernel;
	bool on_perf;     /* the perf backend serves it too */
	uint8_t fp_kinds; /* for COUNTER_FP: enum fp_kind, or-ed */
	enum resource_modes modes;
	enum counter counter;
	enum counter counter_requested; /* with the parameter "requested" */
	uint64_t default_interval;      /* gticks */
	uint32_t perf_type;             /* PERF_TYPE_...: of what is on_perf */
	uint64_t perf_config;           /* PERF_COUNT_... */
};

/* Returns whether a clock or a counter of the processor samples it, which interrupts at each interval. */
bool resource_is_clock(const struct resource_row *row);

extern const struct resource_row resource_rows[]; /* ends with a NULL name */

enum { RESOURCE_ARGUMENTS = 6, RESOURCE_RETURN = -1, RESOURCE_ALL_SYSCALLS = -1, RESOURCE_OWN_BYTES = 63 };

/* The parsed parameters of a resource; all texts may be empty. */
struct resource_target {
	char group[64];   /* tracepoint: its system; usdt: its provider */
	char name[192];   /* of the function, tracepoint or probe; own: the program's name for it */
	char module[256]; /* the function's module: a path or a file's name */
	char field[64];   /* tracepoint: the field that is the amount */
	int argument; /* 1 to 6: the integer argument that is the amount; RESOURCE_RETURN: the return value; 0: 1 each */
	int syscall;  /* number, or RESOURCE_ALL_SYSCALLS */
};

struct resource_request {
	const struct resource_row *row;
	enum counter counter;  /* the row's counter or, with the parameter "requested", its other one */
	char name[256];        /* as given by the user, without the interval: "calls:qsort@libc.so.6" */
	char title[320];       /* the row's, with the parameters: "Calls: qsort@libc.so.6" */
	const char *gtick;     /* the row's, or "unit" where the user named the value that is the amount */
	uint64_t interval;     /* gticks, mean */
	bool default_interval; /* the user gave none */
	struct resource_target target;
};

enum { RESOURCE_REQUESTS_MAX = 16 };

/* "cpu", "cpu/500us", "page-faults/10", "syscalls:read/100". Errors: ERROR_USAGE,
 * with the nearest names, or the form that an interval or the parameters have. */
int resource_parse(const char *words, struct resource_request *request, struct error *error);

/* "500us" (time: a unit is needed) or "10", "2k", "1M"; bytes and values: also "64KiB". */
int resource_parse_interval(const struct resource_row *row, const char *words, uint64_t *interval, struct error *error);

#endif
