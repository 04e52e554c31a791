/* Calls every function of the interface, in code that is both C and C++. Without a recorder they do nothing. */
#include <cpprof/runtime.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

static int failures;

static void expect(int holds, const char *what)
{
	if (!holds) {
		failures++;
		printf("not so: %s\n", what);
	}
}

static void check_labels(void)
{
	char key[CPPROF_LABEL_KEY_MAX + 2];
	memset(key, 'k', sizeof(key) - 1);
	key[sizeof(key) - 1] = '\0';
	expect(cpprof_label("tenant", "acme") == 0, "a label is set");
	expect(cpprof_label("tenant", NULL) == 0, "a label is removed");
	expect(cpprof_label(key, "value") <= 0, "a key is too long");
	expect(cpprof_label(NULL, NULL) <= 0, "no key at all");
}

int main(void)
{
	cpprof_counter *orders = cpprof_resource("orders", "order");
	errno = ERANGE;
	expect(orders == cpprof_resource("orders", "other"), "the same name gives the same resource");
	cpprof_tick(cpprof_resource(NULL, NULL), 1);
	cpprof_tick(orders, 1);
	cpprof_start();
	cpprof_tick(orders, sizeof(failures));
	cpprof_stop();
	expect(cpprof_is_recording() == 0, "nothing is recorded after cpprof_stop");
	cpprof_tick(orders, 0);
	cpprof_event(1, UINT64_MAX);
	check_labels();
	expect(errno == ERANGE, "errno is the program's");
	printf("flush %d\n", cpprof_flush());
	expect(errno == ERANGE, "errno is the program's after cpprof_flush");
	return failures;
}
