/* The parts of `cpprof record` beside record.c. */
#ifndef CMD_RECORD_H
#define CMD_RECORD_H

#include "base/error.h"
#include "cmd/command.h"
#include "collect/sample/monitor.h"

/* --- record --repeat N (record_repeat.c): records a command N times, each in a process of its own, into numbered files --- */

enum { REPEATS_MOST = 1000, RECORDED_NAME_BYTES = 48 };

/* The figures of one complete recording. */
struct recorded {
	uint64_t samples, lost;
	uint64_t total; /* gticks of the first resource; 0: not known */
	char resource[RECORDED_NAME_BYTES], unit[RECORDED_NAME_BYTES];
};

/* Fills in the figures from a profile. */
void recorded_set(struct recorded *recorded, const struct profile *profile, uint64_t samples, uint64_t lost);

/* Makes one recording into `output`, and prints its closing line. Returns the exit status; sets *recorded if the profile is complete. */
typedef int recording_maker(struct invocation *invocation, struct record_options *options, const char *output,
			    struct recorded *recorded);

/* Records as often as `count`, the value of --repeat, requests: OUTPUT "a.data" becomes "a-1.data", "a-2.data", ... Prints a summary. A
 * recording that fails, or a signal such as ^C, ends them all. Returns the first exit status that is not 0, or 0. */
int record_repeat(struct invocation *invocation, struct record_options *options, const char *output, const char *count,
		  recording_maker *make);

/* The same until the shares of all paths of the first resource that have 5 % or more have an error of at most `error`, the value of --until,
 * in all recordings together; at most REPEATS_MOST times. Adds the recordings up into `output`, and removes them. */
int record_until(struct invocation *invocation, struct record_options *options, const char *output, const char *error,
		 recording_maker *make);

/* --- record --jit (runtime_variables.c): the environment by which the runtimes of generated code list it (profile/runtimes.h) --- */

struct runtime_variables {
	char **entries; /* "NAME=value", NULL-terminated; owned */
};

/* Sets the variables of all runtimes, joined with the values that they have in our environment. The command may be a script or a build
 * tool that starts any of them, and the others do not read a variable that is not theirs. Returns 0 or ERROR_MEMORY; release in any case. */
int runtime_variables_init(struct runtime_variables *variables, struct error *error);
void runtime_variables_release(struct runtime_variables *variables);

#endif
