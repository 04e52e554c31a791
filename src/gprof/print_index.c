/* The index of the call graph: the number of each function's entry, by name, in three columns. */
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "gprof/print.h"

enum { COLUMNS = 3, NUMBER_WIDTH = 5, TRADITIONAL_WIDTH = 19 };

struct index_page {
	struct gprof_report *report;
	const struct graph *graph;
	int position; /* in the line */
};

static int compare_names(const void *one, const void *other, void *context)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
	return strcmp(graph_name(context, a), graph_name(context, b)) ?: COMPARE(a, b);
}

static void print_traditional(struct index_page *page, uint32_t number, const char *index)
{
	char name[TRADITIONAL_WIDTH + 1];
	if (graph_is_cycle(page->graph, number))
		snprintf(name, sizeof(name), "<cycle %u>", graph_cycle_number(page->graph, number));
	else
		snprintf(name, sizeof(name), "%s", graph_name(page->graph, number));
	fprintf(page->report->out, "%6.6s ", index);
	print_text(page->report, name);
	fprintf(page->report->out, "%*s", TRADITIONAL_WIDTH - (int)strlen(name), "");
}

static int print_name_of(struct index_page *page, uint32_t number)
{
	struct gprof_report *report = page->report;
	if (graph_is_cycle(page->graph, number))
		return fprintf(report->out, "<cycle %u>", graph_cycle_number(page->graph, number));
	int width = print_name_alone(report, number);
	const struct image_symbol *symbol = page->graph->image ? &page->graph->image->symbols[number] : NULL;
	if (symbol && symbol->is_static && symbol->file && !report->options->by_line) {
		const char *file = print_source_name(report, symbol->file);
		fputs(" (", report->out);
		print_text(report, file);
		fputc(')', report->out);
		width += (int)strlen(file) + 3;
	}
	return width;
}

/* Begins at `column`, or further right after a long name. */
static void print_item(struct index_page *page, uint32_t number, int column)
{
	const struct graph_node *node = &page->graph->nodes[number];
	char index[16];
	snprintf(index, sizeof(index), node->is_printed ? "[%u]" : "(%u)", node->index);
	if (page->report->options->traditional) {
		print_traditional(page, number, index);
		return;
	}
	page->position += (int)strlen(index);
	int space = column + NUMBER_WIDTH - page->position;
	space = space > 0 ? space : 0;
	page->position += space;
	fprintf(page->report->out, "%*s %s ", space, "", index);
	page->position += print_name_of(page, number);
}

int print_index(struct gprof_report *report, struct error *error)
{
	const struct graph *graph = report->graph;
	uint32_t *names = malloc((graph->function_count + graph->cycle_count + 1) * sizeof(*names));
	size_t count = 0;
	if (!names)
		return error_memory(error);
	for (uint32_t i = 0; i < graph->function_count; i++)
		if (!print_is_unused(report, i))
			names[count++] = i;
	qsort_r(names, count, sizeof(*names), compare_names, (void *)graph);
	for (size_t i = 0; i < graph->cycle_count; i++)
		names[count++] = (uint32_t)(graph->function_count + i);
	print_page(report);
	fputs("Index by function name\n\n", report->out);
	size_t rows = (count + COLUMNS - 1) / COLUMNS;
	int width = report->options->width > 1 ? (int)(report->options->width - 1) / COLUMNS : 0;
	for (size_t row = 0; row < rows; row++) {
		struct index_page page = { .report = report, .graph = graph };
		int column = 0;
		for (size_t i = row; i < count; i += rows, column += width)
			print_item(&page, names[i], column);
		fputc('\n', report->out);
	}
	free(names);
	return 0;
}
