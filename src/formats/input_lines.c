#include "formats/input_lines.h"

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
