/*
 * Arbitrary bytes as a list of the kernel's symbols: each name that an address gets lies inside the texts, and begins at or
 * below the address. Built for libFuzzer, or with replay.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frames/kernel/symbols.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = { 0, 1, 0x1010, 0xffffffff81000100, 0xffffffffc0000010, UINT64_MAX };
	enum { ADDRESSES = sizeof(addresses) / sizeof(addresses[0]) };
	struct kernel_symbol found[ADDRESSES];
	struct buffer names;
	int file = memfd_create("symbols", MFD_CLOEXEC);
	if (file < 0 || write(file, data, size) != (ssize_t)size)
		abort();
	buffer_init(&names);
	require(kernel_symbols_read(file, addresses, ADDRESSES, found, &names) == 0);
	for (size_t i = 0; i < ADDRESSES; i++) {
		require(found[i].length <= names.size && found[i].at <= names.size - found[i].length);
		require(found[i].length == 0 || (found[i].start != 0 && found[i].start <= addresses[i]));
	}
	buffer_release(&names);
	close(file);
	return 0;
}
