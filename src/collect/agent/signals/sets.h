/* Sets of signals in the kernel's form: one word, in which signal n is bit n - 1. */
#ifndef COLLECT_AGENT_SIGNALS_SETS_H
#define COLLECT_AGENT_SIGNALS_SETS_H

#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

#include "processor/agent/machine.h"

#define BIT(number) (1ULL << ((number)-1))
#define ALL_SIGNALS (~0ULL)

/* Changes this thread's mask, or only reads it if `set` is NULL. Returns 0, or -errno. */
static inline long set_mask(int how, const uint64_t *set, uint64_t *old)
{
	return machine_syscall(SYS_rt_sigprocmask, how, (long)set, (long)old, sizeof(*set), 0, 0);
}

/* Returns the kernel's word of a sigset_t, at any alignment. */
static inline uint64_t word_of(const void *set)
{
	uint64_t word;
	memcpy(&word, set, sizeof(word));
	return word;
}

static inline void set_word(void *set, uint64_t word)
{
	memcpy(set, &word, sizeof(word));
}

#endif
