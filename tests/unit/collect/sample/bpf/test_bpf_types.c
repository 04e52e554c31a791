/* The kernel loads all eBPF programs, whether they were compiled with its own type descriptions or with
 * collect/sample/bpf/programs/vmlinux_minimal.h. Usage: test_bpf_types OBJECT... */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collect/sample/bpf/access.h"

enum { OBJECTS_MAX = 4 };

/* libbpf prints the error to stderr. */
static void loads(void **state)
{
	struct error error = { 0 };
	if (bpf_access(&error) < 0) {
		print_message("skipped: %s\n", error.message);
		skip();
	}
	libbpf_set_print(NULL);
	struct bpf_object *object = bpf_object__open_file(*state, NULL);
	assert_non_null(object);
	struct bpf_map *scratches = bpf_object__find_map_by_name(object, "scratches");
	struct bpf_program *resume = bpf_object__find_program_by_name(object, "on_resume");
	assert_true(scratches && resume);
	assert_int_equal(bpf_map__set_max_entries(scratches, 4), 0);
	bool has_tracepoint = libbpf_find_vmlinux_btf_id("sched_exit_tp", BPF_TRACE_RAW_TP) > 0; /* from 6.16 on */
	bpf_program__set_autoload(resume, has_tracepoint);
	assert_int_equal(bpf_object__load(object), 0);
	bpf_object__close(object);
}

int main(int argc, char **argv)
{
	struct CMUnitTest tests[OBJECTS_MAX];
	size_t count = 0;
	for (int i = 1; i < argc && count < OBJECTS_MAX; i++)
		tests[count++] = (struct CMUnitTest){ .name = argv[i], .test_func = loads, .initial_state = argv[i] };
	if (count == 0 || count != (size_t)argc - 1) {
		fprintf(stderr, "usage: test_bpf_types OBJECT...\n");
		return 2;
	}
	return _cmocka_run_group_tests("bpf_types", tests, count, NULL, NULL);
}
