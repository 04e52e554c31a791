/* The events in a process's life, one at a time. The first word selects the event, the second is how often it
 * calls step(). The functions that control this are not counted. */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "hooks.h"

#define UNCOUNTED NOINLINE __attribute__((no_instrument_function))

int moncontrol(int mode) __attribute__((weak));
void monstartup(unsigned long low, unsigned long high) __attribute__((weak));
void _mcleanup(void) __attribute__((weak));

static NOINLINE void step(void)
{
	__asm__ volatile("");
}

static NOINLINE void in_child(void)
{
	__asm__ volatile("");
}

static UNCOUNTED void steps(long count)
{
	for (long i = 0; i < count; i++)
		step();
}

static UNCOUNTED int child(void *argument)
{
	for (int i = 0; i < 5; i++)
		in_child();
	(void)argument;
	return 0;
}

static UNCOUNTED void await(pid_t pid)
{
	int status;
	CHECK(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
}

/* Forks that bypass the handlers of pthread_atfork. */
static UNCOUNTED void bare_forks(void)
{
	static char stack[256 * 1024] __attribute__((aligned(16)));
	pid_t pid = _Fork();
	if (pid == 0)
		_exit(child(NULL));
	await(pid);
	pid = (pid_t)syscall(SYS_fork);
	if (pid == 0)
		_exit(child(NULL));
	await(pid);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
	if (pid == 0)
		_exit(child(NULL));
	await(pid);
	await(clone(child, stack + sizeof(stack), SIGCHLD, NULL));
}

static UNCOUNTED void *in_thread(void *count)
{
	steps((long)count);
	return NULL;
}

static UNCOUNTED void in_threads(long count)
{
	enum { THREADS = 8 };
	pthread_t threads[THREADS];
	for (int i = 0; i < THREADS; i++)
		CHECK(pthread_create(&threads[i], NULL, in_thread, (void *)count) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static UNCOUNTED void load(const char *path, long count)
{
	for (long i = 0; i < count; i++) {
		void *plugin = dlopen(path, RTLD_NOW);
		CHECK(plugin != NULL);
		long (*work)(int) = (long (*)(int))dlsym(plugin, "plugin_work");
		CHECK(work != NULL);
		(void)work(1);
		CHECK(dlclose(plugin) == 0);
	}
}

/* The uses in the C library's manual: off, on, and the end. */
static UNCOUNTED void control(long count)
{
	steps(count);
	CHECK(moncontrol(0) == 0);
	steps(1000 * count);
	CHECK(moncontrol(1) == 0);
	steps(count);
	_mcleanup();
	steps(1000 * count);
	monstartup(0, 1);
	steps(count);
}

__attribute__((destructor)) static void at_end(void)
{
	__asm__ volatile("");
}

UNCOUNTED int main(int words, char **word)
{
	CHECK(words > 2);
	long count = atol(word[2]);
	if (strcmp(word[1], "control") == 0) {
		control(count);
		return 0;
	}
	if (strcmp(word[1], "load") == 0)
		load(word[3], count);
	else if (strcmp(word[1], "threads") == 0)
		in_threads(count);
	else
		steps(count);
	if (strcmp(word[1], "forks") == 0)
		bare_forks();
	else if (strcmp(word[1], "_exit") == 0)
		_exit(7);
	else if (strcmp(word[1], "quick_exit") == 0)
		quick_exit(7);
	else if (strcmp(word[1], "exec") == 0)
		execl(word[0], word[0], "_exit", word[2], NULL);
	else if (strcmp(word[1], "wait") == 0)
		pause();
	return 0;
}
