/*
 * Arbitrary bytes as a program or library in which probe points are searched: the libraries that it needs, and its
 * notes of static probes. The reader opens a path, so that the bytes become a file in memory. Built for libFuzzer,
 * or with replay.c.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "collect/sample/probes/elf_needs.h"
#include "collect/sample/probes/usdt_notes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static void read_needs(const char *path)
{
	struct elf_needs needs;
	struct error error = { 0 };
	int result = elf_needs_read(&needs, path, &error);
	require(result == 0 || (error.message[0] && needs.needed_count == 0));
	for (size_t i = 0; i < needs.needed_count; i++)
		require(strlen(needs.needed[i]) < 1 << 16);
	elf_needs_release(&needs);
}

static void read_notes(const char *path)
{
	struct usdt_search search = { .provider = "shop", .probe = "sold" };
	near_names_init(&search.near, "shop:sold");
	int found = usdt_notes_count(path, &search, NULL);
	require(found >= 0 && strlen(near_names_text(&search.near)) < sizeof(search.near.text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = memfd_create("input", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	read_needs(path);
	read_notes(path);
	close(fd);
	return 0;
}
