/*
 * The subcommands: one row each, one file each. Help, manual pages, shell
 * completion and the parsing of options all come from the rows, so they cannot
 * disagree. A new command is a new file, and its name in commands.c.
 */
#ifndef CMD_COMMAND_H
#define CMD_COMMAND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/words.h"
#include "profile/profile.h"
#include "profile_file/reader.h"

/* What every command returns, and `cpprof` with it. `record` returns what its
 * target did instead. */
enum exit_status {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_WORDS = 2, /* usage error */
	/* As a shell reports them (POSIX, XCU 2.8.2). */
	EXIT_NOT_EXECUTABLE = 126,
	EXIT_NO_COMMAND = 127
};

/* A format that the option --format of a command can name. */
struct command_format {
	const char *name;    /* "folded" */
	const char *summary; /* one line, no full stop */
	const char *ending;  /* of its files' names, without the dot */
};

struct command_option {
	int id;           /* of the command's own choice; from view_options.h for shared ones */
	char letter;      /* -r; 0: none */
	const char *name; /* --resource, without the dashes; NULL ends the table */
	/* What the help calls its value, "RES"; "[KEY]": it may be left out; "[=KEY]": it may, and where it is given it is
	 * part of the word ("--name=value", "-nvalue"); NULL: it takes none. */
	const char *value;
	const char *help;     /* one sentence, no full stop at its end; %s: the words that the value can be */
	const char *standard; /* the default, as the help shows it; NULL: none worth saying */
};

struct command_example {
	const char *line; /* what to type; NULL ends the table */
	const char *what; /* what it does */
};

enum command_needs {
	/* The first argument is a profile (default: cpprof.data), which the
	 * dispatcher loads before `run`. */
	NEEDS_PROFILE = 1 << 0,
	/* ... but an argument with a '=' in it that names no file is not it; then it may
	 * also be the last one. */
	NEEDS_PROFILE_BEFORE_TERMS = 1 << 1,
	/* Everything from the first argument on is a command line of its own. */
	STOPS_AT_ARGUMENT = 1 << 2,
	/* For building this project, not for users: no help lists it. */
	IS_HIDDEN = 1 << 3,
};

#define TASK_RECORD "Record"
#define TASK_BUILD "Instrument sources"
#define TASK_READ "Read"
#define TASK_COMPARE "Predict and compare"
#define TASK_EXCHANGE "Exchange with other tools"
#define TASK_HELP "Help"

struct invocation;

struct command {
	const char *name;
	const char *task;                     /* the heading it stands under in the list of commands: TASK_... */
	const char *summary;                  /* one line for that list, no full stop */
	const char *const *usage;             /* what may follow "cpprof NAME", NULL-terminated */
	const struct command_option *options; /* ended by a row without a name */
	/* The complete table, where rows come from another one; NULL: `options` is. */
	const struct command_option *(*make_options)(void);
	const struct command_example *examples;
	/* Fills in format number `index` of those that --format can name; false: there are no more. NULL: the option's
	 * `help` lists them, or there is no such option. */
	bool (*formats)(size_t index, struct command_format *format);
	/* The words that the value of option `id`, or with ARGUMENT_WORDS an argument, can be; NULL: any. A NULL member:
	 * any, of all options. */
	word_at *(*words)(int id);
	void (*print_commands)(FILE *out); /* those that it reads itself, a table of text; NULL: it reads none */
	const char *exit_status;           /* what its help says of it, a sentence; NULL: as of any command */
	unsigned needs;                    /* enum command_needs */
	size_t argument_min;               /* without the profile of NEEDS_PROFILE */
	size_t argument_max;               /* SIZE_MAX: any number */
	int (*run)(struct invocation *invocation);
};

/* The `id` for struct command.words that is not an option. */
enum { ARGUMENT_WORDS = -1 };

/* One option as it was given. */
struct option_use {
	const struct command_option *option;
	const char *value; /* NULL if it takes none, or it was left out */
};

/* What a command is called with. */
struct invocation {
	const struct command *command;
	struct option_use *uses; /* in the order of the command line */
	size_t use_count;
	char **arguments; /* [argument_count], then NULL; without the profile of NEEDS_PROFILE */
	size_t argument_count;
	size_t separated; /* of the arguments, those before `--`; all of them, if there is none */
	bool wants_help;

	/* Only with NEEDS_PROFILE. */
	const char *profile_path;
	struct profile *profile;
};

/* The last value given for an option, or NULL: for options that may be given
 * once (`id` takes a value). */
const char *option_value(const struct invocation *invocation, int id);
bool option_given(const struct invocation *invocation, int id);

extern const struct command *const commands[]; /* NULL-terminated, in the order of the help */

/* The command's options, ended by a row without a name. */
const struct command_option *command_options(const struct command *command);
/* The row of --help, which every command accepts. */
extern const struct command_option command_help_option;

/* Names of the commands that help lists. */
const char *command_word(size_t index);

enum { COMMAND_HELP_BYTES = 640 };
/* Writes the option's help into `text`, with its words ("text, json or csv") in
 * place of a %s. Returns `text`. */
const char *command_option_help(const struct command *command, const struct command_option *option, char *text,
				size_t bytes);

/* NULL: no such command. */
const struct command *command_find(const char *name);
/* Says so, and which are like it; returns the exit status. */
int command_unknown(const struct invocation *invocation, const char *name);

/* The whole of `cpprof`: finds the row, provides what it needs, runs it.
 * Returns the exit status. */
int dispatch(int argc, char **argv);

#endif
