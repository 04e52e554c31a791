/*
 * Arbitrary bytes as a perf map: each name that an address gets lies inside the texts, and is split into parts that are
 * strings. Built for libFuzzer, or with replay.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frames/jit/perf_map.h"
#include "frames/jit/runtime_names.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_name(const uint8_t *text, size_t length)
{
	static struct runtime_name name;
	/* An allocation of exactly this size, so that a sanitizer detects a read beyond it. */
	char *copy = malloc(length);
	if (!copy)
		return;
	memcpy(copy, text, length);
	runtime_name_read(copy, length, &name);
	require(memchr(name.name, 0, sizeof(name.name)) && memchr(name.file, 0, sizeof(name.file)));
	require(name.line == 0 || name.file[0]);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = { 0, 1, 0x1000, 0x1010, 0x7f0000001000, UINT64_MAX };
	enum { ADDRESSES = sizeof(addresses) / sizeof(addresses[0]) };
	struct perf_map_name found[ADDRESSES];
	struct buffer names;
	int file = memfd_create("map", MFD_CLOEXEC);
	if (file < 0 || write(file, data, size) != (ssize_t)size)
		abort();
	buffer_init(&names);
	require(perf_map_read(file, addresses, ADDRESSES, found, &names) == 0);
	for (size_t i = 0; i < ADDRESSES; i++) {
		require(found[i].length <= names.size && found[i].at <= names.size - found[i].length);
		if (found[i].length > 0)
			check_name(names.bytes + found[i].at, found[i].length);
	}
	buffer_release(&names);
	close(file);
	return 0;
}
