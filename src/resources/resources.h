/*
 * The table of resources that can be recorded, one row each. A row defines what is counted, and which events of the
 * kernel count it. A request is a row with the user's choices: an interval and, for some rows, a name
 * (syscalls:read, calls:qsort).
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
	const char *name; /* "page-faults"; if it has `parameters`: the part before the first colon */
	/* NULL: none; "NAME", "FUNCTION[@MODULE]", ...: the form of the part behind the colon */
	const char *parameters;
	bool parameters_optional;
	/* parameters may contain slashes: the interval follows the last one, if it is an interval */
	bool parameters_hold_slashes;
	/* Parses the parameters into request->target; NULL for rows without parameters. */
	int (*parse)(const char *parameters, struct resource_request *request, struct error *error);
	const char *title;   /* "Page Faults" */
	const char *gtick;   /* the name of one gtick: "fault" */
	const char *summary; /* one line for --help */
	bool is_time;        /* intervals have the units ns, us, ms, s */
	uint32_t gtick_ns;   /* for times: the length of a gtick in ns */
	bool is_hardware;    /* needs hardware counters */
	/* The kernel itself raises the event. If only user mode may be observed, a request is refused instead of
	 * recording nothing. */
	bool needs_kernel;
	bool on_perf;     /* the perf backend supports it too */
	uint8_t fp_kinds; /* for COUNTER_FP: a set of enum fp_kind */
	enum resource_modes modes;
	enum counter counter;
	enum counter counter_requested; /* with the parameter "requested" */
	uint64_t default_interval;      /* gticks */
	uint32_t perf_type;             /* PERF_TYPE_..., if on_perf */
	uint64_t perf_config;           /* PERF_COUNT_..., if on_perf */
};

/* Returns whether the resource is sampled by a clock or a hardware counter, which interrupts the thread at each
 * interval. */
bool resource_is_clock(const struct resource_row *row);

extern const struct resource_row resource_rows[]; /* ends with a NULL name */

enum { RESOURCE_ARGUMENTS = 6, RESOURCE_RETURN = -1, RESOURCE_ALL_SYSCALLS = -1, RESOURCE_OWN_BYTES = 63 };

/* The parsed parameters of a resource; all texts may be empty. */
struct resource_target {
	char group[64];   /* tracepoint: its system; usdt: its provider */
	char name[192];   /* of the function, tracepoint or probe; own: the program's name for the resource */
	char module[256]; /* the function's module: a path or a file name */
	char field[64];   /* tracepoint: the field that is the amount */
	/* 1 to 6: the integer argument that is the amount; RESOURCE_RETURN: the return value; 0: each event counts 1 */
	int argument;
	int syscall; /* number, or RESOURCE_ALL_SYSCALLS */
};

struct resource_request {
	const struct resource_row *row;
	enum counter counter;  /* the row's counter, or its counter_requested */
	char name[256];        /* as the user wrote it, without the interval: "calls:qsort@libc.so.6" */
	char title[320];       /* the row's, with the parameters: "Calls: qsort@libc.so.6" */
	const char *gtick;     /* the row's, or "unit" if the user chose a value as the amount */
	uint64_t interval;     /* mean, in gticks */
	bool default_interval; /* the user gave no interval */
	struct resource_target target;
};

enum { RESOURCE_REQUESTS_MAX = 16 };

/* Parses a resource: "cpu", "cpu/500us", "page-faults/10", "syscalls:read/100". Returns 0 or ERROR_USAGE; the
 * error's text has the most similar names, or the form of an interval or of the parameters. */
int resource_parse(const char *words, struct resource_request *request, struct error *error);

/* Parses an interval: "500us" for times (the unit is required), or "10", "2k", "1M"; for bytes and values also
 * "64KiB". */
int resource_parse_interval(const struct resource_row *row, const char *words, uint64_t *interval, struct error *error);

#endif
