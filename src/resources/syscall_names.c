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

const char *syscall_error_name(int64_t result)
{
	/* The kernel's codes for a system call that is restarted have no name in the C library. */
	enum { ERESTARTSYS = 512, ERESTARTNOINTR, ERESTARTNOHAND, ERESTART_RESTARTBLOCK = 516, ERRNO_MAX = 4095 };
	if (result >= 0 || result < -ERRNO_MAX)
		return NULL;
	switch (-result) {
	case ERESTARTSYS:
		return "ERESTARTSYS";
	case ERESTARTNOINTR:
		return "ERESTARTNOINTR";
	case ERESTARTNOHAND:
		return "ERESTARTNOHAND";
	case ERESTART_RESTARTBLOCK:
		return "ERESTART_RESTARTBLOCK";
	default:
		return strerrorname_np((int)-result);
	}
}
