/* Lines of blocks in files that a hostile user made: the reader's own process stays small. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/path.h"
#include "collect/count/block_lines.h"
#include "support/hostile_lab.h"
#include "support/symbols_lab.h"

static int lines_of(struct block_lines *lines, const char *path, const struct profile_module *module,
		    const struct flow_count *counts, size_t count, struct error *error)
{
	int fd = path_open_regular(path);
	int status = block_file_lines(lines, fd, path, module, counts, count, error);
	if (fd >= 0)
		close(fd);
	return status;
}

static const struct {
	const char *name, *error; /* NULL: none */
	bool has_lines;
} outcomes[] = {
	{ "hollow", "is sparse", false },
	{ "swollen", NULL, true },
	{ "linked", NULL, true },
	{ "nested", NULL, false },
};

/* Returns the address behind the first call in `work`: the call of its first block's hook. */
static uint64_t first_hook(void)
{
	enum { CALL = 0xe8, CALL_BYTES = 5, WORK_BYTES = 64 };
	uint8_t code[WORK_BYTES];
	uint64_t work = lab_symbol("hostile", "work");
	/* The program's code has the same offset in the file and in memory. */
	FILE *file = fopen(lab_path("hostile"), "r");
	assert_non_null(file);
	assert_int_equal(fseek(file, (long)work, SEEK_SET), 0);
	assert_int_equal(fread(code, 1, sizeof(code), file), sizeof(code));
	fclose(file);
	const uint8_t *call = memchr(code, CALL, sizeof(code));
	assert_non_null(call);
	return work + (uint64_t)(call - code) + CALL_BYTES;
}

static void test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < HOSTILE_KINDS; i++) {
		const struct profile_module module = { .kind = MODULE_FILE };
		struct block_lines lines;
		struct error error = { 0 };
		assert_string_equal(hostile_kinds[i].name, outcomes[i].name);
		hostile_build(&hostile_kinds[i]);
		const struct flow_count count = { .pc = first_hook(), .count = 7 };
		int status = lines_of(&lines, lab_path("hostile"), &module, &count, 1, &error);
		hostile_check(&hostile_kinds[i]);
		assert_int_equal(status < 0, outcomes[i].error != NULL);
		if (outcomes[i].error && !strstr(error.message, outcomes[i].error))
			fail_msg("%s", error.message);
		assert_int_equal(lines.count > 0, outcomes[i].has_lines);
		bool is_counted = false;
		for (size_t line = 0; line < lines.count; line++)
			is_counted = is_counted || lines.lines[line].count == 7;
		assert_int_equal(is_counted, outcomes[i].has_lines);
		block_lines_release(&lines);
	}
}

/* A missing file, and one of another build, have no lines; that is not an error. */
static void test_no_lines(void **state)
{
	(void)state;
	struct profile_module module = { .kind = MODULE_FILE, .build_id = { 1, 2, 3 }, .build_id_bytes = 3 };
	struct block_lines lines;
	struct error error = { 0 };
	hostile_build(&hostile_kinds[2]);
	const struct flow_count count = { .pc = first_hook(), .count = 7 };
	assert_int_equal(lines_of(&lines, lab_path("missing"), &module, &count, 1, &error), 0);
	assert_int_equal(lines.count, 0);
	block_lines_release(&lines);
	assert_int_equal(lines_of(&lines, lab_path("hostile"), &module, &count, 1, &error), 0);
	assert_int_equal(lines.count, 0);
	block_lines_release(&lines);
	hostile_check(&hostile_kinds[2]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_lines, lab_setup, lab_teardown),
		cmocka_unit_test_setup_teardown(test_no_lines, lab_setup, lab_teardown),
	};
	return cmocka_run_group_tests_name("hostile files of blocks", tests, NULL, NULL);
}
