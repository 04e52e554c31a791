/*
 * The subcommands: one row and one file each. Help, manual pages, shell completion and the parsing of options all
 * come from the rows, so they cannot disagree.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/words.h"
#include "profile/profile.h"
#include "profile_file/reader.h"

/* The exit status of every command and of `cpprof`. `record` returns the status of its target instead. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_WORDS = 2,    /* usage error */
	EXIT_EXCEEDED = 3, /* diff --fail-above, regress: a change exceeds the limit */
	/* The values that shells use (POSIX, XCU 2.8.2). */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NO_COMMAND = 127
};

/* A value of the option --format. */
struct command_format {
	const char *name;    /* "folded" */
	const char *summary; /* one line, no full stop */
	const char *ending;  /* suffix of its file names, without the dot */
};

struct command_option {
	int id;           /* the command's own id, or one of view_options.h for a shared option */
	char letter;      /* -r; 0: none */
	const char *name; /* without the dashes: "resource"; NULL ends the table */
	/* The name of its value in the help. "RES": required. "[KEY]": optional. "[=KEY]": optional, and part of the
	 * same word ("--name=value", "-nvalue"). NULL: the option has no value. */
	const char *value;
	const char *help;     /* one sentence, no full stop at its end; %s: the words that the value can be */
	const char *standard; /* the default, as the help prints it; NULL: not printed */
};

struct command_example {
	const char *line; /* the command line; NULL ends the table */
	const char *what; /* its effect */
};

enum command_needs {
	/* The first argument is a profile (default: cpprof.data), which the dispatcher loads before `run`. */
	NEEDS_PROFILE = 1 << 0,
	/* With NEEDS_PROFILE: an argument that contains a '=' and is not the name of a file is not the profile. The
	 * profile may then also be the last argument. */
	NEEDS_PROFILE_BEFORE_TERMS = 1 << 1,
	/* With NEEDS_PROFILE: the profile is not the first but the last argument, behind the required arguments. */
	NEEDS_PROFILE_LAST = 1 << 4,
	/* The first argument and all behind it are a separate command line. */
	STOPS_AT_ARGUMENT = 1 << 2,
	/* For building this project, not for users: help does not list it. */
	IS_HIDDEN = 1 << 3,
};

/* A command that reads files from outside has ROW_MEMORY or, if it is not one that waits for a user, ROWS_LIMITS. The dispatcher limits the
 * memory and the CPU time by them (base/memory_limit.h, base/time_limit.h). */
enum { OPTION_MEMORY = 900, OPTION_CPU_TIME, OPTION_NAMING_TIME };
#define ROW_MEMORY                                                                                    \
	{                                                                                             \
		OPTION_MEMORY, 0, "memory", "SIZE",                                                   \
			"Fail where more than SIZE of memory is needed (512M, 4G); 0: no limit", "1G" \
	}

/* A command that names addresses has this row; take_naming_time reads it. */
#define ROW_NAMING_TIME                                                                                                \
	{                                                                                                              \
		OPTION_NAMING_TIME, 0, "naming-time", "S",                                                             \
			"Spend at most S seconds of CPU time on names, beyond what files of their size need; ^C ends " \
			"naming at once",                                                                              \
			"10"                                                                                           \
	}

#define ROWS_LIMITS                                                                                      \
	ROW_MEMORY,                                                                                      \
	{                                                                                                \
		OPTION_CPU_TIME, 0, "cpu-time", "SECONDS", "End after SECONDS of CPU time; 0: no limit", \
			"60, and 1 for each MB of the files"                                             \
	}

#define TASK_RECORD "Record"
#define TASK_BUILD "Instrument sources"
#define TASK_READ "Read"
#define TASK_COMPARE "Predict and compare"
#define TASK_EXCHANGE "Exchange with other tools"
#define TASK_HELP "Help"

struct invocation;

struct command {
	const char *name;
	const char *task;                     /* its heading in the list of commands: TASK_... */
	const char *summary;                  /* one line for that list, no full stop */
	const char *const *usage;             /* the forms of arguments behind "cpprof NAME", NULL-terminated */
	const struct command_option *options; /* ended by a row without a name */
	/* Returns the complete table, if some rows come from another table; NULL: `options` is complete. */
	const struct command_option *(*make_options)(void);
	const struct command_example *examples;
	/* Sets *format to value number `index` of --format. Returns false if there are no more. NULL: the option's
	 * `help` lists them, or there is no such option. */
	bool (*formats)(size_t index, struct command_format *format);
	/* Returns whether the option can be combined with a format of that name; NULL: each can. The help of an option
	 * begins with the formats, if it is not for all. */
	bool (*format_takes)(const char *format, const struct command_option *option);
	/* Returns the list of words for the value of option `id`, or for an argument (ARGUMENT_WORDS, ...); NULL: any value.
	 * If the member is NULL, all options accept any value. */
	word_at *(*words)(int id);
	/* prints the table of the commands, or keys, that it reads from its input; NULL: none */
	void (*print_commands)(FILE *out);
	const char *commands_heading; /* of that table */
	const char *exit_status;      /* a sentence for its help; NULL: the exit status of any command */
	unsigned needs;               /* enum command_needs */
	size_t argument_min;          /* without the profile of NEEDS_PROFILE */
	size_t argument_max;          /* SIZE_MAX: any number */
	/* Checks the words before a profile is opened. Returns EXIT_DONE, or another status after a message. NULL: `run` checks them. */
	int (*check)(const struct invocation *invocation);
	/* Returns whether it needs no times and threads of hits, no touched memory, and no tables of processes and threads: a store then adds
	 * hits up (store_selection, is_sum). NULL: it needs them. */
	bool (*takes_sums)(const struct invocation *invocation);
	int (*run)(struct invocation *invocation);
};

/* The ids for struct command.words that are not options: the words of any argument, and of the second one alone. */
enum { ARGUMENT_WORDS = -1, SECOND_ARGUMENT_WORDS = -2 };

/* One option of the command line. */
struct option_use {
	const struct command_option *option;
	const char *value; /* NULL if it has no value, or the value was left out */
};

/* The parsed command line. */
struct invocation {
	const struct command *command;
	struct option_use *uses; /* in the order of the command line */
	size_t use_count;
	char **arguments; /* [argument_count], then NULL; without the profile of NEEDS_PROFILE */
	size_t argument_count;
	size_t separated; /* number of arguments before `--`; all, if there is none */
	bool has_separator;
	bool wants_help;

	/* Set only with NEEDS_PROFILE. */
	const char *profile_path; /* of a store: the URL of the selection */
	char *store_url;          /* owned; NULL: a file */
	struct profile *profile;
};

/* Returns the last value of an option that has a value, or NULL if it was not given. */
const char *option_value(const struct invocation *invocation, int id);
bool option_given(const struct invocation *invocation, int id);
/* Returns the number if the whole word is a positive number, or -1. */
double positive_number(const char *word);
/* Sets the CPU time of naming (ROW_NAMING_TIME); 0: the standard. Returns 0 or ERROR_USAGE. */
int take_naming_time(const struct invocation *invocation, uint64_t *cpu_ns, struct error *error);

/* The commands, in the order of the help. A new one is a file with one struct, and its name here. MEASURES: only builds
 * with the collectors have it. */
/* clang-format off */
#define COMMANDS(READS, MEASURES) \
	MEASURES(record) MEASURES(agent) MEASURES(top) MEASURES(control) MEASURES(trace) MEASURES(resources) \
	MEASURES(instrument) MEASURES(cc) MEASURES(cxx) MEASURES(optimize) MEASURES(contextualize) \
	READS(report) READS(explain) READS(html) READS(browse) READS(explore) READS(info) READS(name) \
	READS(gprof) READS(whatif) MEASURES(causal) READS(diff) READS(regress) READS(import) READS(export) READS(push) \
	READS(store) READS(merge) READS(mcp) READS(help) READS(man) READS(completion) READS(complete)
/* clang-format on */
#define X(name) extern const struct command command_##name;
COMMANDS(X, X)
#undef X
extern const struct command *const commands[]; /* NULL-terminated */

/* Returns the command's options, ended by a row without a name. */
const struct command_option *command_options(const struct command *command);
/* The row of --help, which every command accepts. */
extern const struct command_option command_help_option;

/* Names of the commands that help lists. */
const char *command_word(size_t index);

enum { COMMAND_HELP_BYTES = 640 };
/* Writes the option's help into `text`, with its words ("text, json or csv") in
 * place of a %s, behind the formats that it is for ("gmon: "). Returns `text`. */
const char *command_option_help(const struct command *command, const struct command_option *option, char *text,
				size_t bytes);

/* Returns the command with that name, or NULL. */
const struct command *command_find(const char *name);
/* Prints that the command is unknown, with similar names. Returns the exit status. */
int command_unknown(const struct invocation *invocation, const char *name);

/* The whole of `cpprof`: finds the row, provides what it needs, and runs it. Returns the exit status. */
int dispatch(int argc, char **argv);

/* --- options.c: the parser for the options of all commands --- */

/* Reads the `argc` words behind the command's name by the command's table: --name=value, --name value, -nvalue, -n
 * value (not if the value is optional: only -nvalue), -abc, and `--`, behind which all words are arguments. Every
 * command has -h and --help. The invocation points into argv; invocation_release frees what it owns. Returns 0,
 * ERROR_USAGE or ERROR_MEMORY. */
int options_parse(struct invocation *invocation, int argc, char **argv, struct error *error);
void invocation_release(struct invocation *invocation);

/* --- help.c --- */

void help_print_overview(FILE *out);
void help_print_command(FILE *out, const struct command *command);

#endif
