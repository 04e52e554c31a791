#include "resources/syscall_names.h"

#include <string.h>

static const char *const names[] = {
#include <resources/syscall_names.inc> /* made by tools/syscall_names when this is built */
};

size_t syscall_limit(void)
{
	return sizeof(names) / sizeof(names[0]);
}

int syscall_number(const char *name)
{
	for (size_t number = 0; number < syscall_limit(); number++)
		if (names[number] && strcmp(names[number], name) == 0)
			return (int)number;
	return -1;
}

const char *syscall_name(int number)
{
	return number >= 0 && (size_t)number < syscall_limit() ? names[number] : NULL;
}
