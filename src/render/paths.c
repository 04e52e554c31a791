/* Prints function, body, downward and upward profiles. */
#include <inttypes.h>

#include "render/emit.h"

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

/* Entries are sorted, so those that reach the threshold come first. */
static size_t count_reaching(const struct view *view, const struct path_list *list, double threshold)
{
	size_t reaching = 0;
	while (reaching < list->count && fraction_of(list->entries[reaching].hits, view->total) >= threshold)
		reaching++;
	return reaching;
}

static void print_text(const struct render_document *document, const struct result *result)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct path_list *list = result->paths;
	bool bare = result->type == RESULT_NAMES;
	char format[96];
	snprintf(format, sizeof(format), "usage_fraction %s%s [#%s]",
		 view->resource->kind == RESOURCE_EXACT ? "" : "±error ", designator(view, bare), raw_name(view));
	heading_print(out, result, format, options);
	if (rootless_print(out, view, result->root, list->count > 0))
		return;
	size_t reaching = count_reaching(view, list, options->threshold);
	size_t shown = shown_entries(reaching, options);
	for (size_t i = 0; i < shown; i++) {
		const struct path_entry *entry = &list->entries[i];
		fraction_print(out, view, entry->hits, options);
		fputs(bare ? " " : " (", out);
		names_print(out, view, path_labels(list, entry), entry->length, " ");
		fputs(bare ? " " : ") ", out);
		paint_on(out, PAINT_DIM, options);
		fprintf(out, "[%" PRIu64 "]", entry->hits);
		paint_off(out, options);
		fputc('\n', out);
	}
	left_out_print(out, list->count, reaching, shown, options);
}

static void print_table(const struct render_document *document, const struct result *result)
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
		if (!sheet.json)
			sheet_text(&sheet, "resource", profile_string(view->profile, view->resource->name));
		sheet_path(&sheet, "path", view, path_labels(list, entry), entry->length);
		sheet_number(&sheet, "fraction", fraction_of(entry->hits, view->total));
		sheet_number(&sheet, "error", analyze_error(entry->hits, view->total, view->independent));
		sheet_count(&sheet, "hits", entry->hits);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, list->count - shown);
}

int print_paths_result(struct render_document *document, const struct result *result, struct error *error)
{
	(void)error;
	if (document->options.format == RENDER_TEXT)
		print_text(document, result);
	else
		print_table(document, result);
	return 0;
}
