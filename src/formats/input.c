#include "formats/input.h"

#include <errno.h>
#include <stdlib.h>

#include "base/quote.h"

int input_lines_read(FILE *in, const char *name, uint64_t *number,
		     int (*read)(void *context, char *line, size_t length), void *context, struct error *error)
{
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	int code = 0;
	errno = 0;
	while (code == 0 && (length = getline(&line, &capacity, in)) >= 0) {
		++*number;
		code = read(context, line, (size_t)length);
		errno = 0;
	}
	if (code == 0 && !feof(in))
		code = error_set_errno(error, "cannot read %s%s%s", quote_mark(name), name, quote_mark(name));
	free(line);
	return code;
}

int input_bytes_read(struct buffer *bytes, FILE *in, const char *name, struct error *error)
{
	enum { PART_BYTES = 64 * 1024 };
	buffer_init(bytes);
	for (size_t read = 1; read > 0;) {
		uint8_t *to = buffer_extend(bytes, PART_BYTES);
		if (!to)
			return error_set(error, ERROR_MEMORY, "cannot read %s%s%s: out of memory", quote_mark(name),
					 name, quote_mark(name));
		errno = 0;
		read = fread(to, 1, PART_BYTES, in);
		bytes->size -= PART_BYTES - read;
	}
	return ferror(in) ? error_set_errno(error, "cannot read %s%s%s", quote_mark(name), name, quote_mark(name)) : 0;
}
