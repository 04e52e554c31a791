#include "frames/text_lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"

enum { LINE_BYTES = 16 * 1024, READ_BYTES = 64 * 1024 };

struct reading {
	text_line_take *take;
	void *context;
	size_t length; /* of the line so far */
	char line[LINE_BYTES];
	char bytes[READ_BYTES];
};

const char *text_line_number(const char *text, const char *end, uint64_t *number)
{
	enum { DIGITS_MOST = 16 };
	if (end - text > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		text += 2;
	*number = 0;
	int digits = 0;
	for (; text < end && digits <= DIGITS_MOST; text++, digits++) {
		const char *digit = memchr("0123456789abcdefABCDEF", *text, sizeof("0123456789abcdefABCDEF") - 1);
		if (!digit)
			break;
		char lower = (char)(*text | ' ');
		*number = *number << 4 | (uint64_t)(lower <= '9' ? lower - '0' : lower - 'a' + 10);
	}
	if (digits == 0 || digits > DIGITS_MOST || text == end || *text != ' ')
		return NULL;
	return text + 1;
}

static int split(struct reading *reading, size_t size)
{
	const char *bytes = reading->bytes;
	for (;;) {
		const char *newline = memchr(bytes, '\n', size);
		size_t part = newline ? (size_t)(newline - bytes) : size;
		size_t room = LINE_BYTES - reading->length;
		size_t kept = part < room ? part : room;
		memcpy(reading->line + reading->length, bytes, kept);
		reading->length += kept;
		if (!newline)
			return 0;
		int status = reading->take(reading->context, reading->line, reading->length);
		if (status < 0)
			return status;
		reading->length = 0;
		bytes += part + 1;
		size -= part + 1;
	}
}

/* Returns the next place that is in no hole of the file, or -1 if nothing follows. */
static off_t data_from(int fd, off_t at)
{
	off_t data = lseek(fd, at, SEEK_DATA);
	return data >= 0 || errno == ENXIO ? data : at; /* some file systems report no holes */
}

int text_lines_read(int fd, text_line_take *take, void *context)
{
	struct reading *reading = calloc(1, sizeof(*reading));
	int status = reading ? 0 : ERROR_MEMORY;
	if (reading)
		*reading = (struct reading){ .take = take, .context = context };
	for (off_t at = 0; status == 0;) {
		at = data_from(fd, at);
		if (at < 0)
			break;
		ssize_t got = pread(fd, reading->bytes, READ_BYTES, at);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0) {
			status = got < 0 ? ERROR_SYSTEM : 0;
			break;
		}
		status = split(reading, (size_t)got);
		at += got;
	}
	int number = errno;
	free(reading);
	errno = number;
	return status;
}
