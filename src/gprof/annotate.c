#include "gprof/print.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/compare.h"
#include "base/hash_map.h"
#include "base/safe_text.h"
#include "gprof/executions.h"
#include "gprof/source_files.h"

/* Widths of "       #####" and of the same with " -> ". */
enum { COUNT_COLUMNS = 12, GUTTER_COLUMNS = 16 };

/* A symbol and its source line. Sorted by file, line and symbol, which are in the order of addresses. */
struct position {
	uint32_t file; /* in order of first appearance */
	uint32_t line;
	uint32_t symbol;
};

/* A line that has code, and its symbols. */
struct code_line {
	uint32_t line;
	uint32_t first, end; /* in positions */
	uint64_t calls;      /* calls of functions that begin at this line */
	uint64_t count;      /* executions; 0 also if they were not counted */
	bool is_function;
	bool is_annotated; /* a count was printed in front of it */
};

struct annotation {
	struct gprof_report *report;
	struct position *positions; /* owned; of all files */
	size_t position_count, position_capacity;
	uint32_t file_count;
	struct source_names copies;

	/* The state for one file. */
	FILE *out; /* not owned unless it is a copy */
	struct code_line *lines;
	size_t line_count, line_capacity;
	bool has_blocks;
	uint64_t *values; /* the text in front of one source line */
	size_t value_count, value_capacity;
	uint64_t last; /* -x: the last count in front of an earlier line */
	bool has_last;
};

static const struct image_symbol *symbol_of(const struct annotation *annotation, size_t position)
{
	return &annotation->report->image->symbols[annotation->positions[position].symbol];
}

/* --- symbols and lines --- */

static int by_position(const void *left, const void *right)
{
	const struct position *a = left, *b = right;
	return COMPARE(a->file, b->file) ?: COMPARE(a->line, b->line) ?: COMPARE(a->symbol, b->symbol);
}

static int collect_positions(struct annotation *annotation, struct hash_map *files)
{
	const struct gprof_report *report = annotation->report;
	for (uint32_t i = 0; i < report->image->symbol_count; i++) {
		const struct image_symbol *symbol = &report->image->symbols[i];
		if (!symbol->file || symbol->line == 0 || !choices_allow(report->choices, CHOICE_SOURCE, i))
			continue;
		/* Equal texts of the image have one address. */
		uint64_t key = (uintptr_t)symbol->file;
		uint32_t file = hash_map_get(files, key);
		if (file == HASH_MAP_NONE) {
			file = annotation->file_count++;
			if (hash_map_put(files, key, file) < 0)
				return ERROR_MEMORY;
		}
		if (ARRAY_RESERVE(annotation->positions, annotation->position_capacity,
				  annotation->position_count + 1) < 0)
			return ERROR_MEMORY;
		annotation->positions[annotation->position_count++] =
			(struct position){ .file = file, .line = symbol->line, .symbol = i };
	}
	if (annotation->position_count > 0)
		qsort(annotation->positions, annotation->position_count, sizeof(*annotation->positions), by_position);
	return 0;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Returns how often the most executed block of a symbol was executed. */
static uint64_t count_of_symbol(struct annotation *annotation, uint32_t symbol)
{
	struct executions executions = executions_of(annotation->report, symbol);
	const struct gmon_block *around = executions_around(annotation->report, symbol);
	bool is_own = executions_begin(annotation->report, symbol);
	uint64_t count = around && !is_own ? around->count : 0;
	for (size_t i = 0; i < executions.count; i++)
		count = larger(count, executions.blocks[i].count);
	annotation->has_blocks |= around || executions.count > 0;
	return count;
}

static void add_position(struct annotation *annotation, struct code_line *line, size_t position)
{
	uint32_t symbol = annotation->positions[position].symbol;
	line->is_function |= symbol_of(annotation, position)->is_function;
	line->calls += annotation->report->graph->nodes[symbol].calls;
	line->count = larger(line->count, count_of_symbol(annotation, symbol));
}

/* Collects the lines of positions [first, end), which are in one file. */
static int collect_lines(struct annotation *annotation, size_t first, size_t end)
{
	annotation->line_count = 0;
	annotation->has_blocks = false;
	for (size_t i = first; i < end; i++) {
		struct code_line *last = annotation->line_count ? &annotation->lines[annotation->line_count - 1] : NULL;
		if (!last || last->line != annotation->positions[i].line) {
			if (ARRAY_RESERVE(annotation->lines, annotation->line_capacity, annotation->line_count + 1) < 0)
				return ERROR_MEMORY;
			last = &annotation->lines[annotation->line_count++];
			*last = (struct code_line){ .line = annotation->positions[i].line, .first = (uint32_t)i };
		}
		last->end = (uint32_t)i + 1;
		add_position(annotation, last, i);
	}
	/* A function without counted blocks was executed as often as it was called. Without any blocks the figures
	 * are gprof's: calls. */
	for (size_t i = 0; i < annotation->line_count; i++) {
		struct code_line *line = &annotation->lines[i];
		if (line->count < line->calls)
			line->count = line->calls;
	}
	return 0;
}

/* --- the text in front of a line --- */

static int add_value(struct annotation *annotation, uint64_t value)
{
	bool is_repeated = annotation->value_count > 0 && annotation->values[annotation->value_count - 1] == value;
	if (annotation->report->options->all_lines && is_repeated)
		return 0;
	if (ARRAY_RESERVE(annotation->values, annotation->value_capacity, annotation->value_count + 1) < 0)
		return ERROR_MEMORY;
	annotation->values[annotation->value_count++] = value;
	return 0;
}

/* -x: no block begins at this line. Adds the counts of the blocks that continue into it; if none was counted, the
 * count of the line above. */
static int add_values_around(struct annotation *annotation, const struct code_line *line)
{
	int status = 0;
	for (uint32_t i = line->first; i < line->end && status == 0; i++) {
		const struct gmon_block *around =
			executions_around(annotation->report, annotation->positions[i].symbol);
		if (around)
			status = add_value(annotation, around->count);
	}
	if (status == 0 && annotation->value_count == 0 && annotation->has_last)
		status = add_value(annotation, annotation->last);
	return status;
}

static int collect_values(struct annotation *annotation, const struct code_line *line)
{
	annotation->value_count = 0;
	/* If blocks were counted but calls were not, "never called" would be wrong. */
	bool has_calls = line->is_function && (line->calls > 0 || line->count == 0);
	int status = has_calls ? add_value(annotation, line->calls) : 0;
	for (uint32_t i = line->first; i < line->end && status == 0; i++) {
		struct executions executions = executions_of(annotation->report, annotation->positions[i].symbol);
		for (size_t j = 0; j < executions.count && status == 0; j++)
			status = add_value(annotation, executions.blocks[j].count);
	}
	if (status == 0 && annotation->value_count == 0 && line->is_function)
		status = add_value(annotation, line->count);
	if (status == 0 && annotation->value_count == 0 && annotation->report->options->all_lines)
		status = add_values_around(annotation, line);
	/* The line begins in a block that was executed, although none of its own blocks was: it is not marked as never
	 * executed. */
	if (annotation->value_count == 1 && annotation->values[0] == 0)
		annotation->values[0] = line->count;
	if (annotation->value_count > 0) {
		annotation->last = annotation->values[annotation->value_count - 1];
		annotation->has_last = true;
	}
	return status;
}

/* Appends "1000,998" or, if there is no room for all values, "1000,998,..". */
static void append_values(const struct annotation *annotation, struct buffer *text)
{
	static const char MORE[] = ",..";
	for (size_t i = 0; i < annotation->value_count; i++) {
		size_t before = text->size;
		buffer_printf(text, "%s%" PRIu64, i ? "," : "", annotation->values[i]);
		bool is_last = i + 1 == annotation->value_count;
		size_t room = COUNT_COLUMNS - (is_last ? 0 : sizeof(MORE) - 1);
		if (i == 0 || text->size <= room)
			continue;
		/* A later entry may still fit, if it is the last one. */
		size_t size = text->size;
		for (size_t j = i + 1; j < annotation->value_count && size <= COUNT_COLUMNS; j++)
			size += 1 + (size_t)snprintf(NULL, 0, "%" PRIu64, annotation->values[j]);
		if (size <= COUNT_COLUMNS)
			continue;
		text->size = before;
		buffer_append_string(text, MORE);
		return;
	}
}

static int print_gutter(struct annotation *annotation, struct code_line *line)
{
	int status = line ? collect_values(annotation, line) : 0;
	if (!line || annotation->value_count == 0) {
		fprintf(annotation->out, "%*s", GUTTER_COLUMNS, "");
		return status;
	}
	struct buffer text;
	buffer_init(&text);
	line->is_annotated = true;
	if (annotation->value_count == 1 && annotation->values[0] == 0)
		buffer_append_string(&text, "#####");
	else
		append_values(annotation, &text);
	buffer_append_byte(&text, 0);
	if (status == 0)
		status = buffer_error(&text);
	if (status == 0)
		fprintf(annotation->out, "%*s -> ", COUNT_COLUMNS, (const char *)text.bytes);
	buffer_release(&text);
	return status;
}

/* --- a file --- */

static int print_lines(struct annotation *annotation, FILE *in)
{
	char *text = NULL;
	size_t capacity = 0, next = 0;
	ssize_t length;
	int status = 0;
	const bool on_terminal = is_terminal(annotation->out);
	annotation->has_last = false;
	for (uint32_t number = 1; status == 0 && (length = getline(&text, &capacity, in)) >= 0; number++) {
		struct code_line *line = next < annotation->line_count ? &annotation->lines[next] : NULL;
		bool has_code = line && line->line == number;
		next += has_code;
		status = print_gutter(annotation, has_code ? line : NULL);
		if (on_terminal)
			safe_text_write(annotation->out, text, (size_t)length, "\t\n\f\r");
		else
			fwrite(text, 1, (size_t)length, annotation->out);
	}
	free(text);
	return status;
}

static int by_count(const void *left, const void *right)
{
	const struct code_line *a = left, *b = right;
	return COMPARE(b->count, a->count) ?: COMPARE(a->line, b->line);
}

/* Prints the lines with the largest counts. Changes the order of the lines. */
static void print_top(struct annotation *annotation)
{
	unsigned length = annotation->report->options->table_length;
	if (length == 0)
		return;
	fprintf(annotation->out, "\n\nTop %u Lines:\n\n     Line      Count\n\n", length);
	qsort(annotation->lines, annotation->line_count, sizeof(*annotation->lines), by_count);
	for (size_t i = 0; i < annotation->line_count && i < length && annotation->lines[i].count > 0; i++)
		fprintf(annotation->out, "%9" PRIu32 " %10" PRIu64 "\n", annotation->lines[i].line,
			annotation->lines[i].count);
}

static void print_summary(const struct annotation *annotation)
{
	size_t executed = 0;
	uint64_t total = 0;
	for (size_t i = 0; i < annotation->line_count; i++) {
		const struct code_line *line = &annotation->lines[i];
		executed += annotation->has_blocks ? line->count > 0 : line->is_annotated;
		total += line->count;
	}
	double lines = (double)annotation->line_count;
	fprintf(annotation->out, "\nExecution Summary:\n\n");
	fprintf(annotation->out, "%9zu   Executable lines in this file\n", annotation->line_count);
	fprintf(annotation->out, "%9zu   Lines executed\n", executed);
	fprintf(annotation->out, "%9.2f   Percent of the file executed\n", 100 * (double)executed / lines);
	fprintf(annotation->out, "\n%9" PRIu64 "   Total number of line executions\n", total);
	fprintf(annotation->out, "%9.2f   Average executions per line\n", (double)total / lines);
}

static bool is_unused(const struct annotation *annotation)
{
	for (size_t i = 0; i < annotation->line_count; i++)
		if (annotation->lines[i].count > 0)
			return false;
	return true;
}

static int print_copy(struct annotation *annotation, FILE *in, const char *path, struct error *error)
{
	struct text_output copy;
	int status = source_file_create_copy(&annotation->copies, path, &copy, error);
	if (status < 0)
		return status;
	annotation->out = copy.stream;
	status = print_lines(annotation, in);
	print_top(annotation);
	print_summary(annotation);
	if (status == 0)
		return text_output_commit(&copy, error);
	text_output_discard(&copy);
	return status;
}

/* Places [first, end) are in one file. */
static int print_file(struct annotation *annotation, size_t first, size_t end, bool is_first, struct error *error)
{
	const struct print_options *options = annotation->report->options;
	int status = collect_lines(annotation, first, end);
	if (status < 0 || (is_unused(annotation) && !options->all_symbols))
		return status;
	const char *path = symbol_of(annotation, first)->file;
	const struct image *image = annotation->report->image;
	struct path_users users;
	source_file_users(&users, image);
	FILE *in = source_file_open(path, options->folders, &users);
	int why = errno;
	if (in && options->separate_files) {
		status = print_copy(annotation, in, path, error);
		fclose(in);
		return status;
	}
	annotation->out = annotation->report->out;
	if (is_first)
		print_page(annotation->report);
	fputs(is_first ? "*** File " : "\n\f\n*** File ", annotation->out);
	print_text(annotation->report, path);
	fputc(':', annotation->out);
	if (!in) {
		fprintf(annotation->out, " %s; %s\n", strerror(why),
			why == EACCES ? "you and the owner of the program must be permitted to read it"
				      : "-I names a folder that it is in");
		return 0;
	}
	fputc('\n', annotation->out);
	status = print_lines(annotation, in);
	print_top(annotation);
	print_summary(annotation);
	fclose(in);
	return status;
}

/* Prints the last file first, as gprof does. */
static int print_files(struct annotation *annotation, struct error *error)
{
	int status = 0;
	bool is_first = true;
	for (size_t end = annotation->position_count; end > 0 && status == 0;) {
		size_t first = end - 1;
		while (first > 0 && annotation->positions[first - 1].file == annotation->positions[end - 1].file)
			first--;
		annotation->out = NULL;
		status = print_file(annotation, first, end, is_first, error);
		is_first &= annotation->out == NULL;
		end = first;
	}
	return status;
}

int print_source(struct gprof_report *report, struct error *error)
{
	if (!report->image)
		return error_set(error, ERROR_USAGE,
				 "cannot annotate source: that needs a program and its gmon.out files (cpprof gprof "
				 "./a.out gmon.out)");
	struct annotation annotation = { .report = report };
	struct hash_map files;
	hash_map_init(&files);
	int status = collect_positions(&annotation, &files);
	if (status == 0)
		status = print_files(&annotation, error);
	if (status == ERROR_MEMORY)
		error_memory(error);
	hash_map_release(&files);
	source_names_release(&annotation.copies);
	free(annotation.positions);
	free(annotation.lines);
	free(annotation.values);
	return status;
}
