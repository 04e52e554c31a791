#include "gprof/print.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "gprof/executions.h"

static bool is_shown(const struct gprof_report *report, uint64_t count)
{
	return (count > 0 || report->options->all_symbols) && count >= report->options->min_count;
}

static void print_line(struct gprof_report *report, const struct image_symbol *symbol, uint64_t address, uint64_t count)
{
	print_text(report, symbol->file ? symbol->file : "<unknown>");
	fprintf(report->out, ":%" PRIu32 ": (", symbol->line);
	print_text(report, symbol->readable);
	fprintf(report->out, ":0x%" PRIx64 ") %" PRIu64 " executions", address, count);
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

struct counted {
	uint32_t symbol;
	enum { BEFORE_FILES, IN_FILE, BEHIND_FILES } group;
	const char *file;
	uint32_t line;
};

static int by_position(const void *left, const void *right)
{
	const struct counted *a = left, *b = right;
	return COMPARE(a->group, b->group) ?: (a->group == IN_FILE ? strcmp(a->file, b->file) : 0) ?:
	       COMPARE(a->line, b->line) ?: COMPARE(a->symbol, b->symbol);
}

static size_t collect(const struct gprof_report *report, struct counted *counted)
{
	const struct image *image = report->image;
	bool has_file = false;
	size_t count = 0;
	for (uint32_t i = 0; i < image->symbol_count; i++) {
		const struct image_symbol *symbol = &image->symbols[i];
		has_file |= symbol->file != NULL;
		if (!choices_allow(report->choices, CHOICE_COUNTS, i))
			continue;
		counted[count++] = (struct counted){ .symbol = i,
						     .group = symbol->file ? IN_FILE
							      : has_file   ? BEHIND_FILES
									   : BEFORE_FILES,
						     .file = symbol->file,
						     .line = symbol->line };
	}
	return count;
}

int print_counts(struct gprof_report *report, struct error *error)
{
	if (!report->image)
		return error_set(error, ERROR_USAGE,
				 "cannot print execution counts: that needs a program and its gmon.out files (cpprof "
				 "gprof ./a.out gmon.out)");
	struct counted *counted = calloc(report->image->symbol_count + 1, sizeof(*counted));
	if (!counted)
		return error_memory(error);
	size_t count = collect(report, counted);
	qsort(counted, count, sizeof(*counted), by_position);
	print_page(report);
	for (size_t i = 0; i < count; i++)
		print_symbol(report, counted[i].symbol);
	free(counted);
	return 0;
}
