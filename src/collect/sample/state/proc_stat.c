#include "collect/sample/state/proc_stat.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * 1234 (name) S 2 0 ...
 * field 1, 2, 3, 4, ...
 *
 * A name may have blanks and parentheses.
 */
bool proc_stat_parse(const char *text, enum proc_stat_field field, uint64_t *value)
{
	enum { NAME = 2 };
	const char *at = strrchr(text, ')');
	for (int i = NAME; i < (int)field && at; i++)
		at = strchr(at + 1, ' ');
	char *end = NULL;
	if (at)
		*value = strtoull(at + 1, &end, 10);
	return end && end != at + 1;
}

bool proc_stat_read(uint32_t pid, enum proc_stat_field field, uint64_t *value)
{
	char text[1024];
	snprintf(text, sizeof(text), "/proc/%" PRIu32 "/stat", pid);
	int fd = open(text, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[got > 0 ? got : 0] = 0;
	return proc_stat_parse(text, field, value);
}
