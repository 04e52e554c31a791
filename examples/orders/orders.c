/*
 * A shop that takes orders of three tenants. It reports to its profiler what it counts and for
 * which tenant it works:
 *
 *     cpprof record -r own:orders/100 -r own:bytes-sent -r cpu build/examples/orders
 *     cpprof report --up take_order
 *     cpprof report --by-label tenant
 *
 * Without a recorder its behaviour and, within measurement error, its run time are the same.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cpprof/runtime.h>

#define NOT_INLINED __attribute__((noinline))

struct tenant {
	const char *name;
	unsigned orders;   /* of ten requests; the others look at the catalogue */
	unsigned articles; /* of an order */
};

static const struct tenant tenants[] = { { "acme", 7, 3 }, { "initech", 2, 12 }, { "umbrella", 1, 40 } };

enum { TENANTS = sizeof(tenants) / sizeof(tenants[0]), REQUESTS = 10, PAGE_BYTES = 4096, RECEIPT_BYTES = 512 };

static cpprof_counter *orders;
static cpprof_counter *bytes_sent;
static uint64_t checksum; /* printed nowhere, but used, so that the compiler removes no work */

static void send_answer(unsigned bytes)
{
	cpprof_tick(bytes_sent, bytes);
}

NOT_INLINED static void price_article(unsigned article)
{
	uint64_t price = article;
	for (int i = 0; i < 2000; i++)
		price = price * 6364136223846793005U + 1442695040888963407U;
	checksum += price;
}

NOT_INLINED static void take_order(const struct tenant *tenant)
{
	for (unsigned i = 0; i < tenant->articles; i++)
		price_article(i);
	cpprof_tick(orders, 1);
	send_answer(RECEIPT_BYTES);
}

NOT_INLINED static void show_catalogue(void)
{
	price_article(0);
	send_answer(PAGE_BYTES);
}

NOT_INLINED static void serve(const struct tenant *tenant, unsigned request)
{
	int is_order = request < tenant->orders;
	cpprof_label("tenant", tenant->name);
	cpprof_label("request", is_order ? "order" : "catalogue");
	if (is_order)
		take_order(tenant);
	else
		show_catalogue();
}

int main(int argc, char **argv)
{
	long rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 2000;
	orders = cpprof_resource("orders", "order");
	bytes_sent = cpprof_resource("bytes-sent", "byte");
	for (long round = 0; round < rounds; round++)
		for (unsigned request = 0; request < REQUESTS; request++)
			for (unsigned i = 0; i < TENANTS; i++)
				serve(&tenants[i], request);
	printf("%ld orders\n", rounds * (7 + 2 + 1));
	return checksum == 0; /* never */
}
