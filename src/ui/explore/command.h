/*
 * The commands of the loop, one row each. `help`, the manual and the completion are derived from the rows; a new
 * command is a new row.
 */
#ifndef UI_EXPLORE_COMMAND_H
#define UI_EXPLORE_COMMAND_H

#include <stddef.h>
#include <stdio.h>

#include "base/error.h"
#include "ui/explore/session.h"

/* The kind of a command's arguments, for the completion. */
enum explore_words {
	WORDS_NONE,
	WORDS_FUNCTION, /* one function name, which may contain spaces */
	WORDS_TERMS,    /* function names separated by ';' */
	WORDS_FORMAT,
	WORDS_COMMAND,
};

struct report;
struct setting;

struct explore_command {
	const char *name;
	const char *alias;     /* a second name, or NULL */
	const char *arguments; /* "FUNCTION", "[F]", "" */
	const char *summary;   /* one line, no full stop */
	const char *detail;    /* text that `help NAME` appends: lines that end in '\n'; or NULL */
	enum explore_words words;
	const struct report *report;   /* the report that it prints; or NULL */
	const struct setting *setting; /* the setting that it changes; or NULL. Without both, `run` is called */
	/* `arguments` has no white space around it. Prints reports to `out`. Returns 0, or a negative error and sets
	 * `error`, which is not NULL. */
	int (*run)(struct session *session, const char *arguments, FILE *out, struct error *error);
};

/* Returns all commands and NULL, in the order in which `help` shows them. The commands of reports and settings
 * come from the tables in reports/reports.c and analyze/settings.c. */
const struct explore_command *const *explore_commands(void);

/* Runs a command, like `run` above. */
int explore_command_run(const struct explore_command *command, struct session *session, const char *arguments,
			FILE *out, struct error *error);

/* Fills in the row of a report's command. */
void explore_report_command(const struct report *report, struct explore_command *command);
/* Prints the report for each chosen resource. */
int explore_report_run(const struct explore_command *command, struct session *session, const char *arguments, FILE *out,
		       struct error *error);

/* Changes or prints the setting. */
int explore_setting_run(const struct explore_command *command, struct session *session, const char *arguments,
			FILE *out, struct error *error);

/* Returns the command with that name, alias or unique prefix of a name, or NULL and sets `error`. */
const struct explore_command *explore_command_find(const char *name, struct error *error);

/* The other rows: command_others.c. */
extern const struct explore_command explore_export, explore_info, explore_help, explore_quit;

/* Prints the table of commands, one per line: for the manual and --help. */
void commands_print(FILE *out);

#endif
