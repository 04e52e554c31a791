/* Reports that list functions, modules or groups, or call paths. */
#include <inttypes.h>
#include <string.h>

#include "render/emit.h"
#include "render/names.h"
#include "reports/report.h"

/* Returns the name of an entry for the format line of the heading. */
static const char *designator(const struct view *view, bool bare)
{
	static const struct {
		const char *bare, *path;
	} names[] = {
		[VIEW_FUNCTION] = { "function_name", "(call_path)" },
		[VIEW_CALLSITE] = { "function@call_site", "(call_site_path)" },
		[VIEW_LINE] = { "function:line", "(line_path)" },
		[VIEW_MODULE] = { "module", "(module_path)" },
		[VIEW_GROUP] = { "group", "(group_path)" },
	};
	return bare ? names[view->options.by].bare : names[view->options.by].path;
}

/* Entries are sorted, so those that reach the threshold come first. With zeros, all are shown. */
static size_t count_reaching(const struct view *view, const struct path_list *list, double threshold)
{
	size_t reaching = view->options.zeros ? list->count : 0;
	while (reaching < list->count && fraction_of(list->entries[reaching].hits, view->total) >= threshold)
		reaching++;
	return reaching;
}

/* Whether a path is part of a longer one with as many hits, among the `shown` first, and that one is on the screen in its place. Entries
 * with equal hits are neighbours. */
static bool is_folded(const struct result *result, size_t index, size_t shown)
{
	const struct path_list *list = result->paths;
	const struct path_entry *entry = &list->entries[index];
	size_t first = index;
	if (result->type == &result_names)
		return false;
	while (first > 0 && list->entries[first - 1].hits == entry->hits)
		first--;
	for (size_t i = first; i < shown && list->entries[i].hits == entry->hits; i++)
		if (path_extends(list, &list->entries[i], entry))
			return true;
	return false;
}

/* Prints the path between its figures: "0.2700 ±0.0100 (main parse) [27]". */
static void print_entry(struct name_printer *names, const struct result *result, size_t index,
			const struct render_options *options)
{
	enum { FRACTION_WIDTH = 6, ERROR_WIDTH = 8, BRACKETS_WIDTH = 4, HITS_BYTES = 32 };
	const struct path_entry *entry = &result->paths->entries[index];
	bool bare = result->type == &result_names;
	char hits[HITS_BYTES];
	snprintf(hits, sizeof(hits), "[%" PRIu64 "]", entry->hits);
	fraction_print(names->out, result->view, entry->hits, options);
	row_error_print(names->out, result, index);
	fputs(bare ? " " : " (", names->out);
	path_print(names, path_labels(result->paths, entry), entry->length, " ",
		   name_room(names,
			     FRACTION_WIDTH + (has_errors(result) ? ERROR_WIDTH : 0) + BRACKETS_WIDTH + strlen(hits)));
	fputs(bare ? " " : ") ", names->out);
	paint_on(names->out, PAINT_DIM, options);
	fputs(hits, names->out);
	paint_off(names->out, options);
	fputc('\n', names->out);
}

static void print_text(struct render_document *document, const struct result *result)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct path_list *list = result->paths;
	bool bare = result->type == &result_names;
	char format[96];
	snprintf(format, sizeof(format), "usage_fraction %s%s [#%s]", has_errors(result) ? "±error " : "",
		 designator(view, bare), raw_name(view));
	heading_print(out, result, format, options);
	if (rootless_print(out, view, result->root, list->count > 0))
		return;
	size_t reaching = count_reaching(view, list, options->threshold);
	size_t shown = shown_entries(reaching, options);
	struct name_printer names;
	size_t folded = 0;
	name_printer_init(&names, out, view, options);
	for (size_t i = 0; i < shown; i++) {
		if (options->columns > 0 && is_folded(result, i, shown))
			folded++;
		else
			print_entry(&names, result, i, options);
	}
	name_printer_release(&names);
	left_out_print(out, list->count, reaching, shown, options);
	folded_print(out, folded, "paths are part of a longer one with as many hits", options);
}

static void print_table(struct render_document *document, const struct result *result)
{
	const struct view *view = result->view;
	const struct path_list *list = result->paths;
	const struct render_options *options = &document->options;
	struct sheet sheet;
	sheet_open(&sheet, document, result, "resource,path,fraction,error,hits");
	size_t shown = shown_entries(count_reaching(view, list, options->threshold), options);
	for (size_t i = 0; i < shown; i++) {
		const struct path_entry *entry = &list->entries[i];
		sheet_row(&sheet);
		sheet_path(&sheet, "path", view, path_labels(list, entry), entry->length);
		sheet_share(&sheet, result, i, entry->hits);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, list->count - shown);
}

const struct result_type result_names = {
	.text = print_text,
	.table = print_table,
};

const struct result_type result_paths = {
	.text = print_text,
	.table = print_table,
};

static int build_functions(const struct report_request *request, const struct label_set *roots, struct result *result,
			   struct error *error)
{
	(void)request, (void)roots;
	result->paths = analyze_functions(result->view, error);
	return result->paths ? 0 : error->code;
}

const struct report report_functions = {
	.name = "functions",
	.letter = 'f',
	.help = "Each function with what it calls",
	.summary = "each function with what it calls",
	.parts = { { "Function Profile", &result_names, build_functions } },
};

static int build_body(const struct report_request *request, const struct label_set *roots, struct result *result,
		      struct error *error)
{
	(void)request, (void)roots;
	result->paths = analyze_body(result->view, error);
	return result->paths ? 0 : error->code;
}

const struct report report_body = {
	.name = "body",
	.letter = 'b',
	.help = "Each function without what it calls",
	.summary = "each function without what it calls",
	.parts = { { "Body Profile", &result_names, build_body } },
};

static int build_down(const struct report_request *request, const struct label_set *roots, struct result *result,
		      struct error *error)
{
	(void)request;
	result->paths = analyze_down(result->view, roots, error);
	return result->paths ? 0 : error->code;
}

const struct report report_down = {
	.name = "down",
	.letter = 'd',
	.argument = REPORT_TAKES_FUNCTION,
	.help = "The call paths that start at function FN, outermost first",
	.summary = "the call paths that start at a function",
	.detail = "The function's name is the rest of the line: 'down ns::f(int, char)'. Enough of\n"
		  "it to be unique will do: 'f', 'ns::f'. '#2' is the second of the last list.\n",
	.parts = { { "Downward Call Path Profile", &result_paths, build_down } },
};

static int build_up(const struct report_request *request, const struct label_set *roots, struct result *result,
		    struct error *error)
{
	(void)request;
	result->paths = analyze_up(result->view, roots, error);
	return result->paths ? 0 : error->code;
}

const struct report report_up = {
	.name = "up",
	.letter = 'u',
	.argument = REPORT_TAKES_FUNCTION,
	.help = "The call paths that end at function FN",
	.summary = "the call paths that end at a function",
	.detail = "Names are as for 'down'.\n",
	.parts = { { "Upward Call Path Profile", &result_paths, build_up } },
};

const struct report report_modules = {
	.name = "modules",
	.help = "Each program and library, with what it calls and without",
	.summary = "each program and library, with what it calls and without",
	.refuses = { { SETTING_BY, "it shows modules" } },
	.fixes_by = true,
	.by = VIEW_MODULE,
	.parts = { { "Module Profile", &result_names, build_functions },
		   { "Module Body Profile", &result_names, build_body } },
};

static int check_groups(const struct profile *profile, struct error *error)
{
	for (size_t i = 0; i < profile->function_count; i++)
		if (profile_string(profile, profile->functions[i].group)[0])
			return 0;
	return error_set(
		error, ERROR_NOT_FOUND,
		"no function of this profile belongs to a group (the source declares groups: docs/instrumented.md)");
}

const struct report report_groups = {
	.name = "groups",
	.help = "Each group of functions that the source declares, with what it calls and without",
	.summary = "each group of functions, with what it calls and without",
	.refuses = { { SETTING_BY | REPORT_GROUP, "it shows all groups" } },
	.fixes_by = true,
	.by = VIEW_GROUP,
	.check = check_groups,
	.parts = { { "Group Profile", &result_names, build_functions },
		   { "Group Body Profile", &result_names, build_body } },
};
