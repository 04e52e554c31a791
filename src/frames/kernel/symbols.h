/*
 * Lists of the kernel's symbols, in the form of /proc/kallsyms: lines "ADDRESS TYPE NAME" or "ADDRESS TYPE NAME\t[MODULE]" in
 * any order, whose types t, T, w and W are functions (proc(5), nm(1)). A function ends where the next one begins.
 */
#ifndef FRAMES_KERNEL_SYMBOLS_H
#define FRAMES_KERNEL_SYMBOLS_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

struct kernel_symbol {
	uint64_t start;
	size_t at,
		length; /* its name: `length` bytes of `names` from `at` on; length 0: no function contains the address */
};

/* Finds the functions of `count` addresses, which ascend; of several at one address, the list's first. `names` gets the texts:
 * "vfs_write", "nft_do_chain [nf_tables]". Returns 0, ERROR_MEMORY, or ERROR_SYSTEM with errno set. */
int kernel_symbols_read(int fd, const uint64_t *addresses, size_t count, struct kernel_symbol *found,
			struct buffer *names);

#endif
