/* Parts that the reports share: pages, names of functions, and granularity. */
#include <math.h>
#include <string.h>

#include "base/path.h"
#include "base/plural.h"
#include "base/safe_text.h"
#include "base/utf8.h"
#include "gprof/print.h"

enum { NAME_MAX_BYTES = 4096 };

void print_page(struct gprof_report *report)
{
	if (report->has_output)
		fputs("\f\n", report->out);
	report->has_output = true;
}

bool print_is_unused(const struct gprof_report *report, uint32_t node)
{
	const struct graph_node *function = &report->graph->nodes[node];
	return !report->options->all_symbols && function->calls == 0 && function->time == 0;
}

const char *print_source_name(const struct gprof_report *report, const char *path)
{
	return report->options->full_paths ? path : path_basename(path);
}

/* Writes the printed name of a function, cut to `size` bytes. Returns its whole length. */
static int format_name(const struct gprof_report *report, uint32_t node, char *text, size_t size)
{
	const struct print_options *options = report->options;
	if (!report->graph->image)
		return snprintf(text, size, "%s", graph_name(report->graph, node));
	const struct image_symbol *symbol = &report->graph->image->symbols[node];
	const char *name = options->traditional ? symbol->name : symbol->readable;
	if (symbol->file && options->by_line)
		return snprintf(text, size, "%s (%s:%u @ %llx)", name, print_source_name(report, symbol->file),
				symbol->line, (unsigned long long)symbol->start);
	if (symbol->file && options->inline_files)
		return snprintf(text, size, "%s (%s:%u)", name, print_source_name(report, symbol->file), symbol->line);
	return snprintf(text, size, "%s", name);
}

int print_name_width(const struct gprof_report *report, uint32_t node)
{
	return format_name(report, node, NULL, 0);
}

/* Replaces each character that is not safe for a terminal. Other bytes, such as the bytes of
 * Latin-1, are printed as gprof prints them. */
void print_text(struct gprof_report *report, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	for (size_t length; *at; at += length) {
		length = utf8_sequence(at);
		bool is_refused = length > 0 && safe_text_refuses(utf8_point(at, length));
		length = length ? length : 1;
		fwrite(is_refused ? "?" : (const char *)at, 1, is_refused ? 1 : length, report->out);
	}
}

int print_name_alone(struct gprof_report *report, uint32_t node)
{
	char text[NAME_MAX_BYTES];
	int width = format_name(report, node, text, sizeof(text));
	print_text(report, text);
	return width < (int)sizeof(text) ? width : (int)sizeof(text) - 1;
}

void print_name(struct gprof_report *report, uint32_t number)
{
	const struct graph *graph = report->graph;
	const struct graph_node *node = &graph->nodes[number];
	if (graph_is_cycle(graph, number)) {
		fprintf(report->out, "<cycle %u as a whole> [%u]", graph_cycle_number(graph, number), node->index);
		return;
	}
	print_name_alone(report, number);
	if (node->cycle != GRAPH_NONE)
		fprintf(report->out, " <cycle %u>", graph_cycle_number(graph, number));
	if (node->index) /* without a call graph there is no index */
		fprintf(report->out, node->is_printed ? " [%u]" : " (%u)", node->index);
}

/* Prints an amount of the graph's dimension: "0.01 seconds", "1 fault", "50 faults". `format` is for amounts that are
 * not whole, and for seconds. */
static void print_amount(struct gprof_report *report, double amount, const char *format)
{
	enum { DIGITS_MAX = 400 };
	const char *unit = report->graph->dimension;
	bool is_time = strcmp(unit, "seconds") == 0;
	bool is_whole = !is_time && fabs(amount - round(amount)) < 0.005;
	char digits[DIGITS_MAX];
	snprintf(digits, sizeof(digits), is_whole ? "%.0f" : format, amount);
	fprintf(report->out, "%s %s%s", digits, unit,
		is_time ? "" : plural_ending(unit, is_whole ? round(amount) : amount));
}

void print_granularity(struct gprof_report *report, double samples, double seconds, const char *what)
{
	const struct graph *graph = report->graph;
	if (graph->bin_units <= 0) {
		fputs("\ngranularity: each sample stands for ", report->out);
		print_amount(report, graph->rate > 0 ? 1 / graph->rate : 0, "%g");
		fputs(", all for ", report->out);
		print_amount(report, seconds, "%.2f");
		fputs("\n\n", report->out);
		return;
	}
	/* gprof prints "seconds" for any other dimension of the file. */
	const char *unit = strcmp(graph->dimension, "samples") == 0 ? graph->dimension : "seconds";
	fprintf(report->out, "\ngranularity: each sample hit covers %ld byte(s)",
		(long)graph->bin_units * GMON_UNIT_BYTES);
	if (samples > 0)
		fprintf(report->out, " for %.2f%% of %.2f %s\n\n", 100 / samples, seconds, unit);
	else
		fprintf(report->out, " no time %s\n\n", what);
}
