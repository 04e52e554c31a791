#include "formats/context_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/error.h"

static int compare_contexts(const void *left, const void *right, void *context)
{
	const struct source_counts *counts = context;
	const struct source_context *a = &counts->contexts[*(const uint32_t *)left];
	const struct source_context *b = &counts->contexts[*(const uint32_t *)right];
	/* PROFILE_NONE first */
	return COMPARE(a->parent + 1, b->parent + 1) ?:
	       (a->parent == PROFILE_NONE ? COMPARE(b->total, a->total) : 0) ?:
	       COMPARE(a->call.offset, b->call.offset) ?: COMPARE(a->call.discriminator, b->call.discriminator) ?:
	       strcmp(counts->functions[a->function].name, counts->functions[b->function].name);
}

static int sort(struct context_order *order, const struct source_counts *counts)
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

int context_order_make(struct context_order *order, const struct format_input *input, enum source_nesting nesting,
		       const char *options, struct error *error)
{
	*order = (struct context_order){ .counts = source_counts_new(input->profile, input->view.resource, nesting,
								     error) };
	if (!order->counts)
		return error->code;
	if (order->counts->line_count == 0)
		return error_set(error, ERROR_NOT_FOUND,
				 "cannot export: the profile has no hits in code with line numbers and linkage names "
				 "(build with %s, and record again)",
				 options);
	return sort(order, order->counts);
}

void context_order_release(struct context_order *order)
{
	source_counts_free(order->counts);
	free(order->contexts);
	free(order->first_child);
	free(order->first_line);
	free(order->first_call);
	*order = (struct context_order){ 0 };
}
