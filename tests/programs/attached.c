/*
 * Runs before cpprof attaches to it, and makes events in turns:
 *
 *   attached threads      in two threads, and in one more that each turn starts
 *   attached processes    in a child and a grandchild, and in one more child that each turn starts
 *   attached leaderless   in a thread of a process whose first thread has exited
 *   attached crowd        in CROWD threads, which it replaces by others all the time until the first turn
 *
 * Each makes LENGTH_US / EVENT_US events in a turn, those of the crowd a quarter of it. Prints "ready" when all of them run. A byte of standard input begins
 * a turn, and "done" ends it. Exits with 5 when the input ends.
 */
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "burn.h"

enum { LENGTH_US = 20000, CROWD = 32, ENDED = 5 };

static int acknowledged[2];

static void say(const char *line)
{
	if (write(STDOUT_FILENO, line, strlen(line)) < 0)
		exit(1);
}

static void pass(int from, int to)
{
	char byte = 1;

	if ((from >= 0 && read(from, &byte, 1) != 1) || (to >= 0 && write(to, &byte, 1) != 1))
		exit(1);
}

/* Does its duty when a byte arrives, and acknowledges this. Returns when no byte can arrive any more. */
NOINLINE static void serve(int orders, void (*duty)(void))
{
	char byte;

	pass(-1, acknowledged[1]);
	while (read(orders, &byte, 1) == 1) {
		duty();
		pass(-1, acknowledged[1]);
	}
}

#define DUTY(name, us)                  \
	NOINLINE static void name(void) \
	{                               \
		burn(us);               \
		NOT_A_TAIL_CALL();      \
	}

DUTY(first_duty, LENGTH_US)
DUTY(second_duty, LENGTH_US)
DUTY(passing_duty, LENGTH_US)
DUTY(child_duty, LENGTH_US)
DUTY(grandchild_duty, LENGTH_US)
DUTY(later_duty, LENGTH_US)
DUTY(crowd_duty, LENGTH_US / 4)
DUTY(lonely_duty, LENGTH_US)

static void *first_thread(void *orders)
{
	serve((int)(intptr_t)orders, first_duty);
	return NULL;
}

static void *second_thread(void *orders)
{
	serve((int)(intptr_t)orders, second_duty);
	return NULL;
}

static void *passing_thread(void *unused)
{
	passing_duty();
	return unused;
}

static void *crowd_thread(void *orders)
{
	serve((int)(intptr_t)orders, crowd_duty);
	close((int)(intptr_t)orders);
	return NULL;
}

static pthread_t start_thread(void *(*body)(void *), int orders)
{
	pthread_t id;

	if (pthread_create(&id, NULL, body, (void *)(intptr_t)orders))
		exit(1);
	return id;
}

/* Returns the end of a new pipe to which the orders are written, and sets *orders to the other end. */
static int new_orders(int *orders)
{
	int ends[2];

	if (pipe(ends))
		exit(1);
	*orders = ends[0];
	return ends[1];
}

static int order_ends[CROWD], order_count;

/* Begins each turn by an order to each of those that serve. Returns false when the input has ended. */
static int turn_begins(void)
{
	char byte;

	if (read(STDIN_FILENO, &byte, 1) != 1)
		return 0;
	for (int i = 0; i < order_count; i++)
		pass(-1, order_ends[i]);
	for (int i = 0; i < order_count; i++)
		pass(acknowledged[0], -1);
	return 1;
}

static void threads(void)
{
	int orders;

	order_ends[order_count++] = new_orders(&orders);
	start_thread(first_thread, orders);
	pass(acknowledged[0], -1);
	order_ends[order_count++] = new_orders(&orders);
	start_thread(second_thread, orders);
	pass(acknowledged[0], -1);
	say("ready\n");
	while (turn_begins()) {
		pthread_join(start_thread(passing_thread, 0), NULL);
		say("done\n");
	}
}

static void family(int orders, int orders_of_child)
{
	close(order_ends[0]);
	close(order_ends[1]);
	if (fork() == 0)
		serve(orders_of_child, grandchild_duty);
	else
		serve(orders, child_duty);
	_exit(0);
}

static void processes(void)
{
	int orders, orders_of_child;

	order_ends[order_count++] = new_orders(&orders);
	order_ends[order_count++] = new_orders(&orders_of_child);
	if (fork() == 0)
		family(orders, orders_of_child);
	pass(acknowledged[0], -1);
	pass(acknowledged[0], -1);
	say("ready\n");
	while (turn_begins()) {
		pid_t later = fork();

		if (later == 0) {
			later_duty();
			_exit(0);
		}
		waitpid(later, NULL, 0);
		say("done\n");
	}
}

static void *left_alone(void *first)
{
	pthread_join(*(pthread_t *)first, NULL);
	say("ready\n");
	while (turn_begins()) {
		lonely_duty();
		say("done\n");
	}
	exit(ENDED);
}

static void leaderless(void)
{
	static pthread_t first;
	pthread_t id;

	first = pthread_self();
	if (pthread_create(&id, NULL, left_alone, &first))
		exit(1);
	pthread_exit(NULL);
}

static void crowd(void)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };
	pthread_t ids[CROWD];

	for (unsigned i = 0; i <= CROWD || poll(&input, 1, 0) == 0; i++) {
		int orders, place = (int)(i % CROWD);

		if (i >= CROWD) {
			close(order_ends[place]);
			pthread_join(ids[place], NULL);
		}
		order_ends[place] = new_orders(&orders);
		ids[place] = start_thread(crowd_thread, orders);
		pass(acknowledged[0], -1);
		if (i == CROWD)
			say("ready\n");
	}
	order_count = CROWD;
	while (turn_begins())
		say("done\n");
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*run)(void);
	} ways[] = {
		{ "threads", threads }, { "processes", processes }, { "leaderless", leaderless }, { "crowd", crowd }
	};

	if (pipe(acknowledged))
		return 1;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++)
		if (argc > 1 && !strcmp(argv[1], ways[i].name)) {
			ways[i].run();
			return ENDED;
		}
	return 2;
}
