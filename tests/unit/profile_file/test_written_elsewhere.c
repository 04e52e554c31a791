/*
 * Files that another processor's programs wrote (written/) are read with the same contents, and their locations
 * and call paths have the same identities.
 *
 *     test_written_elsewhere FILE            compares
 *     test_written_elsewhere --write FILE    writes it anew, for written/make
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/identity.h"
#include "profile_file/reader.h"
#include "profile_file/writer.h"
#include "support/sample_profile.h"

enum { SEED = 3, HITS = 300 };

/* All identities of the profile, which are defined in docs/format.md. It changes if that or the generator does. */
#define IDENTITIES UINT64_C(0xbd92d07653e7993f)

static const char *file;

static struct profile *make(void)
{
	struct random random = { .state = SEED };
	struct profile *profile = profile_new();
	assert_non_null(profile);
	assert_true(sample_profile_grow(profile, &random, HITS));
	assert_true(sample_profile_symbolize(profile, &random));
	return profile;
}

static void write_to(const char *path, struct profile *profile)
{
	struct error error;
	struct writer *writer = writer_open(path, &error);
	if (!writer || writer_finish(writer, profile, &error) < 0 || writer_publish(writer, &error) < 0)
		fail_msg("%s", error.message);
	writer_free(writer);
}

static struct profile *read_from(const char *path)
{
	struct error error = { 0 };
	struct profile *profile = reader_load(path, 0, &error);
	if (!profile)
		fail_msg("%s", error.message);
	return profile;
}

static void assert_same(const struct profile *a, const struct profile *b)
{
	const char *difference = sample_profile_difference(a, b);
	if (difference)
		fail_msg("%s", difference);
}

static void has_the_same_contents(void **state)
{
	(void)state;
	struct profile *expected = make(), *found = read_from(file);
	assert_true(found->hit_count >= HITS);
	assert_same(expected, found);
	profile_free(found);
	profile_free(expected);
}

/* FNV-1a (Fowler, Noll, Vo) over the words. */
static uint64_t digest_of(const uint64_t *words, size_t count, uint64_t digest)
{
	for (size_t i = 0; i < count; i++)
		digest = (digest ^ words[i]) * UINT64_C(0x100000001b3);
	return digest;
}

static void has_the_same_identities(void **state)
{
	(void)state;
	struct profile *profile = read_from(file);
	struct profile_identities identities = { 0 };
	assert_int_equal(profile_identities_init(&identities, profile), 0);
	uint64_t digest = digest_of(identities.locations, profile->location_count, UINT64_C(0xcbf29ce484222325));
	digest = digest_of(identities.nodes, profile->node_count, digest);
	if (digest != IDENTITIES)
		fail_msg("the identities' digest is 0x%016" PRIx64, digest);
	profile_identities_release(&identities);
	profile_free(profile);
}

static void is_written_here_alike(void **state)
{
	(void)state;
	char path[] = "/tmp/test_written_elsewhere.XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	unlink(path); /* the writer would keep an older file */
	struct profile *there = read_from(file);
	write_to(path, there);
	struct profile *here = read_from(path);
	assert_same(there, here);
	unlink(path);
	profile_free(here);
	profile_free(there);
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "--write") == 0) {
		struct profile *profile = make();
		write_to(argv[2], profile);
		profile_free(profile);
		return 0;
	}
	if (argc != 2) {
		fprintf(stderr, "usage: test_written_elsewhere [--write] FILE\n");
		return 2;
	}
	file = argv[1];
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(has_the_same_contents),
		cmocka_unit_test(has_the_same_identities),
		cmocka_unit_test(is_written_here_alike),
	};
	return cmocka_run_group_tests_name("written_elsewhere", tests, NULL, NULL);
}
