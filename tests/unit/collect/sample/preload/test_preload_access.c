/* Whether the agent can be loaded into a command, and where its library is (collect/sample/preload/access.h). The
 * programs are a few bytes long, and none is run. */
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cmocka.h>

#include "collect/sample/preload/access.h"

static char folder[] = "/tmp/test_preload_access_XXXXXX";
static char path[256], other[256];

static int make_folder(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
	char command[300];
	(void)state;
	snprintf(command, sizeof(command), "rm -rf '%s'", folder);
	return system(command);
}

static const char *in_folder(char *to, const char *name)
{
	snprintf(to, 256, "%s/%s", folder, name);
	return to;
}

static const char *write_file(char *to, const char *name, const void *bytes, size_t size)
{
	in_folder(to, name);
	FILE *file = fopen(to, "we");
	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, size, file), size);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(to, 0755), 0);
	return to;
}

/* Writes a program with this dynamic linker, or a static one for NULL, that needs `library`, or none for NULL. */
static const char *write_needing(char *to, const char *name, const char *linker, const char *library)
{
	struct {
		Elf64_Ehdr header;
		Elf64_Phdr segments[3];
		Elf64_Dyn dynamic[4];
		char linker[64];
		char names[32];
	} program = {
		.header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
			    .e_type = ET_DYN,
			    .e_machine = EM_X86_64,
			    .e_version = EV_CURRENT,
			    .e_phoff = sizeof(Elf64_Ehdr),
			    .e_ehsize = sizeof(Elf64_Ehdr),
			    .e_phentsize = sizeof(Elf64_Phdr),
			    .e_phnum = 3 },
		.segments = { { .p_type = PT_LOAD, .p_filesz = sizeof(program), .p_memsz = sizeof(program) } },
	};
	if (linker) {
		snprintf(program.linker, sizeof(program.linker), "%s", linker);
		program.segments[1] = (Elf64_Phdr){ .p_type = PT_INTERP,
						    .p_offset = offsetof(__typeof__(program), linker),
						    .p_vaddr = offsetof(__typeof__(program), linker),
						    .p_filesz = strlen(linker) + 1,
						    .p_memsz = strlen(linker) + 1 };
	}
	if (library) {
		snprintf(program.names + 1, sizeof(program.names) - 1, "%s", library);
		program.dynamic[0] = (Elf64_Dyn){ DT_NEEDED, { 1 } };
		program.dynamic[1] = (Elf64_Dyn){ DT_STRTAB, { offsetof(__typeof__(program), names) } };
		program.dynamic[2] = (Elf64_Dyn){ DT_STRSZ, { sizeof(program.names) } };
		program.segments[2] = (Elf64_Phdr){ .p_type = PT_DYNAMIC,
						    .p_offset = offsetof(__typeof__(program), dynamic),
						    .p_vaddr = offsetof(__typeof__(program), dynamic),
						    .p_filesz = sizeof(program.dynamic),
						    .p_memsz = sizeof(program.dynamic) };
	}
	return write_file(to, name, &program, sizeof(program));
}

static const char *write_program(char *to, const char *name, const char *linker)
{
	return write_needing(to, name, linker, linker ? "libc.so.6" : NULL);
}

static void assert_refused(const char *command, const char *words)
{
	struct error error = { 0 };
	assert_int_equal(preload_access_command(command, false, &error), ERROR_UNSUPPORTED);
	if (!strstr(error.message, words) || !strstr(error.message, "(the bpf backend can record it"))
		fail_msg("'%s' does not say '%s' and what else would do", error.message, words);
	/* No other backend can measure the request. */
	assert_int_equal(preload_access_command(command, true, &error), ERROR_UNSUPPORTED);
	if (!strstr(error.message, words) || strstr(error.message, "(the bpf backend") ||
	    !strstr(error.message, "(no other backend measures the requested resources: "))
		fail_msg("'%s' does not say '%s' and what would do", error.message, words);
}

static void assert_accepted(const char *command)
{
	struct error error = { 0 };
	if (preload_access_command(command, false, &error) < 0)
		fail_msg("%s", error.message);
}

#define GLIBC "/lib64/ld-linux-x86-64.so.2"

static void test_programs(void **state)
{
	(void)state;
	assert_accepted("/bin/sh");
	assert_accepted(GLIBC);
	assert_accepted(write_program(path, "dynamic", GLIBC));
	assert_accepted(write_program(path, "elsewhere", "/nix/store/glibc/lib/ld-linux-x86-64.so.2"));
	assert_refused(write_program(path, "static", NULL), "statically linked");
	assert_refused(write_needing(path, "alone", GLIBC, NULL), "needs no C library");
	assert_refused(write_program(path, "musl", "/lib/ld-musl-x86_64.so.1"), "ld-musl-x86_64.so.1");
	assert_refused(in_folder(path, "absent"), "cannot read '");
	assert_refused(write_file(path, "empty", "", 0), "cannot read '");
}

static void test_scripts(void **state)
{
	(void)state;
	char line[400];
	write_program(other, "interpreter", NULL);
	static const char *const forms[] = { "#!%s\nx", "#! %s -x\n", "#!/usr/bin/env -S A=b %s\n", "#!%s" };
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		snprintf(line, sizeof(line), forms[i], other);
		assert_refused(write_file(path, "script", line, strlen(line)), "interpreter' is statically linked");
	}
	assert_accepted(write_file(path, "plain", "#!/bin/sh\n", 10));
	assert_accepted(write_file(path, "env", "#!/usr/bin/env sh\n", 18));
	/* The interpreter of a script may be a script. A missing interpreter is accepted, since exec reports it. A
	 * cycle of interpreters is refused. */
	snprintf(line, sizeof(line), "#!%s/script\n", folder);
	assert_refused(write_file(path, "outer", line, strlen(line)), "interpreter' is statically linked");
	assert_accepted(write_file(path, "nowhere", "#!/no/such/program\n", 19));
	snprintf(line, sizeof(line), "#!%s/circle\n", folder);
	assert_refused(write_file(path, "circle", line, strlen(line)), "cannot read '");
	assert_accepted(write_file(path, "bare", "#!\n", 3) ? "/bin/sh" : NULL);
}

/* A set-user-ID or set-group-ID program is refused only if it changes the ids of this user. */
static void test_privilege(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	write_program(path, "gains", GLIBC);
	assert_int_equal(chmod(path, 04755), 0);
	assert_accepted(path); /* root's, run by root */
	assert_int_equal(chown(path, 12345, 0), 0);
	assert_int_equal(chmod(path, 04755), 0);
	assert_refused(path, "set-user-ID");
	assert_int_equal(chown(path, 0, 12345), 0);
	assert_int_equal(chmod(path, 02755), 0);
	assert_refused(path, "set-group-ID");
	assert_int_equal(chmod(path, 02745), 0); /* without group execute, set-group-ID once meant mandatory locking */
	assert_accepted(path);
}

static void test_capabilities(void **state)
{
	(void)state;
	static const unsigned char raw[20] = { 1, 0, 0, 2, 0, 0x20 }; /* version 2, effective: net_raw */
	write_program(path, "capable", GLIBC);
	if (geteuid() != 0 || setxattr(path, "security.capability", raw, sizeof(raw), 0) < 0)
		skip();
	assert_accepted(path); /* root gains nothing */
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(setresuid(12345, 0, 0), 0);
	assert_refused(path, "file capabilities");
	assert_int_equal(setresuid(0, 0, 0), 0);
}

/* The library is found next to the program, in the build tree and in the installed tree. */
static void test_library(void **state)
{
	(void)state;
	struct error error = { 0 };
	char found[512], command[600], program[300];
	snprintf(program, sizeof(program), "%s/tree/bin/cpprof", folder);
	snprintf(command, sizeof(command), "mkdir -p '%s/tree/bin' '%s/tree/collect/agent'", folder, folder);
	assert_int_equal(system(command), 0);
	write_file(path, "tree/collect/agent/libcpprof-preload.so", "x", 1);
	assert_int_equal(preload_access_library_of(program, found, sizeof(found), &error), 0);
	assert_string_equal(found, path);
	assert_int_equal(unlink(path), 0);
	int result = preload_access_library_of(program, found, sizeof(found), &error);
	if (result < 0) { /* another one may be installed */
		assert_int_equal(result, ERROR_NOT_FOUND);
		assert_non_null(strstr(error.message, "libcpprof-preload.so"));
	}
	/* In LD_PRELOAD, such a path would be two paths. */
	static const char *const odd[] = { "a b", "a:b" };
	for (size_t i = 0; i < 2; i++) {
		snprintf(command, sizeof(command),
			 "mkdir -p '%s/%s/bin' '%s/%s/collect/agent' && touch '%s/%s/collect/agent/%s'", folder, odd[i],
			 folder, odd[i], folder, odd[i], "libcpprof-preload.so");
		assert_int_equal(system(command), 0);
		snprintf(program, sizeof(program), "%s/%s/bin/cpprof", folder, odd[i]);
		assert_int_equal(preload_access_library_of(program, found, sizeof(found), &error), ERROR_UNSUPPORTED);
		assert_non_null(strstr(error.message, "a space or a colon"));
	}
}

static void test_resources(void **state)
{
	(void)state;
	struct resource_request request;
	struct error error;
	assert_int_equal(resource_parse("io-calls", &request, &error), 0);
	assert_int_equal(preload_access_resource(&request, &error), 0);
	assert_int_equal(resource_parse("syscalls:read", &request, &error), 0);
	assert_int_equal(preload_access_resource(&request, &error), ERROR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "io-calls"));
	assert_int_equal(resource_parse("page-faults", &request, &error), 0);
	assert_int_equal(preload_access_resource(&request, &error), ERROR_UNSUPPORTED);
	assert_non_null(strstr(error.message, "or the perf backend"));
	assert_int_equal(resource_parse("disk-bytes", &request, &error), 0);
	assert_int_equal(preload_access_resource(&request, &error), ERROR_UNSUPPORTED);
	assert_null(strstr(error.message, "perf"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_programs),     cmocka_unit_test(test_scripts), cmocka_unit_test(test_privilege),
		cmocka_unit_test(test_capabilities), cmocka_unit_test(test_library), cmocka_unit_test(test_resources),
	};
	return cmocka_run_group_tests_name("preload_access", tests, make_folder, remove_folder);
}
