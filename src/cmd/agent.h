/*
 * The parts of `cpprof agent`, which records the machine without an end and puts the recordings into a store. It supervises commands that
 * exist: each slice of time is recorded by a child that runs `record -a`, and is added by a child that runs `store add --spool`. So the
 * memory that recordings take is given back with each process that ends.
 *
 *   settings   the options and the file of --config, and the command lines of the children that follow from them
 *   check      the options that only these children read
 *   job        one child process
 *   slices     the recorders, from one to the next one, and the files that wait for the store
 *   room       slices that are removed, because they exceed --spool-limit or have no samples
 *   rate       the rate that the limits permit
 *   metrics    the figures of all that, as Prometheus text on a local socket
 */
#ifndef CMD_AGENT_H
#define CMD_AGENT_H

#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"
#include "cmd/command.h"
#include "cmd/record.h"

/* --- the settings (agent_settings.c) --- */

extern const struct command_option agent_options[];

enum { AGENT_WORDS_MOST = 256 };

/* A command line. */
struct agent_words {
	char *items[AGENT_WORDS_MOST + 1]; /* NULL-terminated; owned */
	size_t lines[AGENT_WORDS_MOST];    /* of the file of --config, from 1 on */
	size_t count;
	bool failed; /* no memory, or too many */
};

void agent_words_release(struct agent_words *words);

struct agent_settings {
	struct agent_words words; /* of the file, then of the command line, whose values thus win */
	struct invocation invocation;
	char *store, *spool;   /* owned */
	const char *metrics;   /* NULL: no socket */
	double hertz;          /* of the resources that are times and have no interval */
	double cpu_share;      /* of one processor; 0: no limit */
	uint64_t memory_bytes; /* of a recorder; 0: no limit */
	uint64_t spool_limit;  /* bytes of the slices that wait; 0: no limit */
	uint64_t every_ns;     /* the length of a slice */
};

/* Checks settings. Returns 0 or a negative error. */
typedef int agent_settings_check(const struct agent_settings *settings, struct error *error);

/* Reads the options of a command line, and the file that they name, and checks them all. Returns EXIT_DONE, or prints a message, which has the
 * file and the line of the error if it is there, and returns another status. The caller releases the settings in any case. */
int agent_settings_read(struct agent_settings *settings, const struct invocation *invocation,
			agent_settings_check *check);
void agent_settings_release(struct agent_settings *settings);

/* Set the words of `record` for a slice, and of `cpprof store add` for its file (NULL: for none, with a spool that does not exist). The caller
 * releases them. */
void agent_settings_record_words(const struct agent_settings *settings, const char *path, struct agent_words *words);
void agent_settings_add_words(const struct agent_settings *settings, const char *path, struct agent_words *words);

/* --- the check (agent_check.c) --- */

/* Checks the options that the children read, in a child. */
agent_settings_check agent_check;

/* --- the folder (agent_spool.c) --- */

/* Makes the folder if it does not exist, and locks it for this agent and its children, which keep the descriptor. Waits for the recorder of an
 * agent that was killed. Returns 0 or a negative error. The caller closes *lock_fd unless it is negative. */
int agent_spool_open(const char *folder, const struct invocation *invocation, int *lock_fd, struct error *error);

typedef void agent_file(void *context, int folder, const char *name);
/* Calls `visit` for each name in the folder; for none if it cannot be read. */
void agent_spool_visit(const char *folder, agent_file *visit, void *context);

/* Returns whether a path or name is that of a slice with this ending. */
bool agent_spool_is_slice(const char *path, const char *ending);

/* --- a child process (agent_job.c) --- */

/* The work of a child. Returns its exit status. */
typedef int agent_work(const void *context);

struct agent_job {
	pid_t pid;   /* 0: none */
	int end_fd;  /* readable when it has ended */
	int text_fd; /* its messages */
};

struct agent_end {
	int status; /* as in a shell's $? */
	uint64_t cpu_ns;
	char text[4096]; /* its messages without closing lines */
};

/* Starts a child with the old signal mask, in a process group of its own, so that the terminal's ^C is for the agent alone. It gets SIGTERM
 * if the agent is killed. Returns 0 or a negative error. */
int agent_job_start(struct agent_job *job, agent_work *work, const void *context, const sigset_t *signals,
		    struct error *error);
/* Waits for the child's end. */
void agent_job_end(struct agent_job *job, struct agent_end *end);

/* --- the figures, and their socket (agent_metrics.c) --- */

enum { AGENT_CLIENTS_MOST = 8 };

enum agent_failure { AGENT_FAILED_RECORD, AGENT_FAILED_STORE, AGENT_FAILURES };

struct agent_figures {
	uint64_t slices, samples, lost;
	uint64_t stored, stored_bytes; /* slices that the store has taken, without those of the spool */
	uint64_t failures[AGENT_FAILURES];
	uint64_t recorded_ns, gap_ns, overlap_ns;
	uint64_t rate_changes, reloads, early_ends;
	uint64_t dropped; /* slices that were removed before a store or the spool had taken them */
	double hertz, requested_hertz;
	const char *spool;
};

struct agent_client {
	int fd;
	uint64_t end_ns; /* by then its request has come */
	size_t bytes;    /* of the request so far */
	char last[4];    /* its last bytes: an empty line ends it */
};

struct agent_metrics {
	const char *path; /* NULL: none */
	int fd;
	struct agent_client clients[AGENT_CLIENTS_MOST];
	size_t client_count;
	struct buffer text; /* the last answer, which is used again for a short time */
	uint64_t text_ns;   /* when it was made */
};

/* Listens. Replaces a socket that an earlier agent has left. Returns 0 or a negative error. */
int agent_metrics_open(struct agent_metrics *metrics, const char *path, struct error *error);
/* Removes the socket. */
void agent_metrics_close(struct agent_metrics *metrics);
/* Closes the descriptors in a child. */
void agent_metrics_leave(const struct agent_metrics *metrics);
/* Appends descriptors to wait for. Returns their number, at most 1 + AGENT_CLIENTS_MOST. */
size_t agent_metrics_descriptors(const struct agent_metrics *metrics, struct pollfd *descriptors);
/* Accepts at most AGENT_CLIENTS_MOST clients, reads a few KB from each, and answers the requests that are complete. Waits for nothing. */
void agent_metrics_answer(struct agent_metrics *metrics, const struct agent_figures *figures);

/* --- the rate (agent_rate.c) --- */

struct agent_use {
	double cpu_share;
	uint64_t memory_bytes;
};

/* Returns the number of requested intervals for each sample of the next slice, from the use of the last one, which had `weight`, and the limits
 * (0: none). A power of two, at most `most`. */
uint32_t agent_rate_next(uint32_t weight, double most, const struct agent_use *used, const struct agent_use *limits);

/* --- the slices (agent_slices.c) --- */

/*
 *   agent_slices_step: starts ---> SLICE_STARTING --its file appears--> SLICE_SAMPLING --the next one samples, or a stop--> SLICE_ENDING
 *                                       |                                    |                                                |
 *                                       '------------- the child ends -------+----------------> SLICE_ENDED <------- names ---'
 *
 * 1. At most one slice is starting, and at most one is sampling.
 * 2. A slice samples until the next one does, so that nothing is between them but the time in which both sample. A slice that cannot start
 *    leaves the sampling one as it is.
 * 3. Ended slices leave the queue in the order in which they began, when their figures are added up.
 * 4. A file slice-*.data that no slice of the queue writes waits for the store: also the files of an agent that was killed. It is removed
 *    after `store add` has put it into the store or the spool. A recording is in a store once, so that it may be added again.
 * 5. A file that was refused is slice-*.kept until it is tried again. Its name gets a '+' for each of the first tries, and then stays.
 */
enum slice_state { SLICE_STARTING, SLICE_SAMPLING, SLICE_ENDING, SLICE_ENDED };

struct slice {
	enum slice_state state;
	struct agent_job job;
	char *path;                /* owned */
	struct record_slice *made; /* shared with the child */
	uint64_t began_ns;         /* of its present state */
	bool is_asked;             /* to end */
};

enum { SLICES_MOST = 6 };

struct agent_slices {
	const struct invocation *invocation; /* for messages */
	const struct agent_settings *settings;
	const sigset_t *signals; /* that the children get back */
	struct agent_metrics *metrics;
	struct agent_figures *figures;
	struct slice queue[SLICES_MOST]; /* in the order of their beginnings */
	size_t count;
	struct agent_job adder;
	uint64_t adder_end_ns;  /* after a stop: then it is ended */
	char *added;            /* the file that it adds; owned */
	bool may_wait;          /* files may wait for the store */
	uint64_t again_ns;      /* no attempt to record before */
	uint64_t kept_again_ns; /* files that were refused are tried again */
	uint64_t failed_in_line;
	uint64_t lead_ns;                /* the time that a recorder takes to begin */
	uint64_t last_end_ns;            /* of the sampling; 0: none yet */
	uint64_t add_cpu_ns;             /* since the last slice ended */
	uint32_t weight;                 /* requested intervals for each sample */
	bool has_sampled;                /* any slice */
	uint64_t look_ns;                /* at the memory of the recorder */
	bool is_due;                     /* the next slice begins now */
	bool stops;                      /* no other slice begins */
	bool gives_up;                   /* ... and no file is added */
	int refused;                     /* the exit status of the first recorder, which could not begin; 0: it could */
	char *last_text[AGENT_FAILURES]; /* messages that were printed; owned */
};

void agent_slices_init(struct agent_slices *slices);
void agent_slices_release(struct agent_slices *slices);
/* Does what is due, and waits for nothing. */
void agent_slices_step(struct agent_slices *slices, uint64_t now_ns);
/* Returns when agent_slices_step is to be called again, at the latest. */
uint64_t agent_slices_due(const struct agent_slices *slices, uint64_t now_ns);
size_t agent_slices_descriptors(const struct agent_slices *slices, struct pollfd *descriptors);
/* Files that were refused before wait again. */
void agent_slices_retry_kept(struct agent_slices *slices);
/* Ends the slices, and adds them and what waits, together within a few seconds; what takes longer, and the second call, leave their files to a later agent. */
void agent_slices_stop(struct agent_slices *slices);
bool agent_slices_are_done(const struct agent_slices *slices);

/* The name of a slice's file, and the ending of a file that the store refused. */
#define SLICE_BEGINNING "slice-"
#define SLICE_SUFFIX ".data"
#define SLICE_KEPT ".kept"
#define SLICE_TRY "+"
#define SLICE_LAST_TRY "++"

/* --- slices that are removed (agent_room.c) --- */

/* Returns whether a recorder writes the file with this name. */
bool agent_room_is_written(const struct agent_slices *slices, const char *name);

/* Removes files that were refused, and then those that wait, each time the oldest, until their bytes are within the limit. Prints a
 * warning with their number. */
void agent_room_make(struct agent_slices *slices);

/* The status of an adder whose file is useless, and of one whose store is away, so that the spool has the recording. No command has them. */
enum { ADD_USELESS = 64, ADD_SPOOLED };

/* Returns whether a file is no recording, or one that was cut before its first sample. */
bool agent_room_is_useless(const char *path);
/* Removes the useless file that was added, and prints a warning, if this was its third try. Returns whether it did. */
bool agent_room_give_up(struct agent_slices *slices);

#endif
