#include "formats/context_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int compare_contexts(const void *left, const void *right, void *context)
{
	const struct source_counts *counts = context;
	const struct source_context *a = &counts->contexts[*(const uint32_t *)left];
	const struct source_context *b = &counts->contexts[*(const uint32_t *)right];
	if (a->parent != b->parent)
		return a->parent + 1 < b->parent + 1 ? -1 : 1; /* PROFILE_NONE first */
	if (a->parent == PROFILE_NONE && a->total != b->total)
		return a->total > b->total ? -1 : 1;
	if (a->call.offset != b->call.offset)
		return a->call.offset < b->call.offset ? -1 : 1;
	if (a->call.discriminator != b->call.discriminator)
		return a->call.discriminator < b->call.discriminator ? -1 : 1;
	return strcmp(counts->functions[a->function].name, counts->functions[b->function].name);
}

int context_order_make(struct context_order *order, const struct source_counts *counts)
{
	size_t count = counts->context_count, line = 0, call = 0, child = 0;
	order->contexts = malloc((count + 1) * sizeof(*order->contexts));
	order->first_child = calloc(count + 1, sizeof(*order->first_child));
	order->first_line = calloc(count + 1, sizeof(*order->first_line));
	order->first_call = calloc(count + 1, sizeof(*order->first_call));
	if (!order->contexts || !order->first_child || !order->first_line || !order->first_call)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++)
		order->contexts[i] = (uint32_t)i;
	qsort_r(order->contexts, count, sizeof(*order->contexts), compare_contexts, (void *)counts);
	while (child < count && counts->contexts[order->contexts[child]].parent == PROFILE_NONE)
		child++;
	for (size_t i = 0; i <= count; i++) {
		while (line < counts->line_count && counts->lines[line].context < i)
			line++;
		while (call < counts->call_count && counts->calls[call].context < i)
			call++;
		while (child < count && counts->contexts[order->contexts[child]].parent < i)
			child++;
		order->first_line[i] = line;
		order->first_call[i] = call;
		order->first_child[i] = child;
	}
	return 0;
}

void context_order_release(struct context_order *order)
{
	free(order->contexts);
	free(order->first_child);
	free(order->first_line);
	free(order->first_call);
	*order = (struct context_order){ 0 };
}
