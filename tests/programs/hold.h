/*
 * A place where a program waits, with its stack as it is, until its standard input has a byte or ends. So a test decides
 * when the stack changes.
 */
#ifndef HOLD_H
#define HOLD_H

#include <unistd.h>

static inline void hold(void)
{
	char byte;

	while (read(STDIN_FILENO, &byte, 1) < 0)
		;
}

#endif
