/* Executes the commands that it reads from its standard input, one per line, and answers each with a line.
 * tests/cases/test_control.py switches its probe points. */
#include <cpprof/profiler.h>
#include <cpprof/runtime.h>

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/single_threaded.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile int sink;

#define PROBE_OF_GROUP(group)                                                                                \
	CPPROF_DESCRIPTOR_(probe_of_group, CPPROF_KIND_FUNCTION, CPPROF_LEVEL_FUNCTION, __func__, 0, group); \
	CPPROF_OBJECT_(object_of_group, probe_of_group)

static __attribute__((noinline)) void tiny(void)
{
	CPPROF_FUNCTION;
	sink++;
}

static __attribute__((noinline)) void grouped(void)
{
	PROBE_OF_GROUP("io");
	sink++;
}

static __attribute__((noinline)) void slow(void)
{
	CPPROF_FUNCTION;
	for (int i = 0; i < 20000; i++)
		sink++;
}

static __attribute__((noinline)) void work(void)
{
	CPPROF_FUNCTION;
	for (int i = 0; i < 2; i++) {
		CPPROF_REGION("row");
		tiny();
	}
	grouped();
}

static __attribute__((noinline)) void late(void)
{
	CPPROF_FUNCTION;
	sink++;
}

static jmp_buf back;

static __attribute__((noinline)) void leap(void)
{
	CPPROF_FUNCTION;
	longjmp(back, 1);
}

static __attribute__((noinline)) void jump(void)
{
	CPPROF_FUNCTION;
	if (setjmp(back) == 0)
		leap();
	tiny();
}

static __attribute__((noinline)) void interrupted(void)
{
	CPPROF_FUNCTION;
	sink++;
}

static void handle(int number)
{
	CPPROF_FUNCTION;
	(void)number;
	tiny();
}

static void *be_interrupted(void *alternate)
{
	const stack_t stack = { .ss_sp = alternate, .ss_size = 64 << 10 };
	sigaltstack(&stack, NULL);
	interrupted();
	tiny();
	return NULL;
}

/* Uses a signal whose stack lies above the thread's own. */
static void interrupt(void)
{
	static char stacks[2][256 << 10] __attribute__((aligned(4096)));
	const struct sigaction action = { .sa_handler = handle, .sa_flags = SA_ONSTACK };
	pthread_attr_t attributes;
	pthread_t thread;
	sigaction(SIGUSR1, &action, NULL);
	pthread_attr_init(&attributes);
	pthread_attr_setstack(&attributes, stacks[0], sizeof(stacks[0]));
	if (pthread_create(&thread, &attributes, be_interrupted, stacks[1]) == 0)
		pthread_join(thread, NULL);
}

static int count_entries(const char *path)
{
	DIR *folder = opendir(path);
	int count = 0;
	while (readdir(folder))
		count++;
	closedir(folder);
	return count - 2;
}

static void repeat(void (*function)(void), int times)
{
	for (int i = 0; i < times; i++)
		function();
}

/* The child continues when its parent has ended, which closes the other end of the pipe, and never before. */
static void begin_child(void)
{
	int ends[2];
	char byte;
	if (pipe(ends) < 0)
		exit(3);
	pid_t pid = fork();
	if (pid == 0) {
		close(ends[1]);
		repeat(tiny, 1);
		(void)!read(ends[0], &byte, 1);
		repeat(tiny, 5);
		exit(0);
	}
	close(ends[0]);
	printf("%d\n", (int)pid);
}

static void call_plugin(const char *path, int times)
{
	void *plugin = dlopen(path, RTLD_NOW);
	void (*function)(void) = plugin ? (void (*)(void))dlsym(plugin, "plugged") : NULL;
	if (!function)
		exit(4);
	repeat(function, times);
	printf("%d\n", dlclose(plugin));
}

static void count_state(const struct cpprof_probe_state *state, void *context)
{
	int *counts = context;
	counts[state->is_on ? 0 : 1]++;
	counts[2] += state->is_throttled;
	counts[3] += state->line == 0 || !*state->name || !strstr(state->file, "steered.c") ||
		     (strcmp(state->name, "grouped") == 0) != (strcmp(state->group, "io") == 0);
}

static void list(void)
{
	int counts[4] = { 0 };
	size_t all = cpprof_probes_list(count_state, counts);
	printf("%zu: %d on, %d off, %d throttled, %d wrong\n", all, counts[0], counts[1], counts[2], counts[3]);
}

static void obey(const char *word, const char *rest, char **argv)
{
	static const struct {
		const char *name;
		void (*function)(void);
	} functions[] = { { "work", work }, { "tiny", tiny }, { "slow", slow },
			  { "late", late }, { "jump", jump }, { "interrupt", interrupt } };
	for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		if (strcmp(word, functions[i].name) == 0) {
			repeat(functions[i].function, atoi(rest));
			puts("done");
			return;
		}
	if (strcmp(word, "fork") == 0)
		begin_child();
	else if (strcmp(word, "plugin") == 0)
		call_plugin(rest, 3);
	else if (strcmp(word, "turn_off") == 0)
		printf("%d\n", cpprof_probes_turn(rest, 0));
	else if (strcmp(word, "turn_on") == 0)
		printf("%d\n", cpprof_probes_turn(rest, 1));
	else if (strcmp(word, "level") == 0)
		printf("%d\n", cpprof_probes_level(atoi(rest)));
	else if (strcmp(word, "throttle") == 0)
		printf("%d\n", cpprof_probes_throttle(100, strtoull(rest, NULL, 10)));
	else if (strcmp(word, "list") == 0)
		list();
	else if (strcmp(word, "state") == 0)
		printf("%d %d\n", count_entries("/proc/self/fd"), (int)__libc_single_threaded);
	else if (strcmp(word, "again") == 0)
		execv("/proc/self/exe", argv);
	else
		exit(5);
}

int main(int argc, char **argv)
{
	CPPROF_FUNCTION;
	char line[4096];
	(void)argc;
	puts("ready");
	fflush(stdout);
	/* Unbuffered, because a program that replaces this one reads the rest of the input. */
	setvbuf(stdin, NULL, _IONBF, 0);
	while (fgets(line, sizeof(line), stdin)) {
		char *rest = strchr(line, ' ');
		line[strcspn(line, "\n")] = 0;
		if (rest)
			*rest++ = 0;
		obey(line, rest ? rest : "1", argv);
		fflush(stdout);
	}
	return 0;
}
