/*
 * Arbitrary bytes as folded stacks. A profile that was read is exported and read again, and has the same hits. The first export
 * writes blanks in place of control characters, and an import ignores blanks at the end of a name: the second and the third export
 * must be the same text. Built for libFuzzer, or with replay.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static struct profile *read_folded(const void *bytes, size_t size)
{
	struct error error = { 0 };
	FILE *in = size ? fmemopen((void *)bytes, size, "r") : fopen("/dev/null", "re");
	require(in != NULL);
	struct profile *profile = format_find("folded")->import(in, "input", NULL, &error);
	require(profile || (error.code < 0 && error.message[0]));
	fclose(in);
	return profile;
}

/* Returns the profile as folded stacks, which the caller frees. Stores its length. */
static char *write_folded(const struct profile *profile, size_t *size)
{
	char *text = NULL;
	struct error error = { 0 };
	struct format_input input = { .profile = profile, .view = { .thread = VIEW_ANY } };
	struct sink sink;
	FILE *out = open_memstream(&text, size);
	require(out != NULL);
	sink_init(&sink, out);
	require(format_export(format_find("folded"), &input, &sink, &error) == 0);
	fclose(out);
	return text;
}

static uint64_t hits_of(const struct profile *profile)
{
	uint64_t hits = 0;
	for (size_t i = 0; i < profile->hit_count; i++)
		hits += profile->hits[i].count;
	return hits;
}

/* Reads a text, and returns it as the import and export of cpprof write it. */
static char *write_again(const char *text, size_t size, uint64_t hits, size_t *new_size)
{
	struct profile *profile = read_folded(text, size);
	require(profile != NULL && hits_of(profile) == hits);
	char *again = write_folded(profile, new_size);
	profile_free(profile);
	return again;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct profile *profile = read_folded(data, size);
	if (!profile)
		return 0;
	size_t sizes[3];
	uint64_t hits = hits_of(profile);
	char *first = write_folded(profile, &sizes[0]);
	char *second = write_again(first, sizes[0], hits, &sizes[1]);
	char *third = write_again(second, sizes[1], hits, &sizes[2]);
	require(sizes[1] == sizes[2] && memcmp(second, third, sizes[1]) == 0);
	free(third);
	free(second);
	free(first);
	profile_free(profile);
	return 0;
}
