/*
 * Arbitrary bytes as a jitdump: the frames of each address are among the frames of the dump, and their texts are strings. Built for libFuzzer, or
 * with replay.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frames/jit/jitdump.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void check_text(const struct jitdump *dump, size_t at)
{
	require(at < dump->texts.size && memchr(dump->texts.bytes + at, 0, dump->texts.size - at));
}

static void check(const struct jitdump *dump, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct jitdump_found *found = &dump->found[i];
		require(found->first <= dump->frame_count && found->count <= dump->frame_count - found->first);
	}
	for (size_t i = 0; i < dump->frame_count; i++) {
		check_text(dump, dump->frames[i].name);
		if (dump->frames[i].line)
			check_text(dump, dump->frames[i].file);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const uint64_t addresses[] = { 0, 1, 0x1000, 0x1010, 0x2008, 0x7f0000001000, UINT64_MAX };
	static const uint64_t times[] = { 0, 100, 250, 350, UINT64_MAX, 1, 2 };
	enum { ADDRESSES = sizeof(addresses) / sizeof(addresses[0]) };
	int file = memfd_create("dump", MFD_CLOEXEC);
	if (file < 0 || write(file, data, size) != (ssize_t)size)
		abort();
	bool is_dump = jitdump_is(file);
	for (int with_times = 0; with_times < 2; with_times++) {
		struct jitdump dump;
		require(jitdump_read(file, addresses, with_times ? times : NULL, ADDRESSES, &dump) == 0);
		require(is_dump || dump.frame_count == 0);
		check(&dump, ADDRESSES);
		jitdump_release(&dump);
	}
	close(file);
	return 0;
}
