#include "gprof/counts.h"

#include <inttypes.h>

#include "gprof/executions.h"

static bool is_shown(const struct gprof_report *report, uint64_t count)
{
	return (count > 0 || report->options->all_symbols) && count >= report->options->min_count;
}

static void print_line(struct gprof_report *report, const struct image_symbol *symbol, uint64_t address, uint64_t count)
{
	fprintf(report->out, "%s:%" PRIu32 ": (%s:0x%" PRIx64 ") %" PRIu64 " executions",
		symbol->file ? symbol->file : "<unknown>", symbol->line, symbol->readable, address, count);
}

static void print_symbol(struct gprof_report *report, uint32_t number)
{
	const struct image_symbol *symbol = &report->image->symbols[number];
	const struct graph_node *node = &report->graph->nodes[number];
	if (is_shown(report, node->calls)) {
		print_line(report, symbol, symbol->start, node->calls);
		if (node->self_calls > 0 && !report->options->brief)
			fprintf(report->out, ", and %" PRIu64 " by itself", node->self_calls);
		fputc('\n', report->out);
	}
	struct executions executions = executions_of(report, number);
	for (size_t i = 0; i < executions.count; i++) {
		if (!is_shown(report, executions.blocks[i].count))
			continue;
		print_line(report, symbol, executions.blocks[i].address, executions.blocks[i].count);
		fputc('\n', report->out);
	}
}

int print_counts(struct gprof_report *report, struct error *error)
{
	if (!report->image)
		return error_set(error, ERROR_USAGE, "execution counts are of an image and its gmon.out files");
	print_page(report);
	for (uint32_t i = 0; i < report->image->symbol_count; i++)
		if (choices_allow(report->choices, CHOICE_COUNTS, i))
			print_symbol(report, i);
	return 0;
}
