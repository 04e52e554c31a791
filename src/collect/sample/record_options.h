/* The options of a recording, and its result: for the monitor, its parts and the commands that record. */
#ifndef COLLECT_SAMPLE_RECORD_OPTIONS_H
#define COLLECT_SAMPLE_RECORD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"
#include "collect/sample/process_list.h"
#include "frames/frames.h"
#include "resources/resources.h"

struct causal_director;
struct destination;
struct profile;

/* For a monitor that runs in a thread of a program with a screen of its own. That program
 * receives the signals, and ends the recording; the command, whose output must not reach the
 * screen, then goes on. */
struct record_apart {
	int stop_fd;            /* readable: the recording ends */
	int command_streams[3]; /* the command's standard input, output and error; the caller closes them */
};

struct record_options {
	struct resource_request resources[RESOURCE_REQUESTS_MAX];
	size_t resource_count;  /* 0: cpu, or user if only that is permitted */
	uint64_t time_interval; /* ns, for the default resource; 0: its default */
	const struct destination *destination;
	const char *backend; /* name of the backend to use; NULL: the best that is permitted */
	/* Attach to these; empty: none. Not owned; monitor_run adds children. */
	struct process_list *processes;
	bool no_children; /* leave out the processes that the target has started and will start */
	bool no_kernel;   /* leave out the kernel's own functions */
	bool everything;  /* record every process of the machine; with a command, while it runs */
	bool paused;      /* count nothing until the program calls cpprof_start */
	/* Makes experiments with the target, by a backend that can (causal/director.h). Not owned; NULL: none. */
	struct causal_director *director;
	/* The monitor wakes up less often, at least 10 times a second, if it would use more than
	 * this share of one processor: also for maps of new processes and for stacks that are to
	 * be completed. 0: no limit. */
	double cpu_share;
	/* The agent has lowered the rate: the intervals were multiplied by this power of two, the
	 * profile has those before that, and each sample counts so many hits, so that the profile can
	 * be added up with others. 0: not lowered. */
	uint32_t weight;
	bool has_low_rate;        /* rings may be small: a few hundred samples a second */
	uint64_t duration_ns;     /* without a command: time to record; 0: until the process ends or a signal */
	char *const *command;     /* arguments, NULL-terminated; NULL: no command */
	char *const *environment; /* "NAME=value" entries that the command gets, NULL-terminated; NULL: none */
	const char *command_line; /* as shown in the profile */
	/* The rank of this process in a parallel job, which all hits get as the label PROFILE_LABEL_RANK; NULL: none */
	const char *rank;
	/* NULL: the monitor receives the signals, and the command has our streams. */
	const struct record_apart *apart;
	/* Reports the progress of naming addresses, for a terminal; may be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	struct frames_limits naming;
	/* Reports that a debug file is downloaded: frames_options.download. NULL: none is. */
	void (*download)(void *context, const char *path, uint64_t done, uint64_t total);
	/* Reports, about once a second while the target runs, what was taken so far; may be NULL. */
	void (*running)(void *context, uint64_t samples, uint64_t lost);
	/* Warns the user while the target runs; may be NULL. */
	void (*warn)(void *context, const char *sentence);
	void *context;
};

struct record_result {
	struct profile *profile; /* owned by the caller; its hits may be on disk only */
	uint64_t samples;
	uint64_t lost;
	const char *backend; /* the backend that measured */
	bool incomplete;     /* a write failed or memory ran out, and samples are missing; `error` has the reason */
	int status;          /* exit status of the command, as in a shell's $?; 0: no command, or it goes on */
	pid_t left;          /* the process of the command, if it goes on; 0: it does not */
};

#endif
