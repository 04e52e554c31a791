/* The end of a thread, for walks. */
#ifndef ARCH_AARCH64_PROCESSOR_THREAD_END_H
#define ARCH_AARCH64_PROCESSOR_THREAD_END_H

#include "abi/integers.h"

/* Returns whether code, of which these are the first bytes, ends the thread: mov x8, #SYS_exit; svc #0. */
static inline bool code_ends_thread(uint64_t code, uint16_t next)
{
	(void)next;
	return code == 0xd4000001d2800ba8;
}

#endif
