#include "cmd/message.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "render/render.h"

static void say(const struct invocation *invocation, const char *kind, const char *format, va_list args,
		const char *ending)
{
	char text[1024];
	vsnprintf(text, sizeof(text), format, args);
	fputs("cpprof", stderr);
	if (invocation->command)
		fprintf(stderr, " %s", invocation->command->name);
	fprintf(stderr, ": %s", kind);
	render_safe_text(stderr, text);
	fprintf(stderr, "%s\n", ending);
}

int failure(const struct invocation *invocation, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say(invocation, "", format, args, "");
	va_end(args);
	return EXIT_FAILED;
}

int usage_error(const struct invocation *invocation, const char *format, ...)
{
	char where[96];
	if (invocation->command)
		snprintf(where, sizeof(where), "; try 'cpprof %s --help'", invocation->command->name);
	else
		snprintf(where, sizeof(where), "; try 'cpprof --help'");
	va_list args;
	va_start(args, format);
	say(invocation, "", format, args, where);
	va_end(args);
	return EXIT_WORDS;
}

int failure_of(const struct invocation *invocation, const struct error *error)
{
	if (error->code == ERROR_USAGE)
		return usage_error(invocation, "%s", error->message);
	return failure(invocation, "%s", error->message[0] ? error->message : error_text(error->code));
}

void warning(const struct invocation *invocation, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say(invocation, "warning: ", format, args, "");
	va_end(args);
}

void notice(const struct invocation *invocation, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	say(invocation, "", format, args, "");
	va_end(args);
}

bool wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR");
	const char *terminal = getenv("TERM");
	return isatty(STDOUT_FILENO) && !(no_colour && no_colour[0]) && !(terminal && strcmp(terminal, "dumb") == 0);
}
