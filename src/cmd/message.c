#include "cmd/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/error.h"
#include "base/memory_limit.h"
#include "render/render.h"

enum { TEXT_BYTES = 1024, COLUMNS_USUAL = 80 };

/* Rows of the terminal that messages have taken. */
static int rows_taken;

/* Formats the message of a function whose last parameter is `format`. */
#define FORMAT_TEXT(text)                            \
	char text[TEXT_BYTES];                       \
	va_list args;                                \
	va_start(args, format);                      \
	vsnprintf(text, sizeof(text), format, args); \
	va_end(args)

/* Counts the rows of a message if it goes to a terminal. */
static void take_rows(int length)
{
	struct winsize window;
	if (length <= 0 || !isatty(STDERR_FILENO))
		return;
	int columns =
		ioctl(STDERR_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0 ? window.ws_col : COLUMNS_USUAL;
	rows_taken += 1 + (length - 1) / columns;
}

int message_rows(void)
{
	return rows_taken;
}

static void print_message(const struct invocation *invocation, const char *kind, const char *text, const char *ending)
{
	take_rows((int)(strlen("cpprof: ") + (invocation->command ? strlen(invocation->command->name) + 1 : 0) +
			strlen(kind) + strlen(text) + strlen(ending)));
	fputs("cpprof", stderr);
	if (invocation->command)
		fprintf(stderr, " %s", invocation->command->name);
	fprintf(stderr, ": %s", kind);
	render_safe_text(stderr, text);
	fprintf(stderr, "%s\n", ending);
}

int failure(const struct invocation *invocation, const char *format, ...)
{
	FORMAT_TEXT(text);
	print_message(invocation, "", text, "");
	return EXIT_FAILED;
}

/* Returns whether the message ends with a remedy in parentheses, so that it needs no other. */
static bool has_remedy(const char *text)
{
	size_t length = strlen(text);
	return length > 0 && text[length - 1] == ')';
}

int usage_error(const struct invocation *invocation, const char *format, ...)
{
	char where[96] = "";
	FORMAT_TEXT(text);
	if (has_remedy(text))
		;
	else if (invocation->command)
		snprintf(where, sizeof(where), "; try 'cpprof %s --help'", invocation->command->name);
	else
		snprintf(where, sizeof(where), "; try 'cpprof --help'");
	print_message(invocation, "", text, where);
	return EXIT_WORDS;
}

int failure_of(const struct invocation *invocation, const struct error *error)
{
	if (error->code == ERROR_USAGE)
		return usage_error(invocation, "%s", error->message);
	struct error explained = *error;
	memory_limit_explain(&explained);
	failure(invocation, "%s", explained.message[0] ? explained.message : error_text(error->code));
	return error->code == ERROR_NO_COMMAND       ? EXIT_NO_COMMAND
	       : error->code == ERROR_NOT_EXECUTABLE ? EXIT_NOT_EXECUTABLE
						     : EXIT_FAILED;
}

void warning(const struct invocation *invocation, const char *format, ...)
{
	FORMAT_TEXT(text);
	print_message(invocation, "warning: ", text, "");
}

void notice(const struct invocation *invocation, const char *format, ...)
{
	FORMAT_TEXT(text);
	print_message(invocation, "", text, "");
}

bool wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	return isatty(STDOUT_FILENO) && !(no_colour && no_colour[0]) && !(terminal && strcmp(terminal, "dumb") == 0);
}

/* Returns a size of the terminal that standard output is: the size in a variable of the environment, or the terminal's own, or `usual`; at least
 * `least`. Returns 0 if it is none. */
static int terminal_size(const char *variable, bool is_width, long usual, long least)
{
	enum { MOST = 10000 };
	struct winsize window;
	const char *text = getenv(variable);
	char *end;
	if (!isatty(STDOUT_FILENO))
		return 0;
	long size = text ? strtol(text, &end, 10) : 0;
	if (text && (end == text || *end))
		size = 0;
	if (size <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0)
		size = is_width ? window.ws_col : window.ws_row;
	if (size <= 0)
		size = usual;
	return (int)(size < least ? least : size > MOST ? MOST : size);
}

int terminal_columns(void)
{
	enum { COLUMNS_LEAST = 20 };
	return terminal_size("COLUMNS", true, COLUMNS_USUAL, COLUMNS_LEAST);
}

int terminal_lines(void)
{
	enum { LINES_USUAL = 24, LINES_LEAST = 5 };
	return terminal_size("LINES", false, LINES_USUAL, LINES_LEAST);
}
