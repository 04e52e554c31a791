/*
 * Symbol order files: the symbols of a program, one in a line, in the order in which a linker shall place their functions (--symbol-ordering-file of lld
 * and mold; the program must be compiled with -ffunction-sections).
 *
 *     main
 *     read_db
 *     add_record
 *
 * Page faults list the functions in the order in which they first had one: functions that a program needs one after the other then share pages.
 * Other resources list them by decreasing hits, so that the hot ones share pages and cache lines. A function that was inlined everywhere has no
 * symbol; its hits are those of the function that contains it.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/format.h"

struct symbol {
	const char *name;
	uint64_t hits, first_ns;
};

struct order {
	const struct call_paths *paths;
	const char *module;     /* the end of its path; NULL: any */
	struct symbol *symbols; /* [paths->frame_count], by frame; without hits: not executed */
};

/* Returns the function whose code executes at the end of a path: the innermost frame that is not inlined; PROFILE_NONE: none. */
static uint32_t executed_frame(const struct call_paths *paths, uint32_t path)
{
	while (path != 0 && paths->frames[paths->frame[path]].inlined)
		path = paths->parent[path];
	return path == 0 ? PROFILE_NONE : paths->frame[path];
}

static bool ends_with(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* Returns the module of `main`, or NULL if no path has one. */
static const char *program_of(const struct call_paths *paths)
{
	for (size_t i = 0; i < paths->frame_count; i++)
		if (strcmp(paths->frames[i].function, "main") == 0)
			return paths->frames[i].module;
	return NULL;
}

static void add_hits(struct order *order, const struct path_hit *hits, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t number = executed_frame(order->paths, hits[i].path);
		const struct path_frame *frame = number == PROFILE_NONE ? NULL : &order->paths->frames[number];
		if (!frame || !frame->linkage[0] || (order->module && !ends_with(frame->module, order->module)))
			continue;
		struct symbol *symbol = &order->symbols[number];
		if (symbol->hits == 0 || hits[i].time_ns < symbol->first_ns)
			symbol->first_ns = hits[i].time_ns;
		symbol->name = frame->linkage;
		symbol->hits += hits[i].count;
	}
}

static int by_name(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	return strcmp(a->name, b->name);
}

static int by_hits(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	return a->hits != b->hits ? (a->hits < b->hits ? 1 : -1) : strcmp(a->name, b->name);
}

static int by_time(const void *left, const void *right)
{
	const struct symbol *a = left, *b = right;
	return a->first_ns != b->first_ns ? (a->first_ns < b->first_ns ? -1 : 1) : by_hits(left, right);
}

/* Adds up the frames of one symbol, which differ in their lines. Returns the number of symbols. */
static size_t merge(struct symbol *symbols, size_t count)
{
	size_t kept = 0, executed = 0;
	for (size_t i = 0; i < count; i++)
		if (symbols[i].hits > 0)
			symbols[executed++] = symbols[i];
	qsort(symbols, executed, sizeof(*symbols), by_name);
	for (size_t i = 0; i < executed; i++) {
		struct symbol *last = kept > 0 ? &symbols[kept - 1] : NULL;
		if (!last || strcmp(last->name, symbols[i].name) != 0) {
			symbols[kept++] = symbols[i];
			continue;
		}
		last->hits += symbols[i].hits;
		if (symbols[i].first_ns < last->first_ns)
			last->first_ns = symbols[i].first_ns;
	}
	return kept;
}

static bool is_faults(const struct profile *profile, uint32_t resource)
{
	return ends_with(profile_string(profile, profile->resources[resource].name), "-faults");
}

static int symbol_order_export(const struct format_input *input, struct sink *out, struct error *error)
{
	const struct call_paths *paths = input->paths;
	struct order order = { .paths = paths, .module = input->object ? input->object : program_of(paths) };
	size_t hit_count = 0;
	struct path_hit *hits = call_paths_hits(paths, &hit_count);
	order.symbols = calloc(paths->frame_count + 1, sizeof(*order.symbols));
	int status = 0;
	if (!hits || !order.symbols) {
		status = error_memory(error);
	} else {
		add_hits(&order, hits, hit_count);
		size_t count = merge(order.symbols, paths->frame_count);
		qsort(order.symbols, count, sizeof(*order.symbols),
		      is_faults(paths->profile, paths->first_resource) ? by_time : by_hits);
		for (size_t i = 0; i < count; i++)
			sink_printf(out, "%s\n", order.symbols[i].name);
		if (count == 0)
			status = error_set(error, ERROR_NOT_FOUND,
					   "cannot export: no function of '%s' that has a symbol was sampled",
					   order.module ? order.module : "the profile");
	}
	free(order.symbols);
	free(hits);
	return status;
}

const struct format format_symbol_order = {
	.name = "symbol-order",
	.title = "symbol order file",
	.ending = "order",
	.summary =
		"the program's functions in the order of their first page faults, or of their hits, for lld and mold",
	.options = FORMAT_RESOURCE | FORMAT_OBJECT | FORMAT_SELECTION,
	.paths = FORMAT_BY_LINE,
	.export = symbol_order_export,
};
