/*
 * The resources that can be recorded: one row each. A row says what is counted
 * and where the kernel can be asked for it; a request is a row with what the
 * user gave: an interval, and for some rows a name (syscalls:read, calls:qsort).
 */
#ifndef RESOURCES_RESOURCES_H
#define RESOURCES_RESOURCES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

enum resource_modes {
	RESOURCE_ALL_MODES,  /* user and kernel */
	RESOURCE_USER_MODE,  /* only the part in user mode */
	RESOURCE_KERNEL_MODE /* only the part in the kernel on the thread's behalf */
};

/* The event that shows its use: all but the last are in the kernel. */
enum resource_hook {
	HOOK_CLOCK,      /* a perf clock or hardware counter that interrupts: perf_type, perf_config */
	HOOK_EVENT,      /* a software event of perf, each one counted: faults, migrations */
	HOOK_SWITCH,     /* threads leave the CPU and return to it */
	HOOK_SYSCALL,    /* the end of each system call */
	HOOK_SIGNAL,     /* the delivery of a signal */
	HOOK_TRAP,       /* CPU exceptions */
	HOOK_DISK,       /* requests to block devices */
	HOOK_ALLOCATION, /* the functions of the process's allocator: uprobes */
	HOOK_FUNCTION,   /* any function: a uprobe */
	HOOK_TRACEPOINT, /* any tracepoint of the kernel */
	HOOK_USDT,       /* a static probe that the program's author put in */
	HOOK_INSIDE      /* nowhere but in the process itself, by libcpprof */
};

/* The counted quantity. */
enum resource_measure {
	MEASURE_EVENTS,        /* 1 each */
	MEASURE_BYTES,         /* HOOK_DISK, HOOK_ALLOCATION */
	MEASURE_READ,          /* HOOK_SYSCALL: bytes */
	MEASURE_WRITTEN,       /* ... */
	MEASURE_TRANSFERRED,   /* ... both */
	MEASURE_ELAPSED,       /* HOOK_SWITCH: time, running or not */
	MEASURE_WAITED,        /* ... time off the CPU */
	MEASURE_WAITED_FOR_IO, /* ... */
	MEASURE_WAITED_FOR_LOCKS,
	MEASURE_VALUE,    /* the value of an argument or field, if the user named one, else 1 each */
	MEASURE_IO_CALLS, /* HOOK_SYSCALL: 1 for each call that reads, writes or waits for a file */
	MEASURE_FP,       /* HOOK_INSIDE: floating point exceptions, `fp_kinds` */
	MEASURE_OWN       /* HOOK_INSIDE: the program's own counter, by cpprof_tick */
};

/* Kinds of floating point exceptions, as the processor's flags are numbered. */
enum resource_fp {
	RESOURCE_FP_INVALID = 1,
	RESOURCE_FP_DENORMAL = 2,
	RESOURCE_FP_DIVZERO = 4,
	RESOURCE_FP_OVERFLOW = 8,
	RESOURCE_FP_UNDERFLOW = 16,
	RESOURCE_FP_INEXACT = 32
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
	bool on_preload;  /* the preload backend serves it */
	uint8_t fp_kinds; /* for MEASURE_FP: enum resource_fp, or-ed */
	enum resource_modes modes;
	enum resource_hook hook;
	enum resource_measure measure;
	uint64_t default_interval; /* gticks */
	uint32_t perf_type;        /* PERF_TYPE_...: HOOK_CLOCK, HOOK_EVENT and whatever is on_perf */
	uint64_t perf_config;      /* PERF_COUNT_... */
};

/* Returns whether its events are page faults, which have the touched address. */
bool resource_is_fault(const struct resource_row *row);

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
	bool requested; /* requested bytes, not transferred ones */
};

struct resource_request {
	const struct resource_row *row;
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
