/*
 * Runs before cpprof attaches to it, and makes events in turns:
 *
 *   attached threads      in two threads, and in one more that each turn starts
 *   attached processes    in a child and a grandchild, and in one more child that each turn starts
 *   attached leaderless   in a thread of a process whose first thread has exited
 *   attached crowd        in CROWD threads, which it replaces by others all the time until the first turn
 *
 * Each makes LENGTH_US / EVENT_US events in a turn, the threads of the crowd a quarter of it. Prints "ready" when all of them
 * run. A byte of standard input begins a turn, and "done" ends it. Exits with 5 when the input ends.
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

enum { LENGTH_US = 20000, CROWD = 32, ENDED = 5, HERE = 0, THERE = 1 };

static int acknowledged[2]; /* a pipe */
static int orders[CROWD][2], order_count;

static void check(int is_well)
{
	if (!is_well)
		exit(1);
}

static void write_to(int fd, const char *bytes)
{
	check(write(fd, bytes, strlen(bytes)) > 0);
}

static void wait_for(int count)
{
	for (char byte; count > 0; count--)
		check(read(acknowledged[HERE], &byte, 1) == 1);
}

/* Does its duty for each byte that arrives, and acknowledges it, until no byte can arrive any more. */
NOINLINE static void serve(int from, void (*duty)(void))
{
	char byte;

	write_to(acknowledged[THERE], "x");
	while (read(from, &byte, 1) == 1) {
		duty();
		write_to(acknowledged[THERE], "x");
	}
	close(from);
}

#define DUTY(name, us)                  \
	NOINLINE static void name(void) \
	{                               \
		burn(us);               \
		NOT_A_TAIL_CALL();      \
	}

#define THREAD(name, duty)                        \
	static void *name(void *from)             \
	{                                         \
		serve((int)(intptr_t)from, duty); \
		return NULL;                      \
	}

DUTY(first_duty, LENGTH_US)
DUTY(second_duty, LENGTH_US)
DUTY(passing_duty, LENGTH_US)
DUTY(child_duty, LENGTH_US)
DUTY(grandchild_duty, LENGTH_US)
DUTY(later_duty, LENGTH_US)
DUTY(lonely_duty, LENGTH_US)
DUTY(crowd_duty, LENGTH_US / 4)
THREAD(first_thread, first_duty)
THREAD(second_thread, second_duty)
THREAD(crowd_thread, crowd_duty)

static void *passing_thread(void *unused)
{
	passing_duty();
	return unused;
}

static pthread_t start_thread(void *(*body)(void *), int from)
{
	pthread_t id;

	check(!pthread_create(&id, NULL, body, (void *)(intptr_t)from));
	return id;
}

/* Returns a thread that serves orders[place]. */
static pthread_t start_server(void *(*body)(void *), int place)
{
	check(!pipe(orders[place]));
	pthread_t id = start_thread(body, orders[place][HERE]);
	wait_for(1);
	return id;
}

/* Lets all serve when a turn begins. Returns false when the input has ended. */
static int turn_begins(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 0;
	for (int i = 0; i < order_count; i++)
		write_to(orders[i][THERE], "x");
	wait_for(order_count);
	return 1;
}

static void threads(void)
{
	start_server(first_thread, order_count++);
	start_server(second_thread, order_count++);
	for (write_to(STDOUT_FILENO, "ready\n"); turn_begins(); write_to(STDOUT_FILENO, "done\n"))
		pthread_join(start_thread(passing_thread, 0), NULL);
}

static void family(void)
{
	close(orders[0][THERE]);
	close(orders[1][THERE]);
	if (fork() == 0)
		serve(orders[1][HERE], grandchild_duty);
	else
		serve(orders[0][HERE], child_duty);
	_exit(0);
}

static void processes(void)
{
	check(!pipe(orders[order_count++]) && !pipe(orders[order_count++]));
	if (fork() == 0)
		family();
	wait_for(order_count);
	for (write_to(STDOUT_FILENO, "ready\n"); turn_begins(); write_to(STDOUT_FILENO, "done\n")) {
		pid_t later = fork();

		if (later == 0) {
			later_duty();
			_exit(0);
		}
		waitpid(later, NULL, 0);
	}
}

static void *left_alone(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	for (write_to(STDOUT_FILENO, "ready\n"); turn_begins(); write_to(STDOUT_FILENO, "done\n"))
		lonely_duty();
	exit(ENDED);
}

static void leaderless(void)
{
	static pthread_t first;
	pthread_t id;

	first = pthread_self();
	check(!pthread_create(&id, NULL, left_alone, &first));
	pthread_exit(NULL);
}

static void crowd(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	pthread_t ids[CROWD];

	while (order_count < CROWD) {
		ids[order_count] = start_server(crowd_thread, order_count);
		order_count++;
	}
	write_to(STDOUT_FILENO, "ready\n");
	for (int place = 0; poll(&input, 1, 0) == 0; place = (place + 1) % CROWD) {
		close(orders[place][THERE]);
		pthread_join(ids[place], NULL);
		ids[place] = start_server(crowd_thread, place);
	}
	while (turn_begins())
		write_to(STDOUT_FILENO, "done\n");
}

int main(int argc, char **argv)
{
	static void (*const ways[])(void) = { threads, processes, leaderless, crowd };
	static const char *const names[] = { "threads", "processes", "leaderless", "crowd" };

	check(argc > 1 && !pipe(acknowledged));
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (!strcmp(argv[1], names[i]))
			ways[i]();
	return ENDED;
}
