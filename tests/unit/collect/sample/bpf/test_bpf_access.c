/* collect/sample/bpf/access.c: the message if the kernel refuses eBPF programs or lacks a feature. Each case is a
 * process, since bpf_access stores its first result. */
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/bpf/access.h"

/* --- the kernel's answers --- */

static int refusal;      /* errno of loading a program; 0: it is loaded */
static bool has_no_loop; /* the kernel lacks bpf_loop */

int __wrap_bpf_prog_load(enum bpf_prog_type type, const char *name, const char *license,
			 const struct bpf_insn *instructions, size_t count, const struct bpf_prog_load_opts *options);
int __wrap_libbpf_probe_bpf_helper(enum bpf_prog_type type, enum bpf_func_id helper, const void *options);
bool __wrap_kernel_version_is_from(unsigned major, unsigned minor);

int __wrap_bpf_prog_load(enum bpf_prog_type type, const char *name, const char *license,
			 const struct bpf_insn *instructions, size_t count, const struct bpf_prog_load_opts *options)
{
	(void)type, (void)name, (void)license, (void)instructions, (void)count, (void)options;
	errno = refusal;
	return refusal ? -refusal : dup(STDERR_FILENO);
}

int __wrap_libbpf_probe_bpf_helper(enum bpf_prog_type type, enum bpf_func_id helper, const void *options)
{
	(void)type, (void)options;
	return helper != BPF_FUNC_loop || !has_no_loop;
}

/* bpf_access asks only for the version that has the function. */
bool __wrap_kernel_version_is_from(unsigned major, unsigned minor)
{
	(void)major, (void)minor;
	return !has_no_loop;
}

/* --- the checks --- */

/* Returns 0 if bpf_access has the expected result, twice; this is the exit status of a child. */
static int ask(int code, const char *words)
{
	struct error error = { 0 };
	int first = bpf_access(&error);
	int again = bpf_access(NULL);
	return !(first == code && again == code && (code == 0 || strstr(error.message, words)));
}

static void check(int code, const char *words)
{
	int status;
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0)
		_exit(ask(code, words));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

static void test_refusals(void **state)
{
	(void)state;
	static const struct {
		int refusal, code;
		const char *words;
	} cases[] = {
		{ EPERM, ERROR_PERMISSION, "cap_bpf" },
		{ EACCES, ERROR_PERMISSION, "root" },
		{ ENOSYS, ERROR_UNSUPPORTED, "CONFIG_BPF_SYSCALL" },
		{ EINVAL, ERROR_UNSUPPORTED, "CONFIG_BPF_SYSCALL" },
		{ ENOMEM, ERROR_MEMORY, "the kernel refuses eBPF programs" },
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		refusal = cases[i].refusal;
		check(cases[i].code, cases[i].words);
	}
	refusal = 0;
}

static void test_old_kernel(void **state)
{
	(void)state;
	if (access("/sys/kernel/btf/vmlinux", R_OK) < 0)
		skip(); /* the kernel has no BTF, which bpf_access reports first */
	has_no_loop = true;
	check(ERROR_UNSUPPORTED, "5.17");
	has_no_loop = false;
	check(0, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_old_kernel),
	};
	return cmocka_run_group_tests_name("bpf_access", tests, NULL, NULL);
}
