/* Sets a new label for each request, which is not the purpose of labels; and sets labels of the maximum length. */
#include <stdio.h>
#include <string.h>

#include <cpprof/runtime.h>

enum { REQUESTS = 50000 };

int main(void)
{
	cpprof_counter *orders = cpprof_resource("orders", "order");
	char text[512];
	int refused = 0;
	for (int i = 0; i < REQUESTS; i++) {
		snprintf(text, sizeof(text), "request-%d", i);
		refused += cpprof_label("request", text) < 0;
		cpprof_tick(orders, 1);
	}
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (int i = 0; i < 2 * CPPROF_LABEL_KEYS; i++) {
		char key[16];
		snprintf(key, sizeof(key), "key%d", i);
		cpprof_label(key, text);
		cpprof_tick(orders, 1);
	}
	printf("refused %d ticks %d\n", refused, REQUESTS + 2 * CPPROF_LABEL_KEYS);
	return 0;
}
