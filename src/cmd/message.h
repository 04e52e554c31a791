/* Messages in addition to the results: one line each, on standard error, "cpprof COMMAND: ...". Names from files are
 * printed without control characters. */
#ifndef CMD_MESSAGE_H
#define CMD_MESSAGE_H

#include <stdbool.h>

#include "cmd/command.h"

/* Print a message and return the matching exit status. `usage_error` appends "; try 'cpprof report --help'", unless
 * the message ends with a remedy in parentheses: a message whose remedy is known contains it, and only an unknown or
 * superfluous word refers to --help. */
int failure(const struct invocation *invocation, const char *format, ...) __attribute__((format(printf, 2, 3)));
int usage_error(const struct invocation *invocation, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Calls usage_error or failure, by the error's code. Returns EXIT_NO_COMMAND or EXIT_NOT_EXECUTABLE for
 * ERROR_NO_COMMAND and ERROR_NOT_EXECUTABLE. */
int failure_of(const struct invocation *invocation, const struct error *error);

void warning(const struct invocation *invocation, const char *format, ...) __attribute__((format(printf, 2, 3)));
void notice(const struct invocation *invocation, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the number of rows that messages have taken so far, if standard error is a terminal. */
int message_rows(void);

/* Returns whether standard output gets colour: it is a terminal, and NO_COLOR is not set (no-color.org). */
bool wants_colour(void);
/* Returns the width of the terminal that standard output is, by COLUMNS or by the terminal, 80 if neither has it, and at least 20; 0: it
 * is none. */
int terminal_columns(void);
/* The same for the height: by LINES or by the terminal, 24 if neither has it, and at least 5. */
int terminal_lines(void);

#endif
