/*
 * Arbitrary bytes as a program or library whose addresses are named: symbols, also the symbols of .gnu_debugdata, lines, inlined
 * functions. All this runs in this process, where the sanitizers and the fuzzer can see it. Each address must have frames
 * afterwards, unless the file was refused with a reason. Its tail calls are read, too, and the bytes as an answer about them. Built for
 * libFuzzer, or with replay.c.
 *
 * elfutils reads these bytes too. Where it crashes, the jail contains it (tests/unit/frames/jail).
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "frames/jail/tail_calls.h"
#include "frames/naming_answer.h"
#include "frames/native/tail_code.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ADDRESSES = 64 };

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Spreads addresses over the code. */
static void add_locations(struct profile *profile, const uint8_t *data, size_t size, uint32_t *locations)
{
	uint64_t low = 0x1000, high = 0x2000;
	struct elf_file *file = elf_file_from_memory(data, size, "input", NULL);
	if (file)
		elf_file_text_range(file, &low, &high);
	elf_file_free(file);
	uint64_t stride = high - low > ADDRESSES ? (high - low) / ADDRESSES : 1;
	for (uint32_t i = 0; i < ADDRESSES && low <= UINT64_MAX - i * stride; i++) {
		int64_t location = profile_add_location(profile, 0, low + i * stride);
		require(location == i);
		locations[i] = i;
	}
}

static int open_module(void *context, uint32_t module, struct error *error)
{
	(void)module;
	(void)error;
	return dup(*(const int *)context);
}

static void check_frames(const struct profile *profile)
{
	for (size_t i = 0; i < profile->location_count; i++)
		require(profile->locations[i].frame_count > 0);
	require(profile_check(profile) == 0);
}

/* Reads the calls and tail calls of the file, as the jail does, and its answer, as the recorder does. */
static void read_tails(int fd, const uint8_t *data, size_t size, const struct profile *profile)
{
	struct tail_query queries[ADDRESSES];
	struct module_file file;
	struct tail_code code, read;
	struct buffer answer;
	struct cursor cursor = cursor_over(data, size);
	if (tail_calls_read(&cursor, size % ADDRESSES, &code) == 0)
		tail_code_release(&code);
	if (module_file_open(&file, dup(fd), "input", NULL) < 0)
		return;
	for (uint32_t i = 0; i < ADDRESSES; i++) {
		uint64_t address = profile->locations[i % profile->location_count].address;
		queries[i] = (struct tail_query){ .caller = i % 4 ? address + 4 : 0,
						  .callee = i % 3 ? address : 0,
						  .name = i % 4 ? "" : "main" };
	}
	buffer_init(&answer);
	require(tail_code_read(&code, &file, queries, ADDRESSES) == 0);
	tail_calls_write(&answer, &code);
	cursor = cursor_over(answer.bytes, answer.size);
	require(tail_calls_read(&cursor, ADDRESSES, &read) == 0);
	tail_code_release(&read);
	tail_code_release(&code);
	buffer_release(&answer);
	module_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint32_t locations[ADDRESSES];
	int fd = memfd_create("input", MFD_CLOEXEC);
	require(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	struct profile *profile = profile_new();
	require(profile != NULL);
	/* A bare name: separate debug information is searched beside a path. */
	int64_t path = profile_add_string(profile, "input");
	require(profile_add_module(profile, &(struct profile_module){ .path = (uint32_t)path, .kind = MODULE_FILE }) ==
		0);
	add_locations(profile, data, size, locations);
	const struct frames_options options = { .open_module = open_module, .context = &fd };
	struct functions functions;
	struct progress progress;
	struct frames_failure failure = { 0 };
	struct buffer answer;
	const struct frames_request request = { &native_provider,       profile, &options, &progress, 0, locations,
						profile->location_count };
	buffer_init(&answer);
	progress_init(&progress, &options, profile->location_count);
	require(functions_init(&functions, profile) == 0);
	int status = naming_answer_make(&request, &answer);
	if (status == 0)
		status = naming_answer_read(answer.bytes, answer.size, &request, &functions, &failure);
	require(status == 0 || status == ERROR_LIMIT);
	if (failure.cause)
		require(failure.detail.message[0] && profile->frame_count == 0);
	else if (status == 0)
		check_frames(profile);
	if (status == 0)
		require(native_provider.assign_roles(profile) == 0);
	read_tails(fd, data, size, profile);
	functions_release(&functions);
	buffer_release(&answer);
	profile_free(profile);
	close(fd);
	return 0;
}
