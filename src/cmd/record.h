/* The parts of `cpprof record` beside record.c. */
#ifndef CMD_RECORD_H
#define CMD_RECORD_H

#include "analyze/analyses.h"
#include "base/buffer.h"
#include "base/error.h"
#include "cmd/command.h"
#include "collect/sample/monitor.h"

/* --- record --repeat N (record_repeat.c): records a command N times, each in a process of its own, into numbered files --- */

enum { REPEATS_MOST = 1000, RECORDED_NAME_BYTES = 48 };

/* The figures of one complete recording. */
struct recorded {
	uint64_t samples, lost;
	uint64_t total;            /* gticks of the first resource; 0: not known */
	uint64_t start_ns, end_ns; /* of the sampling, by CLOCK_MONOTONIC */
	char resource[RECORDED_NAME_BYTES], unit[RECORDED_NAME_BYTES];
};

/* Fills in the figures from a profile. */
void recorded_set(struct recorded *recorded, const struct profile *profile, uint64_t samples, uint64_t lost);

/* A command, and its complete recordings so far. */
struct recorded_side {
	const char *mark;         /* in the names of its files: "", or "-a" and "-b" of two sides */
	char *const *command;     /* NULL-terminated */
	const char *command_line; /* the same for a shell */
	struct recorded *made;    /* [made_count]; owned */
	char **names;             /* [made_count] of the files; owned */
	size_t made_count;
};

/* Makes one recording into `output`, and prints its closing line. Returns the exit status; sets *recorded if the profile is complete. */
typedef int recording_maker(struct invocation *invocation, struct record_options *options, const char *output,
			    struct recorded *recorded);

/* Records as often as `count`, the value of --repeat, requests: OUTPUT "a.data" becomes "a-1.data", "a-2.data", ... Prints a summary. A
 * recording that fails, or a signal such as ^C, ends them all. Returns the first exit status that is not 0, or 0.
 *
 * `against`, the value of --against, is a second command, or NULL. The two are recorded in turns: the second one is side A, into "a-a-1.data",
 * ..., and the command is side B, into "a-b-1.data", ... A status that is not 0 ends them all. */
int record_repeat(struct invocation *invocation, struct record_options *options, const char *output, const char *count,
		  const char *against, recording_maker *make);

/* The same until the shares of all paths of the first resource that have 5 % or more have an error of at most `error`, the value of --until,
 * in all recordings together; at most REPEATS_MOST times. Adds the recordings up into `output`, and removes them. */
int record_until(struct invocation *invocation, struct record_options *options, const char *output, const char *error,
		 recording_maker *make);

/* --- a slice of the agent (agent.h) --- */

struct record_slice {
	double cpu_share; /* record_options */
	uint32_t weight;
	struct recorded recorded; /* total 0: the profile is not complete */
	uint64_t memory_bytes; /* largest resident memory of this process, without the children that name addresses */
};

/* Makes the one recording of a parsed command line of `record` that has -a and -o, until a signal, and prints its closing line. Sets
 * slice->recorded and slice->memory_bytes. Returns the exit status. */
int record_slice(struct invocation *invocation, struct record_slice *slice);

/* Checks the options of such a command line. Returns EXIT_DONE, or prints a message and returns another status. */
int record_slice_check(struct invocation *invocation);

/* --- the names and the summaries of these recordings (record_summary.c) --- */

/* Appends the name of recording `number` of a side, and a NUL: "dir/x-3.data", or "dir/x-a-3.data" for the side with the mark "-a". */
void recorded_append_name(struct buffer *name, const char *output, const struct recorded_side *side, uint64_t number);

/* Prints the line of a side, which was to have `count` recordings: "cpprof: 5 recordings, x-1.data to x-5.data: 5230 samples, 0 lost, cpu
 * 1.05 s each, ±0.8 % (standard deviation)". Returns 0 or ERROR_MEMORY. */
int recorded_print_summary(const struct recorded_side *side, const char *output, uint64_t count);

/* Prints the command that compares two complete sides. Returns 0 or ERROR_MEMORY. */
int recorded_print_next(const struct recorded_side *sides, const char *output);

/* --- record --jit (runtime_variables.c): the environment by which the runtimes of generated code list it (profile/runtimes.h) --- */

struct runtime_variables {
	char **entries; /* "NAME=value", NULL-terminated; owned */
};

/* Sets the variables of all runtimes, joined with the values that they have in our environment. The command may be a script or a build
 * tool that starts any of them, and the others do not read a variable that is not theirs. Returns 0 or ERROR_MEMORY; release in any case. */
int runtime_variables_init(struct runtime_variables *variables, struct error *error);
void runtime_variables_release(struct runtime_variables *variables);

#endif
