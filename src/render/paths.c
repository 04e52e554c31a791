/* Function, body, downward and upward profiles. */
#include <inttypes.h>

#include "render/emit.h"

/* What one name of the list stands for, in the heading's format line. */
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

/* Entries come sorted, so those that reach the threshold stand first. */
static size_t count_reaching(const struct view *view, const struct path_list *list, double threshold)
{
	size_t reaching = 0;
	while (reaching < list->count && fraction_of(list->entries[reaching].hits, view->total) >= threshold)
		reaching++;
	return reaching;
}

/* `root` NULL: a list of bare names. */
static void print_text(FILE *out, const char *heading, const char *root, const struct view *view,
		       const struct path_list *list, const struct render_options *options)
{
	bool bare = !root;
	char format[96];
	snprintf(format, sizeof(format), "usage_fraction %s%s [#%s]",
		 view->resource->kind == RESOURCE_EXACT ? "" : "±error ", designator(view, bare), raw_name(view));
	heading_print(out, heading, view, format, options);
	if (rootless_print(out, view, root, list->count > 0))
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

static void print_table(FILE *out, const char *heading, const struct view *view, const struct path_list *list,
			const struct render_options *options)
{
	const char *resource = profile_string(view->profile, view->resource->name);
	struct sheet sheet;
	sheet_open(&sheet, out, heading, view, "resource,path,fraction,error,hits", options);
	size_t shown = shown_entries(count_reaching(view, list, options->threshold), options);
	for (size_t i = 0; i < shown; i++) {
		const struct path_entry *entry = &list->entries[i];
		sheet_row(&sheet);
		if (!sheet.json)
			sheet_text(&sheet, "resource", resource);
		sheet_path(&sheet, "path", view, path_labels(list, entry), entry->length);
		sheet_number(&sheet, "fraction", fraction_of(entry->hits, view->total));
		sheet_number(&sheet, "error", analyze_error(entry->hits, view->total, view->samples));
		sheet_count(&sheet, "hits", entry->hits);
		sheet_row_end(&sheet);
	}
	sheet_close(&sheet, list->count - shown);
}

void render_names(FILE *out, const char *heading, const struct view *view, const struct path_list *list,
		  const struct render_options *options)
{
	if (options->format == RENDER_TEXT)
		print_text(out, heading, NULL, view, list, options);
	else
		print_table(out, heading, view, list, options);
}

void render_paths(FILE *out, const char *heading, const char *root, const struct view *view,
		  const struct path_list *list, const struct render_options *options)
{
	if (options->format == RENDER_TEXT)
		print_text(out, heading, root, view, list, options);
	else
		print_table(out, heading, view, list, options);
}
