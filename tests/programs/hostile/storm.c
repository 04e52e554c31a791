/*
 * `storm SECONDS LIBRARY`: several actions at once, each in a thread of its own that checks its results:
 * short-lived threads, forks, children that execute other programs, a library that is loaded and unloaded,
 * allocations. Prints how often each was done and how much CPU time all took, in us.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "moment.h"

enum { REST_US = 500 };

extern char **environ;

static uint64_t end_ns;
static char *program, *library;

static bool storm_goes_on(void)
{
	usleep(REST_US);
	return now_ns() < end_ns;
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		CHECK(errno == EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void *live_for_a_moment(void *number)
{
	burn(200);
	free(memset(malloc(5000), 1, 5000));
	return (void *)((intptr_t)number + 1);
}

NOINLINE static void with_threads(intptr_t turn)
{
	pthread_t ids[3];
	void *result;

	for (intptr_t i = 0; i < 3; i++)
		CHECK(pthread_create(&ids[i], NULL, live_for_a_moment, (void *)(turn + i)) == 0);
	for (intptr_t i = 0; i < 3; i++)
		CHECK(pthread_join(ids[i], &result) == 0 && result == (void *)(turn + i + 1));
}

/* The child has one thread, then two. */
NOINLINE static void with_fork(intptr_t turn)
{
	pid_t child = fork();
	pthread_t id;

	CHECK(child >= 0);
	if (child == 0) {
		burn(500);
		CHECK(pthread_create(&id, NULL, live_for_a_moment, NULL) == 0);
		CHECK(pthread_join(id, NULL) == 0);
		_exit((int)(turn % 100));
	}
	CHECK(wait_for(child) == turn % 100);
}

NOINLINE static void with_exec(intptr_t turn)
{
	char word[] = "child";
	char *command[] = { program, word, NULL };
	pid_t child;

	if (turn % 2) {
		CHECK(posix_spawn(&child, program, NULL, NULL, command, environ) == 0);
	} else {
		child = fork();
		CHECK(child >= 0);
		if (child == 0) {
			execv(program, command);
			_exit(127);
		}
	}
	CHECK(wait_for(child) == 42);
}

NOINLINE static void with_library(intptr_t turn)
{
	void *loaded = dlopen(library, RTLD_NOW);

	CHECK(loaded != NULL);
	int (*answer)(int) = (int (*)(int))dlsym(loaded, "answer");
	CHECK(answer && answer((int)turn) == 3 * (int)turn + 1);
	CHECK(dlclose(loaded) == 0);
}

NOINLINE static void with_allocations(intptr_t turn)
{
	char *blocks[100];

	for (int i = 0; i < 100; i++) {
		blocks[i] = malloc(1 + (size_t)(turn * 131 + i * 977) % 9000);
		CHECK(blocks[i] != NULL);
		*blocks[i] = (char)i;
	}
	burn(200);
	for (int i = 0; i < 100; i++) {
		CHECK(*blocks[i] == (char)i);
		free(blocks[i]);
	}
}

static struct part {
	const char *name;
	void (*once)(intptr_t turn);
	intptr_t turns;
} parts[] = {
	{ "threads", with_threads, 0 },
	{ "forks", with_fork, 0 },
	{ "execs", with_exec, 0 },
	{ "libraries", with_library, 0 },
	{ "allocations", with_allocations, 0 },
};
enum { PARTS = sizeof(parts) / sizeof(parts[0]) };

static void *again(void *argument)
{
	struct part *part = argument;

	while (storm_goes_on())
		part->once(part->turns++);
	return NULL;
}

static unsigned long long cpu_us(int who)
{
	struct rusage used;

	getrusage(who, &used);
	return (unsigned long long)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000 +
	       (unsigned long long)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

int main(int argc, char **argv)
{
	pthread_t ids[PARTS];

	if (argc == 2 && !strcmp(argv[1], "child")) {
		burn(1000);
		return 42;
	}
	CHECK(argc == 3);
	program = argv[0];
	library = argv[2];
	end_ns = now_ns() + (uint64_t)(atof(argv[1]) * 1e9);
	for (int i = 0; i < PARTS; i++)
		CHECK(pthread_create(&ids[i], NULL, again, &parts[i]) == 0);
	for (int i = 0; i < PARTS; i++)
		CHECK(pthread_join(ids[i], NULL) == 0);
	for (int i = 0; i < PARTS; i++)
		printf("%s %ld\n", parts[i].name, (long)parts[i].turns);
	printf("own %llu\nchildren %llu\n", cpu_us(RUSAGE_SELF), cpu_us(RUSAGE_CHILDREN));
	return 0;
}
