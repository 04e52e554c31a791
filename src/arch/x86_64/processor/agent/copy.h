/* Copies and fills memory by one instruction each, of which no compiler makes a call of memcpy or memset. */
#ifndef ARCH_X86_64_PROCESSOR_AGENT_COPY_H
#define ARCH_X86_64_PROCESSOR_AGENT_COPY_H

#include <stddef.h>

/* The ranges do not overlap. */
static inline void copy_bytes(void *to, const void *from, size_t bytes)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes)::"memory");
}

static inline void fill_bytes(void *to, int byte, size_t bytes)
{
	__asm__ volatile("rep stosb" : "+D"(to), "+c"(bytes) : "a"(byte) : "memory");
}

#endif
