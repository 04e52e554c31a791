/* collect/sample/target.c: the message for each kind of file that cannot be run, and the settings that a command
 * gets back. collect/sample/stacks/target_memory.c: reading its memory. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collect/sample/stacks/target_memory.h"
#include "collect/sample/target.h"

static char directory[] = "/tmp/cpprof-target-XXXXXX";

static const char *path_in(const char *name)
{
	static char path[256];
	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return path;
}

static const char *make_file(const char *name, const void *bytes, size_t size, mode_t mode)
{
	const char *path = path_in(name);
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
	return path;
}

static int begin(void **state)
{
	(void)state;
	return mkdtemp(directory) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", directory);
	return system(command);
}

/* --- finding the command --- */

static void assert_not_found(const char *name, int code, const char *says)
{
	struct error error = { 0 };
	assert_null(target_find(name, &error));
	assert_int_equal(error.code, code);
	if (!strstr(error.message, says))
		fail_msg("'%s' is not in: %s", says, error.message);
}

static const char *elf_of(const char *name, uint8_t class, uint16_t machine, size_t size)
{
	Elf64_Ehdr header = { .e_ident = { 0x7f, 'E', 'L', 'F', class, ELFDATA2LSB, EV_CURRENT },
			      .e_machine = machine };
	return make_file(name, &header, size, 0755);
}

static void test_bad_files(void **state)
{
	(void)state;
	assert_not_found("no-such-command-here", ERROR_NO_COMMAND,
			 "cannot run 'no-such-command-here': command not found");
	assert_not_found("", ERROR_NO_COMMAND, "cannot run '': command not found");
	assert_not_found(path_in("missing"), ERROR_NO_COMMAND, "missing': No such file or directory");
	assert_not_found(directory, ERROR_NOT_EXECUTABLE, "Is a directory");
	assert_not_found("/dev/null", ERROR_NOT_EXECUTABLE, "Not a regular file");
	assert_not_found(make_file("plain", "\177ELF", 4, 0644), ERROR_NOT_EXECUTABLE,
			 "it is not executable (chmod +x");
	assert_not_found(make_file("words", "echo hello\n", 11, 0755), ERROR_NOT_EXECUTABLE,
			 "neither a program nor a script");
	assert_not_found(make_file("empty", "", 0, 0755), ERROR_NOT_EXECUTABLE, "neither a program nor a script");
	assert_not_found(make_file("one", "#", 1, 0755), ERROR_NOT_EXECUTABLE, "cpprof record sh");
	assert_not_found(make_file("short", "\177ELF\2\1\1", 7, 0755), ERROR_NOT_EXECUTABLE, "too short for a program");
	assert_not_found(elf_of("small", ELFCLASS64, EM_X86_64, 19), ERROR_NOT_EXECUTABLE, "too short for a program");
	assert_not_found(elf_of("i386", ELFCLASS32, EM_386, 64), ERROR_UNSUPPORTED, "is a 32-bit program");
	assert_not_found(elf_of("x32", ELFCLASS32, EM_X86_64, 64), ERROR_UNSUPPORTED, "is a 32-bit program");
	assert_not_found(elf_of("arm", ELFCLASS64, EM_AARCH64, 64), ERROR_NOT_EXECUTABLE,
			 "another architecture (ELF machine 183)");
}

static void assert_found(const char *name, const char *wanted)
{
	struct error error = { 0 };
	char *path = target_find(name, &error);
	assert_non_null(path);
	assert_string_equal(path, wanted);
	free(path);
}

static void test_good_files(void **state)
{
	(void)state;
	const char *path = elf_of("program", ELFCLASS64, EM_X86_64, 64);
	assert_found(path, path);
	path = make_file("script", "#!/bin/sh\n", 10, 0755);
	assert_found(path, path);
	assert_found("/bin/sh", "/bin/sh");
}

/* The first executable file in PATH is found, as in a shell. An empty part of PATH is the current directory. */
static void test_path(void **state)
{
	(void)state;
	char *old_path = strdup(getenv("PATH") ? getenv("PATH") : "");
	char *here = getcwd(NULL, 0);
	char wanted[256];
	mkdir(path_in("first"), 0755);
	mkdir(path_in("second"), 0755);
	mkdir(path_in("first/tool"), 0755); /* a directory is not a command */
	make_file("second/tool", "#!/bin/sh\n", 10, 0755);
	make_file("first/other", "#!/bin/sh\n", 10, 0644); /* neither is a file without permission to execute */
	make_file("second/other", "#!/bin/sh\n", 10, 0755);
	char path[256];
	snprintf(path, sizeof(path), "/nowhere:%s/first:%s/second", directory, directory);
	setenv("PATH", path, 1);
	snprintf(wanted, sizeof(wanted), "%s/second/tool", directory);
	assert_found("tool", wanted);
	snprintf(wanted, sizeof(wanted), "%s/second/other", directory);
	assert_found("other", wanted);
	make_file("local", "#!/bin/sh\n", 10, 0755);
	assert_int_equal(chdir(directory), 0);
	assert_not_found("local", ERROR_NO_COMMAND, "did you mean ./local");
	setenv("PATH", "/nowhere:", 1);
	assert_found("local", "./local");
	setenv("PATH", "", 1);
	assert_found("local", "./local");
	assert_found("./local", "./local");
	unsetenv("PATH");
	assert_found("true", "/bin/true");
	setenv("PATH", old_path, 1);
	assert_int_equal(chdir(here), 0);
	free(here);
	free(old_path);
}

/* --- starting --- */

static sigset_t no_signals;
static struct rlimit files;
static const struct target_start plain = { .signals = &no_signals, .files = &files };

/* Returns an argument for execv, which changes none. */
static char *word(const char *text)
{
	return (char *)(uintptr_t)text;
}

static void run(struct target *target, char *const *arguments)
{
	struct error error = { 0 };
	assert_int_equal(target_fork(target, arguments[0], arguments, &plain, &error), 0);
	assert_int_equal(target_exec(target, arguments[0], &error), 0);
	struct pollfd ended = { .fd = target->pidfd, .events = POLLIN };
	assert_int_equal(poll(&ended, 1, 60000), 1);
	target_reap(target);
	assert_true(target->ended);
}

static void assert_status(const char *script, int status)
{
	struct target target;
	char *const arguments[] = { word("/bin/sh"), word("-c"), word(script), NULL };
	run(&target, arguments);
	assert_int_equal(target.status, status);
	target_release(&target);
	assert_int_equal(target.pidfd, -1);
}

static void test_status(void **state)
{
	(void)state;
	assert_status("exit 0", 0);
	assert_status("exit 3", 3);
	assert_status("exit 255", 255);
	assert_status("kill -TERM $$", 128 + SIGTERM);
	assert_status("kill -KILL $$", 128 + SIGKILL);
}

/* The command does not run before target_exec. If it is released instead, it ends without having run. */
static void test_held(void **state)
{
	(void)state;
	char *const arguments[] = { word("/bin/sh"), word("-c"), word("echo > \"$0\""), word(path_in("ran")), NULL };
	struct target target;
	struct error error = { 0 };
	assert_int_equal(target_fork(&target, arguments[0], arguments, &plain, &error), 0);
	struct pollfd ended = { .fd = target.pidfd, .events = POLLIN };
	assert_int_equal(poll(&ended, 1, 50), 0);
	pid_t pid = target.pid;
	target_release(&target);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
	assert_int_equal(access(path_in("ran"), F_OK), -1);
}

static void assert_exec_fails(const char *path, int code, const char *says)
{
	char *const arguments[] = { word(path), NULL };
	struct target target;
	struct error error = { 0 };
	assert_int_equal(target_fork(&target, path, arguments, &plain, &error), 0);
	assert_int_equal(target_exec(&target, path, &error), code);
	if (!strstr(error.message, says))
		fail_msg("'%s' is not in: %s", says, error.message);
	assert_true(target.ended);
	target_release(&target);
}

static void test_exec_fails(void **state)
{
	(void)state;
	assert_exec_fails("/nowhere/at-all", ERROR_NO_COMMAND, "cannot run '/nowhere/at-all': No such file");
	assert_exec_fails(make_file("not-executable", "#!/bin/sh\n", 10, 0644), ERROR_NOT_EXECUTABLE,
			  "Permission denied");
	assert_exec_fails(elf_of("nothing", ELFCLASS64, EM_X86_64, 64), ERROR_NOT_EXECUTABLE, "Exec format error");
	/* The file exists, but the interpreter in its first line does not. */
	assert_exec_fails(make_file("lost", "#!/nowhere/sh\n", 14, 0755), ERROR_NOT_EXECUTABLE, "interpreter");
}

/* Returns the output of a command that has this signal mask and this limit of open files. */
static FILE *output_of(char *const *arguments, const sigset_t *signals, const struct rlimit *limit)
{
	int out = open(path_in("output"), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
	int old_out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	assert_true(out >= 0 && old_out >= 0 && dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
	close(out);
	struct target target;
	struct error error = { 0 };
	const struct target_start how = { .signals = signals, .files = limit };
	int forked = target_fork(&target, arguments[0], arguments, &how, &error);
	dup2(old_out, STDOUT_FILENO);
	close(old_out);
	assert_int_equal(forked, 0);
	assert_int_equal(target_exec(&target, arguments[0], &error), 0);
	target_reap(&target);
	assert_int_equal(target.status, 0);
	target_release(&target);
	FILE *file = fopen(path_in("output"), "re");
	assert_non_null(file);
	return file;
}

static int inherited_descriptors(void)
{
	enum { MANY = 1024 };
	int inherited = 0;
	for (int fd = 0; fd < MANY; fd++) {
		int flags = fcntl(fd, F_GETFD);
		inherited += flags >= 0 && !(flags & FD_CLOEXEC);
	}
	return inherited;
}

/* The command gets its own signal mask and limit of open files, whatever cpprof's are. */
static void test_its_own(void **state)
{
	(void)state;
	sigset_t ours, theirs, before;
	sigemptyset(&ours);
	sigaddset(&ours, SIGINT);
	sigaddset(&ours, SIGPIPE);
	sigemptyset(&theirs);
	sigaddset(&theirs, SIGUSR1);
	sigprocmask(SIG_BLOCK, &ours, &before);
	struct rlimit low = files;
	low.rlim_cur = 77;
	char *const arguments[] = { word("/bin/cat"), word("/proc/self/status"), word("/proc/self/limits"), NULL };
	FILE *file = output_of(arguments, &theirs, &low);
	sigprocmask(SIG_SETMASK, &before, NULL);
	char line[512];
	unsigned long long blocked = 0;
	unsigned limit = 0;
	while (fgets(line, sizeof(line), file)) {
		sscanf(line, "SigBlk: %llx", &blocked);
		sscanf(line, "Max open files %u", &limit);
	}
	fclose(file);
	assert_int_equal(blocked, 1ULL << (SIGUSR1 - 1));
	assert_int_equal(limit, 77);
}

/* No descriptor of cpprof is open in the command. */
static void test_descriptors(void **state)
{
	(void)state;
	char *const arguments[] = { word("/bin/ls"), word("/proc/self/fd"), NULL };
	FILE *file = output_of(arguments, &no_signals, &files);
	int count = 0;
	unsigned fd;
	while (fscanf(file, "%u", &fd) == 1)
		count++;
	fclose(file);
	assert_int_equal(count, inherited_descriptors() + 1); /* one more: the folder that ls reads */
}

/* --- the target's memory --- */

static void test_memory(void **state)
{
	(void)state;
	enum { PAGES = 40 };
	uint8_t *area =
		mmap(NULL, PAGES * TARGET_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(area != MAP_FAILED);
	for (size_t i = 0; i < PAGES * TARGET_PAGE_BYTES; i += 8)
		memcpy(area + i, &i, 8);
	size_t readable = (PAGES - 4) * TARGET_PAGE_BYTES;
	assert_int_equal(mprotect(area + readable, 4 * TARGET_PAGE_BYTES, PROT_NONE), 0);
	uint64_t start = (uint64_t)(uintptr_t)area;
	struct target_memory memory;
	target_memory_init(&memory);
	target_memory_begin(&memory, getpid());
	uint64_t word;
	/* Single words, on more pages than are cached, and across the end of a page. */
	for (size_t at = 0; at + 8 < readable; at += 1000 * 8) {
		assert_int_equal(target_memory_word(&memory, start + at, &word), 0);
		assert_int_equal(word, at);
	}
	assert_int_equal(target_memory_word(&memory, start + TARGET_PAGE_BYTES - 3, &word), 0);
	assert_memory_equal(&word, area + TARGET_PAGE_BYTES - 3, 8);
	assert_int_equal(target_memory_word(&memory, start + readable - 3, &word), -1);
	assert_int_equal(target_memory_word(&memory, start + readable, &word), -1);
	assert_int_equal(target_memory_word(&memory, UINT64_MAX - 3, &word), -1);
	/* A span, up to the end of the readable memory. */
	assert_int_equal(target_memory_span(&memory, start + 8, 100), 100);
	assert_memory_equal(memory.span, area + 8, 100);
	assert_int_equal(target_memory_extend(&memory, start + 8 + 5000), 0);
	assert_true(memory.size >= 5000);
	assert_memory_equal(memory.span, area + 8, memory.size);
	assert_int_equal(target_memory_extend(&memory, start + readable), 0);
	assert_memory_equal(memory.span, area + 8, readable - 8);
	assert_int_equal(target_memory_extend(&memory, start + readable + 8), -1);
	assert_int_equal(target_memory_extend(&memory, start + TARGET_SPAN_MAX + 4096), -1);
	assert_int_equal(target_memory_span(&memory, start, PAGES * TARGET_PAGE_BYTES), readable);
	assert_int_equal(target_memory_span(&memory, start, TARGET_SPAN_MAX + 1), 0);
	/* A new sample begins with an empty cache. */
	memset(area, 0xee, TARGET_PAGE_BYTES);
	target_memory_begin(&memory, getpid());
	assert_int_equal(target_memory_word(&memory, start, &word), 0);
	assert_int_equal(word, UINT64_C(0xeeeeeeeeeeeeeeee));
	target_memory_begin(&memory, 0x7fffffff);
	assert_int_equal(target_memory_word(&memory, start, &word), -1);
	assert_int_equal(target_memory_span(&memory, start, 100), 0);
	target_memory_release(&memory);
	munmap(area, PAGES * TARGET_PAGE_BYTES);
}

int main(void)
{
	sigemptyset(&no_signals);
	getrlimit(RLIMIT_NOFILE, &files);
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_files), cmocka_unit_test(test_good_files),  cmocka_unit_test(test_path),
		cmocka_unit_test(test_status),    cmocka_unit_test(test_held),        cmocka_unit_test(test_exec_fails),
		cmocka_unit_test(test_its_own),   cmocka_unit_test(test_descriptors), cmocka_unit_test(test_memory),
	};
	return cmocka_run_group_tests(tests, begin, end);
}
