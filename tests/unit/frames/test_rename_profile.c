/* Names for the functions that had none, from files that appeared later. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "elf/elf_file.h"
#include "frames/rename_profile.h"
#include "profile/findings.h"
#include "profile/nameless.h"
#include "support/alloc_fail.h"
#include "support/symbols_lab.h"

static const struct frames_options no_options;

/* Makes "again", a stripped program, and "full", the same with symbols. */
static void make_programs(void)
{
	lab_run("printf 'static int __attribute__((noinline)) inner(int a) { return a * 3; }\\n"
		"int __attribute__((noinline)) outer(int a) { return inner(a) + 1; }\\n"
		"int __attribute__((noinline)) way(int a) { return inner(a + 1); }\\n"
		"int main(int argc, char **argv) { (void)argv; return outer(argc) + way(argc); }\\n' > again.c && "
		"$CC -O1 -foptimize-sibling-calls -g -fno-ipa-cp -Wl,--build-id=sha1 -o full again.c && cp full again "
		"&& strip again");
}

/* Returns a named profile of the stripped program, with an address in inner, one in main, and a hit in the former. */
static struct profile *nameless_profile(void)
{
	struct profile *profile = lab_profile("again");
	const uint8_t *id;
	int fd = open(lab_path("again"), O_RDONLY | O_CLOEXEC);
	struct elf_file *file = elf_file_open(fd, "again", NULL);
	profile->modules[0].build_id_bytes = (uint8_t)elf_file_build_id(file, &id);
	assert_int_equal(profile->modules[0].build_id_bytes, 20);
	memcpy(profile->modules[0].build_id, id, 20);
	elf_file_free(file);
	close(fd);
	const struct profile_resource resource = { .name = (uint32_t)profile_add_string(profile, "cpu"),
						   .interval = 1 };
	assert_int_equal(profile_add_resource(profile, &resource), 0);
	assert_int_equal(profile_add_location(profile, 0, lab_symbol("full", "inner")), 0);
	assert_int_equal(profile_add_location(profile, 0, lab_symbol("full", "main")), 1);
	assert_int_equal(profile_add_node(profile, PROFILE_ROOT, 1), 1);
	assert_int_equal(profile_add_node(profile, 1, 0), 2);
	assert_int_equal(profile_add_hit(profile, 0, PROFILE_NONE, 2, 0, 1), 0);
	lab_symbolize(profile);
	assert_true(nameless_is(profile, profile->frames[profile->locations[0].first_frame].function));
	return profile;
}

static int again(struct profile *profile, struct rename_result *result)
{
	struct error error = { 0 };
	int status = frames_rename_profile(profile, &no_options, result, &error);
	assert_true(profile->symbolized);
	if (status == 0)
		assert_int_equal(profile_check(profile), 0);
	return status;
}

static void names_come_with_the_symbols(void **state)
{
	(void)state;
	struct rename_result result;
	make_programs();
	struct profile *profile = nameless_profile();
	finding_add(profile, FINDING_NAMES_MISSING, 1, "an old one");
	finding_add(profile, FINDING_DOWNLOADS_FAILED, 1, "an old one");
	finding_add(profile, FINDING_FILE_UNREADABLE, 1, "cannot read '%s'", lab_path("again"));
	assert_int_equal(again(profile, &result), 0);
	assert_int_equal(result.lacking, 1);
	assert_int_equal(result.named, 0);
	assert_int_equal(result.modules, 0);
	assert_null(finding_find(profile, FINDING_DOWNLOADS_FAILED));
	assert_non_null(finding_find(profile, FINDING_FILE_UNREADABLE));
	const struct profile_finding *missing = finding_find(profile, FINDING_NAMES_MISSING);
	assert_non_null(missing);
	assert_string_equal(
		profile_string(profile, missing->text),
		"100 % of cpu in again, without names of functions: compile it with -g, and do not strip it");
	size_t functions = profile->function_count;
	lab_run("cp full again");
	assert_int_equal(again(profile, &result), 0);
	assert_int_equal(result.lacking, 1);
	assert_int_equal(result.named, 1);
	assert_int_equal(result.modules, 1);
	assert_string_equal(lab_name(profile, 0, 0), "inner");
	assert_int_equal(lab_frame(profile, 0, 0)->line, 1);
	/* main had a name, and has a line now. */
	assert_string_equal(lab_name(profile, 1, 0), "main");
	assert_int_equal(lab_frame(profile, 1, 0)->line, 4);
	assert_int_equal(profile->function_count, functions);
	assert_int_equal(profile->finding_count, 0);
	assert_int_equal(again(profile, &result), 0);
	assert_int_equal(result.lacking, 0);
	profile_free(profile);
}

/* A file at the recorded path that is another build, or none, changes nothing. */
static void other_files_give_no_names(void **state)
{
	(void)state;
	struct rename_result result;
	static const char *const changes[] = { "$CC -O0 -g -Wl,--build-id=sha1 -o again again.c", "rm again",
					       "echo text > again", "rm again; mkfifo again" };
	make_programs();
	struct profile *profile = nameless_profile();
	char before[64];
	snprintf(before, sizeof(before), "%s", lab_name(profile, 0, 0));
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		lab_run("%s", changes[i]);
		assert_int_equal(again(profile, &result), 0);
		assert_int_equal(result.lacking, 1);
		assert_int_equal(result.named, 0);
		assert_string_equal(lab_name(profile, 0, 0), before);
		assert_null(finding_find(profile, FINDING_FILE_UNREADABLE));
	}
	lab_run("rm again; cp full again");
	profile->modules[0].build_id_bytes = 0;
	assert_int_equal(again(profile, &result), 0);
	assert_int_equal(result.named, 0);
	profile_free(profile);
}

/* Locations that are distinguished by their frames keep them. */
static void frames_that_are_identities_stay(void **state)
{
	(void)state;
	struct rename_result result;
	make_programs();
	struct profile *profile = nameless_profile();
	profile->locations[0].by_frames = true;
	lab_run("cp full again");
	assert_int_equal(again(profile, &result), 0);
	assert_int_equal(result.lacking, 0);
	assert_true(nameless_is(profile, profile->frames[profile->locations[0].first_frame].function));
	profile_free(profile);
}

/* Adds a path from main's call of `way` to `inner`. Returns the location of the call. */
static uint32_t add_call(struct profile *profile)
{
	char *text = lab_output("objdump -d --no-show-raw-insn --disassemble=main full | "
				"sed -n '/call.*<way>/{n;s/^ *\\([0-9a-f]*\\):.*/\\1/p}'");
	int64_t location = profile_add_location(profile, 0, strtoull(text, NULL, 16) - 1);
	free(text);
	int64_t node = profile_add_node(profile, PROFILE_ROOT, (uint32_t)location);
	assert_true(profile_add_node(profile, (uint32_t)node, 0) > 0);
	profile->symbolized = false;
	lab_symbolize(profile);
	return (uint32_t)location;
}

/* A path from main's call of `way` to `inner`, which way jumps to: the function is found, also without its symbol, and only once. */
static void tail_calls_come_with_the_code(void **state)
{
	(void)state;
	struct rename_result result;
	static const char *const files[] = { "full", "again" };
	for (size_t i = 0; i < 2; i++) {
		make_programs();
		struct profile *profile = nameless_profile();
		uint32_t location = add_call(profile);
		lab_run("cp %s again.new && mv again.new again", files[i]);
		assert_int_equal(again(profile, &result), 0);
		assert_int_equal(result.tail_calls, 1);
		assert_int_equal(profile->tail_call_count, 1);
		const struct profile_tail_call *row = &profile->tail_calls[0];
		assert_int_equal(row->caller, location);
		assert_int_equal(row->callee, lab_frame(profile, 0, 0)->function);
		assert_true(profile->locations[row->location].is_tail);
		assert_int_equal(nameless_is(profile, lab_frame(profile, row->location, 0)->function), i == 1);
		lab_run("cp full again.new && mv again.new again");
		assert_int_equal(again(profile, &result), 0);
		assert_int_equal(result.tail_calls, 0);
		assert_int_equal(profile->tail_call_count, 1);
		row = &profile->tail_calls[0];
		assert_int_equal(row->callee, lab_frame(profile, 0, 0)->function);
		assert_string_equal(lab_name(profile, row->location, 0), "way");
		profile_free(profile);
	}
}

static void try_again(struct profile *profile, size_t count)
{
	struct rename_result result;
	int status = again(profile, &result);
	assert_true(status == 0 || status == ERROR_MEMORY);
	for (size_t i = 0; i < count; i++)
		assert_int_not_equal(profile->locations[i].first_frame, PROFILE_NONE);
}

static void memory_may_run_out(void **state)
{
	(void)state;
	make_programs();
	struct profile *profile = nameless_profile();
	lab_run("cp full again");
	add_call(profile);
	const size_t count = profile->location_count;
	ALLOC_FAIL_EACH(try_again(profile, count));
	assert_int_equal(profile->tail_call_count, 1);
	assert_string_equal(lab_name(profile, 0, 0), "inner");
	profile_free(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_come_with_the_symbols),
		cmocka_unit_test(other_files_give_no_names),
		cmocka_unit_test(frames_that_are_identities_stay),
		cmocka_unit_test(tail_calls_come_with_the_code),
		cmocka_unit_test(memory_may_run_out),
	};
	return cmocka_run_group_tests_name("rename_profile", tests, lab_setup, lab_teardown);
}
