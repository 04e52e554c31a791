#include "base/sink.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/safe_text.h"

void sink_init(struct sink *sink, FILE *stream)
{
	*sink = (struct sink){ .stream = stream, .is_safe = is_terminal(stream) };
}

static void note_failure(struct sink *sink)
{
	sink->failure = errno ? errno : EIO;
}

void sink_write(struct sink *sink, const void *bytes, size_t size)
{
	if (sink->failure || size == 0)
		return;
	errno = 0;
	if (sink->is_safe)
		safe_text_write(sink->stream, bytes, size, "\t\n");
	else
		fwrite(bytes, 1, size, sink->stream);
	if (ferror(sink->stream))
		note_failure(sink);
}

void sink_text(struct sink *sink, const char *text)
{
	sink_write(sink, text, strlen(text));
}

void sink_printf(struct sink *sink, const char *format, ...)
{
	if (sink->failure)
		return;
	char *text = NULL;
	int length;
	va_list args;
	errno = 0;
	va_start(args, format);
	if (sink->is_safe)
		length = vasprintf(&text, format, args);
	else
		length = vfprintf(sink->stream, format, args);
	va_end(args);
	if (length < 0) {
		note_failure(sink);
		return;
	}
	if (sink->is_safe)
		sink_write(sink, text, (size_t)length);
	free(text);
}

int sink_finish(struct sink *sink, const char *what, struct error *error)
{
	if (!sink->failure) {
		errno = 0;
		if (fflush(sink->stream) != 0 || ferror(sink->stream))
			note_failure(sink);
	}
	if (!sink->failure)
		return 0;
	errno = sink->failure;
	return error_set_errno(error, "cannot write %s", what);
}
