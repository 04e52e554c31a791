/* `endings HOW` works for some milliseconds in two threads, and ends in one of many ways. */
#include <pthread.h>
#include <signal.h>

#include "moment.h"

static void *work_on(void *unused)
{
	for (;;)
		burn(100);
	return unused;
}

static void by_kill(void)
{
	kill(getpid(), SIGKILL);
}

static void by_underscore_exit(void)
{
	_exit(3);
}

static void by_exit(void)
{
	exit(4);
}

static void by_fault(void)
{
	static volatile intptr_t nowhere = 8;

	*(volatile int *)nowhere = 1;
}

static void by_quick_exit(void)
{
	quick_exit(5);
}

static void *exit_in_thread(void *unused)
{
	burn(500);
	exit(6);
	return unused;
}

static void by_thread(void)
{
	pthread_t id;

	CHECK(pthread_create(&id, NULL, exit_in_thread, NULL) == 0);
	work_on(NULL);
}

/* The process continues without its first thread. */
static void by_leaving(void)
{
	pthread_t id;

	CHECK(pthread_create(&id, NULL, exit_in_thread, NULL) == 0);
	pthread_exit(NULL);
}

static const struct {
	const char *name;
	void (*end)(void);
} ways[] = {
	{ "kill", by_kill },   { "_exit", by_underscore_exit }, { "exit", by_exit },     { "abort", abort },
	{ "fault", by_fault }, { "quick_exit", by_quick_exit }, { "thread", by_thread }, { "leaving", by_leaving },
};

int main(int argc, char **argv)
{
	pthread_t id;

	CHECK(argc == 2 && pthread_create(&id, NULL, work_on, NULL) == 0);
	burn(4000);
	moment_ends("it ends\n");
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], ways[i].name))
			ways[i].end();
	moment_went_wrong("it did not end\n");
}
