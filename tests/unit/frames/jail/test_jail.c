/*
 * The jail in which addresses are named. The providers of this test do in it what a hostile file could make a library
 * do: they exceed limits, crash, try to get out, and give wrong answers.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/hash_map.h"
#include "frames/jail/confine.h"
#include "frames/jail/naming.h"
#include "frames/jail/once.h"
#include "frames/jail/wire.h"
#include "frames/naming_answer.h"
#include "support/symbols_lab.h"

enum { PATIENCE_S = 100 };

/* In a program with the address sanitizer, which cannot live with a limit on its address space. */
extern void __asan_init(void) __attribute__((weak));

typedef int naming_fn(const struct frames_request *request, struct naming_answer *answer);

/* A naming of the program "victim" by a provider of the test. */
struct scene {
	struct profile *profile;
	struct frames_options options;
	struct naming naming;
	struct frames_failure failure;
	uint32_t location;
};

static void scene_init(struct scene *scene)
{
	*scene = (struct scene){ .profile = lab_profile("victim") };
	scene->location = (uint32_t)profile_add_location(scene->profile, 0, lab_symbol("victim", "main"));
	alarm(PATIENCE_S);
}

static void scene_begin(struct scene *scene)
{
	assert_int_equal(naming_init(&scene->naming, scene->profile, &scene->options, 1), 0);
}

static void scene_release(struct scene *scene)
{
	alarm(0);
	naming_release(&scene->naming);
	profile_free(scene->profile);
}

static int name(struct scene *scene, const struct frames_provider *provider)
{
	struct naming *naming = &scene->naming;
	const struct frames_request request = {
		provider, naming->profile, naming->options, &naming->progress, 0, &scene->location, 1
	};
	return naming_name(naming, &request, &scene->failure);
}

static int name_by(struct scene *scene, naming_fn *naming)
{
	static const struct frames_cause causes[] = { { .remedy = "first" }, { .remedy = "second" } };
	static struct frames_provider provider = { .causes = causes, .cause_count = 2 };
	provider.name_module = naming;
	scene->failure = (struct frames_failure){ 0 };
	return name(scene, &provider);
}

/* Names the program by its symbols: the jail still works, or a new one does. */
static void expect_working(struct scene *scene)
{
	scene->failure = (struct frames_failure){ 0 };
	assert_int_equal(name(scene, &native_provider), 0);
	assert_null(scene->failure.cause);
	assert_string_equal(lab_name(scene->profile, 0, 0), "main");
	assert_int_equal(profile_check(scene->profile), 0);
}

/* Names the location by a text. */
static int answer_text(struct naming_answer *answer, const char *text)
{
	return naming_answer_plain(answer, &(struct named_function){ .name = text });
}

/* --- limits --- */

enum { SHORT_NS = 100000000 };

static int loop(const struct frames_request *request, struct naming_answer *answer)
{
	(void)request;
	(void)answer;
	for (volatile unsigned i = 0;; i++)
		;
	return 0;
}

static int hoard(const struct frames_request *request, struct naming_answer *answer)
{
	(void)request;
	(void)answer;
	enum { PIECE = 1 << 20, MOST = 4096 };
	for (int i = 0; i < MOST; i++) {
		volatile uint8_t *bytes = malloc(PIECE);
		if (!bytes)
			return ERROR_MEMORY;
		*bytes = 1;
	}
	return 0;
}

static int crash(const struct frames_request *request, struct naming_answer *answer)
{
	(void)answer;
	*(volatile uint32_t *)(uintptr_t)&request->locations[0] = 0;
	raise(SIGSEGV); /* refused */
	__builtin_trap();
}

static void test_limits(void **state)
{
	(void)state;
	struct scene scene;
	static const struct {
		naming_fn *naming;
		uint64_t cpu_ns;
		const char *text;
	} bad[] = { { loop, SHORT_NS, "takes more than 0.1" },
		    { hoard, 0, "takes more than 64 MB of memory" },
		    { crash, 0, "ended by signal" } };
	scene_init(&scene);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		/* The address sanitizer needs more memory, and handles a crash itself. */
		if (bad[i].naming != loop && __asan_init)
			continue;
		scene.options.limits = (struct frames_limits){ .memory_bytes = 64 << 20, .cpu_ns = bad[i].cpu_ns };
		scene_begin(&scene);
		assert_int_equal(name_by(&scene, bad[i].naming), 0);
		assert_non_null(scene.failure.cause);
		if (!strstr(scene.failure.detail.message, bad[i].text))
			fail_msg("%s, not \"%s\"", scene.failure.detail.message, bad[i].text);
		assert_int_equal(scene.profile->locations[0].first_frame, PROFILE_NONE);
		assert_int_equal(scene.naming.jail.child, 0);
		naming_release(&scene.naming);
	}
	scene.options.limits = (struct frames_limits){ 0 };
	scene_begin(&scene);
	name_by(&scene, crash);
	expect_working(&scene);
	scene_release(&scene);
}

/* Uses more time than a small file may and less than the budget, the first time that a child runs it. */
static int dawdle(const struct frames_request *request, struct naming_answer *answer)
{
	static int calls;
	struct timespec now;
	if (calls++ > 0)
		return loop(request, answer);
	do
		clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	while (now.tv_sec == 0 && now.tv_nsec < SHORT_NS);
	return answer_text(answer, "late");
}

/* One file uses the budget up; then another gets what files of its size need, and no more. */
static void test_budget(void **state)
{
	(void)state;
	struct scene scene;
	scene_init(&scene);
	scene.options.limits = (struct frames_limits){ .cpu_ns = 3 * (uint64_t)SHORT_NS };
	scene_begin(&scene);
	struct jail *jail = &scene.naming.jail;
	assert_int_equal(name_by(&scene, dawdle), 0);
	assert_null(scene.failure.cause);
	scene.profile->locations[0].first_frame = PROFILE_NONE;
	assert_in_range(jail->budget_ns, 1, 3 * (uint64_t)SHORT_NS - SHORT_NS / 2);
	assert_int_equal(jail->files.count, 1);
	assert_int_equal(name_by(&scene, dawdle), 0);
	if (!strstr(scene.failure.detail.message, "takes more than 0.2"))
		fail_msg("%s", scene.failure.detail.message);
	assert_int_equal(jail->budget_ns, 0);
	assert_int_equal(name_by(&scene, loop), 0);
	assert_non_null(scene.failure.cause);
	if (!strstr(scene.failure.detail.message, "takes more than 0.005 s of CPU time"))
		fail_msg("%s: the file counts twice", scene.failure.detail.message);
	scene_release(&scene);
}

/* A signal that this process holds back ends the naming of all files. */
static void test_interruption(void **state)
{
	(void)state;
	struct scene scene;
	struct timespec none = { 0 };
	sigset_t interrupt, before;
	sigemptyset(&interrupt);
	sigaddset(&interrupt, SIGINT);
	sigprocmask(SIG_BLOCK, &interrupt, &before);
	signal(SIGINT, SIG_DFL); /* a shell's background job ignores it */
	scene_init(&scene);
	scene_begin(&scene);
	raise(SIGINT);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(name_by(&scene, loop), 0);
		assert_non_null(scene.failure.cause);
		assert_true(scene.failure.cause->is_interruption);
		assert_int_equal(scene.naming.jail.child, 0);
	}
	naming_release(&scene.naming);
	/* The signal is pending still: who asked before the naming began did not mean the naming. */
	scene_begin(&scene);
	expect_working(&scene);
	assert_int_equal(sigtimedwait(&interrupt, NULL, &none), SIGINT);
	sigprocmask(SIG_SETMASK, &before, NULL);
	scene_release(&scene);
}

/* --- tasks on single files --- */

enum deed { LOOP, HOARD, CRASH, REFUSE, ANSWER };

static int do_deed(void *context, struct jail_input *input, struct buffer *answer, struct error *error)
{
	uint64_t magic = 0;
	(void)context;
	switch (cursor_u32(&input->request)) {
	case LOOP:
		return loop(NULL, NULL);
	case HOARD:
		return hoard(NULL, NULL);
	case CRASH:
		__builtin_trap();
	case REFUSE:
		return error_set(error, ERROR_AMBIGUOUS, "two of %s", input->path);
	default:
		assert_int_equal(read(input->fd, &magic, 4), 4);
		buffer_append(answer, &magic, sizeof(magic));
		return 0;
	}
}

static const struct jail_task deed_task = { .doing = "doing a deed in", .run = do_deed };

/* Returns the status. */
static int do_once(enum deed deed, struct buffer *answer, struct error *error)
{
	const struct frames_limits limits = { .memory_bytes = 64 << 20, .cpu_ns = deed == LOOP ? SHORT_NS : 0 };
	struct buffer request;
	const uint32_t number = deed;
	int fd = open(lab_path("victim"), O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	buffer_init(&request);
	buffer_append(&request, &number, sizeof(number));
	buffer_init(answer);
	alarm(PATIENCE_S);
	int status = jail_run_on(&deed_task, fd, "victim", &request, __asan_init ? NULL : &limits, answer, error);
	alarm(0);
	buffer_release(&request);
	close(fd);
	return status;
}

static void test_single_files(void **state)
{
	(void)state;
	static const struct {
		enum deed deed;
		int status;
		const char *text;
	} rows[] = {
		{ LOOP, ERROR_LIMIT, "doing a deed in 'victim' takes more than 0.1" },
		{ HOARD, ERROR_LIMIT, "doing a deed in 'victim' takes more than 64 MB of memory" },
		{ CRASH, ERROR_CORRUPT, "the process for doing a deed in 'victim' ended by signal" },
		{ REFUSE, ERROR_AMBIGUOUS, "two of victim" },
		{ ANSWER, 0, "" },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct buffer answer;
		struct error error = { 0 };
		/* The address sanitizer needs more memory and time, and handles a crash itself. */
		if (rows[i].deed <= CRASH && __asan_init)
			continue;
		assert_int_equal(do_once(rows[i].deed, &answer, &error), rows[i].status);
		if (strncmp(error.message, rows[i].text, strlen(rows[i].text)) != 0)
			fail_msg("%s", error.message);
		assert_int_equal(answer.size, rows[i].status == 0 ? sizeof(uint64_t) : 0);
		if (answer.size)
			assert_memory_equal(answer.bytes, "\177ELF", 4);
		buffer_release(&answer);
	}
}

/* --- ways out --- */

static volatile int *shared; /* memory that the recorder shares with others */
static char fifo[512], plain_file[512], program[512];

static int result_of(long result)
{
	return result < 0 ? errno : 0;
}

static int try_ways_out(const struct frames_request *request, struct naming_answer *answer)
{
	char text[1024];
	int used = 0;
	(void)request;
	int fd = open(program, O_RDONLY);
	void *none = MAP_FAILED;
	const size_t page = 4096;
	struct {
		const char *name;
		int result;
	} results[] = {
		{ "elf", result_of(fd) },
		{ "text", result_of(open(plain_file, O_RDONLY)) },
		{ "fifo", result_of(open(fifo, O_RDONLY)) },
		{ "device", result_of(open("/dev/zero", O_RDONLY)) },
		{ "kernel", result_of(open("/proc/version", O_RDONLY)) },
		{ "missing", result_of(open("/nowhere/x", O_RDONLY)) },
		{ "relative", result_of(open("x", O_RDONLY)) },
		{ "map", mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0) == none },
		{ "code", mmap(NULL, page, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == none },
		{ "data", mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == none },
		{ "socket", result_of(socket(AF_INET, SOCK_STREAM, 0)) },
		{ "fork", result_of(syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0)) },
		{ "kill", result_of(kill(1, 0)) },
		{ "unlink", result_of(unlink(plain_file)) },
		{ "ptrace", result_of(syscall(SYS_ptrace, 0, 0, 0, 0)) },
		{ "user", result_of(syscall(SYS_setresuid, 0, 0, 0)) },
		{ "write", result_of(write(fd, "x", 1)) },
		{ "dup", fcntl(CONFINED_SOCKET + 100, F_DUPFD_CLOEXEC, 0) < 0 ? errno : 0 },
	};
	for (size_t i = 0; i < sizeof(results) / sizeof(results[0]); i++)
		used += snprintf(text + used, sizeof(text) - (size_t)used, "%s=%d ", results[i].name,
				 results[i].result);
	return answer_text(answer, text);
}

static int touch_shared_memory(const struct frames_request *request, struct naming_answer *answer)
{
	(void)request;
	*shared = 1;
	return answer_text(answer, "touched");
}

static void test_ways_out(void **state)
{
	(void)state;
	struct scene scene;
	char expected[1024];
	snprintf(fifo, sizeof(fifo), "%s", lab_path("fifo"));
	snprintf(plain_file, sizeof(plain_file), "%s", lab_path("plain"));
	snprintf(program, sizeof(program), "%s", lab_path("victim"));
	lab_run("mkfifo fifo && echo secret > plain");
	shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(shared != MAP_FAILED);
	scene_init(&scene);
	scene_begin(&scene);
	assert_int_equal(name_by(&scene, try_ways_out), 0);
	assert_null(scene.failure.cause);
	snprintf(expected, sizeof(expected),
		 "elf=0 text=%d fifo=%d device=%d kernel=%d missing=%d relative=%d map=1 code=1 data=0 socket=%d "
		 "fork=%d "
		 "kill=%d unlink=%d ptrace=%d user=%d write=%d dup=%d ",
		 EACCES, EINVAL, EINVAL, EACCES, ENOENT, ENOENT, EPERM, EPERM, EPERM, EPERM, EPERM, EPERM, EPERM,
		 EBADF);
	assert_string_equal(lab_name(scene.profile, 0, 0), expected);
	assert_int_equal(access(plain_file, F_OK), 0);
	naming_release(&scene.naming); /* a child has the provider that its recorder had */
	scene_begin(&scene);
	assert_int_equal(name_by(&scene, touch_shared_memory), 0);
	assert_non_null(scene.failure.cause);
	assert_int_equal(*shared, 0);
	expect_working(&scene);
	scene_release(&scene);
	munmap((void *)(uintptr_t)shared, 4096);
}

/* Prints the ids of the process: /proc/self/status cannot be opened inside. */
static int sleep_long(const struct frames_request *request, struct naming_answer *answer)
{
	const uint64_t done = 1;
	wire_send(CONFINED_SOCKET, WIRE_PROGRESS, &done, sizeof(done), -1);
	return loop(request, answer);
}

static char status_text[8192];

static void keep_status(void *context, size_t done, size_t total)
{
	const struct scene *scene = context;
	char path[64];
	(void)done;
	(void)total;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)scene->naming.jail.child);
	FILE *file = fopen(path, "re");
	if (!file)
		return;
	status_text[fread(status_text, 1, sizeof(status_text) - 1, file)] = 0;
	fclose(file);
}

static void test_privileges(void **state)
{
	(void)state;
	struct scene scene;
	unsigned real = 0, effective = 0;
	scene_init(&scene);
	scene.options = (struct frames_options){ .progress = keep_status,
						 .context = &scene,
						 .limits = { .cpu_ns = 200000000 } };
	scene_begin(&scene);
	assert_int_equal(name_by(&scene, sleep_long), 0);
	const char *users = strstr(status_text, "\nUid:");
	assert_non_null(users);
	assert_int_equal(sscanf(users, "\nUid: %u %u", &real, &effective), 2);
	if (geteuid() == 0)
		assert_in_range(real, 61184, 65519);
	else
		assert_int_equal(real, geteuid());
	assert_int_equal(real, effective);
	assert_non_null(strstr(status_text, "\nCapEff:\t0000000000000000"));
	assert_non_null(strstr(status_text, "\nCapPrm:\t0000000000000000"));
	assert_non_null(strstr(status_text, "\nNoNewPrivs:\t1"));
	assert_non_null(strstr(status_text, "\nSeccomp:\t2"));
	if (geteuid() == 0)
		assert_non_null(strstr(status_text, "\nGroups:\t \n"));
	scene_release(&scene);
}

/* --- answers --- */

/* Sends an answer of the test's own, and then none. */
static uint8_t forged[4096];
static size_t forged_bytes;
static uint32_t forged_kind;

static int forge(const struct frames_request *request, struct naming_answer *answer)
{
	wire_send(CONFINED_SOCKET, forged_kind, forged, forged_bytes, -1);
	return loop(request, answer);
}

static void test_wrong_messages(void **state)
{
	(void)state;
	struct scene scene;
	static const struct {
		uint32_t kind;
		size_t bytes;
	} messages[] = {
		{ WIRE_DONE, 0 }, { WIRE_DONE, 12 }, { WIRE_DONE, 4000 },   { WIRE_READY, 4 }, { 77, 10 },
		{ WIRE_OPEN, 0 }, { WIRE_OPEN, 10 }, { WIRE_READ_LINK, 0 }, { WIRE_RUN, 16 },  { WIRE_OPENED, 4 },
	};
	memset(forged, 0x41, sizeof(forged));
	for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		scene_init(&scene);
		scene_begin(&scene);
		forged_kind = messages[i].kind;
		forged_bytes = messages[i].bytes;
		assert_int_equal(name_by(&scene, forge), 0);
		assert_non_null(scene.failure.cause);
		assert_non_null(strstr(scene.failure.detail.message, "gave a wrong answer"));
		expect_working(&scene);
		scene_release(&scene);
	}
}

static int fail_by_status(const struct frames_request *request, struct naming_answer *answer)
{
	(void)request;
	(void)answer;
	return ERROR_LIMIT;
}

/* Whatever a provider returns concerns one file: the others are still named. */
static void test_status_of_the_provider(void **state)
{
	(void)state;
	struct scene scene;
	scene_init(&scene);
	scene_begin(&scene);
	assert_int_equal(name_by(&scene, fail_by_status), 0);
	assert_non_null(scene.failure.cause);
	assert_non_null(strstr(scene.failure.detail.message, "victim': a limit was reached"));
	expect_working(&scene);
	scene_release(&scene);
}

/* Frames of another number of locations than were requested. */
static int answer_twice(const struct frames_request *request, struct naming_answer *answer)
{
	(void)request;
	int status = answer_text(answer, "one");
	return status < 0 ? status : answer_text(answer, "two");
}

static int answer_none(const struct frames_request *request, struct naming_answer *answer)
{
	(void)request;
	(void)answer;
	return 0;
}

static int answer_inlined_only(const struct frames_request *request, struct naming_answer *answer)
{
	(void)request;
	int64_t function = naming_answer_function(answer, &(struct named_function){ .name = "inlined" });
	return naming_answer_frame(answer, &(struct named_frame){ .function = (uint32_t)function, .inlined = true });
}

static int answer_another_cause(const struct frames_request *request, struct naming_answer *answer)
{
	answer->failure.cause = &request->provider->causes[request->provider->cause_count];
	return 0;
}

static void test_wrong_answers(void **state)
{
	(void)state;
	static naming_fn *const wrong[] = { answer_twice, answer_none, answer_inlined_only, answer_another_cause };
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct scene scene;
		scene_init(&scene);
		scene_begin(&scene);
		assert_int_equal(name_by(&scene, wrong[i]), 0);
		assert_non_null(scene.failure.cause);
		assert_non_null(strstr(scene.failure.detail.message, "gave a wrong answer"));
		assert_int_equal(scene.profile->function_count, 0);
		expect_working(&scene);
		scene_release(&scene);
	}
}

/* --- no jail --- */

/* Refuses this process all filters of system calls. */
static void refuse_filters(void)
{
	struct sock_filter steps[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_seccomp, 3, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 3),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog filter = { .len = sizeof(steps) / sizeof(steps[0]), .filter = steps };
	assert_int_equal(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	assert_int_equal(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0), 0);
}

static void refuse_forks(void)
{
	const struct rlimit none = { 0, 0 };
	enum { ANOTHER_USER = 61000 };
	assert_int_equal(setrlimit(RLIMIT_NPROC, &none), 0);
	assert_int_equal(setresuid(ANOTHER_USER, ANOTHER_USER, ANOTHER_USER), 0);
}

/* Leaves this process the descriptors of the file and of the socket, and so its child none. */
static void refuse_files(void)
{
	enum { FILES = 32, LEFT = 3 };
	const struct rlimit few = { FILES, FILES };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	int last = 0;
	for (int fd; (fd = dup(STDIN_FILENO)) >= 0;)
		last = fd;
	for (int i = 0; i < LEFT; i++)
		assert_int_equal(close(last - i), 0);
}

/* Without a jail, a task runs here, but not on another user's file. Returns 0 if it ran, 1 if it was refused, or 2. */
static int run_without_jail(void (*refuse)(void), const char *reason)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct buffer answer;
		struct error error = { 0 };
		refuse();
		int status = do_once(ANSWER, &answer, &error);
		bool refused = status == ERROR_UNSUPPORTED && strstr(error.message, reason);
		_exit(status == 0 && answer.size == sizeof(uint64_t) ? 0 : refused ? 1 : 2);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

/* Returns 0 if the file was named, 1 if it stayed an address for `reason`, or 2. */
static int name_without_jail(void (*refuse)(void), const char *reason)
{
	pid_t child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct scene scene;
		scene_init(&scene);
		refuse();
		scene_begin(&scene);
		int status = name(&scene, &native_provider);
		bool refused = scene.failure.cause && strstr(scene.failure.detail.message, reason);
		bool named = !scene.failure.cause && strcmp(lab_name(scene.profile, 0, 0), "main") == 0;
		_exit(status == 0 && named ? 0 : status == 0 && refused ? 1 : 2);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 3;
}

static void test_without_jail(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	lab_run("chmod 755 . victim");
	assert_int_equal(name_without_jail(refuse_filters, ""), 0);
	assert_int_equal(name_without_jail(refuse_forks, ""), 0);
	assert_int_equal(run_without_jail(refuse_filters, ""), 0);
	assert_int_equal(chown(lab_path("victim"), 61001, 61001), 0);
	assert_int_equal(run_without_jail(refuse_files, "closing files failed: Too many open files"), 1);
	assert_int_equal(run_without_jail(refuse_filters, "installing a seccomp filter failed"), 1);
	assert_int_equal(name_without_jail(refuse_filters, "installing a seccomp filter failed"), 1);
	assert_int_equal(name_without_jail(refuse_forks, "fork failed"), 1);
}

static int setup(void **state)
{
	if (lab_setup(state) < 0)
		return -1;
	lab_run("$CC -g -O2 \"$S/inlines.c\" -o victim");
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits),         cmocka_unit_test(test_budget),
		cmocka_unit_test(test_interruption),   cmocka_unit_test(test_single_files),
		cmocka_unit_test(test_ways_out),       cmocka_unit_test(test_privileges),
		cmocka_unit_test(test_wrong_messages), cmocka_unit_test(test_status_of_the_provider),
		cmocka_unit_test(test_wrong_answers),  cmocka_unit_test(test_without_jail),
	};
	return cmocka_run_group_tests_name("jail", tests, setup, lab_teardown);
}
