/* Prints the mappings and pages that were touched, and the paths that touched them. */
#include <inttypes.h>
#include <stdlib.h>

#include "analyze/pages.h"
#include "render/emit.h"
#include "render/names.h"
#include "reports/report.h"

/* Keeps the resources whose samples have addresses. A resource that the user named must have them. */
static int choose(struct report_request *request, struct error *error)
{
	const struct profile *profile = request->profile;
	size_t kept = 0;
	for (size_t i = 0; i < request->resource_count; i++) {
		uint32_t resource = request->resources[i];
		if (pages_are_known(profile, resource))
			request->resources[kept++] = resource;
		else if (request->resources_named)
			return error_set(error, ERROR_NOT_FOUND,
					 "no addresses were recorded with '%s' (record with -r page-faults)",
					 profile_string(profile, profile->resources[resource].name));
	}
	request->resource_count = kept;
	return kept ? 0
		    : error_set(error, ERROR_NOT_FOUND,
				"no touched addresses were recorded (record with -r page-faults)");
}

static int build(const struct report_request *request, const struct label_set *roots, struct result *result,
		 struct error *error)
{
	(void)request, (void)roots;
	result->data = analyze_pages(result->view, error);
	return result->data ? 0 : error->code;
}

/* Writes the labels on the path to a node, outermost first, to `labels` [view->depth]. Returns their number. */
static size_t path_of(const struct view *view, uint32_t node, uint32_t *labels)
{
	size_t length = 0;
	for (uint32_t at = node; at != 0; at = view->parent[at])
		length++;
	size_t index = length;
	for (uint32_t at = node; at != 0; at = view->parent[at])
		labels[--index] = view->label[at];
	return length;
}

static const char *mapping_name(const struct view *view, const struct page_mapping *mapping)
{
	const char *name = profile_string(view->profile, mapping->name);
	return name[0] ? name : "(unknown mapping)";
}

static size_t reaching_paths(const struct view *view, const struct page_list *list, const struct page_mapping *mapping,
			     double threshold)
{
	size_t count = 0;
	while (count < mapping->path_count &&
	       fraction_of(list->paths[mapping->first_path + count].hits, view->total) >= threshold)
		count++;
	return count;
}

static size_t reaching_mappings(const struct view *view, const struct page_list *list, double threshold)
{
	size_t count = 0;
	while (count < list->count && fraction_of(list->mappings[count].hits, view->total) >= threshold)
		count++;
	return count;
}

static void print_pages(FILE *out, uint64_t pages)
{
	fprintf(out, " %" PRIu64 " page%s", pages, pages == 1 ? "" : "s");
}

static void print_raw(FILE *out, uint64_t hits, const struct render_options *options)
{
	paint_on(out, PAINT_DIM, options);
	fprintf(out, " [%" PRIu64 "]", hits);
	paint_off(out, options);
}

static void print_path(struct name_printer *names, const struct page_path *path, uint32_t *labels,
		       const struct render_options *options)
{
	enum { FIGURES_WIDTH = 45 }; /* with the longest usual numbers of hits and pages */
	FILE *out = names->out;
	fputs("  ", out);
	fraction_print(out, names->view, path->hits, options);
	fputs(" (", out);
	size_t length = path_of(names->view, path->node, labels);
	path_print(names, labels, length, " ", name_room(names, FIGURES_WIDTH));
	fputc(')', out);
	print_raw(out, path->hits, options);
	print_pages(out, path->pages);
	fputc('\n', out);
}

static void print_mapping(FILE *out, const struct view *view, const struct page_mapping *mapping,
			  const struct render_options *options)
{
	fraction_print(out, view, mapping->hits, options);
	fputc(' ', out);
	render_safe_text(out, mapping_name(view, mapping));
	print_raw(out, mapping->hits, options);
	print_pages(out, mapping->pages);
	fprintf(out, ", 0x%" PRIx64 " to 0x%" PRIx64 "\n", mapping->lowest, mapping->highest);
}

static void print_text(const struct render_document *document, const struct result *result, uint32_t *labels)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct page_list *list = result->data;
	char format[96];
	snprintf(format, sizeof(format), "usage_fraction %smapping or (call_path) [#%s] pages, addresses",
		 resource_has_samples(view->resource) ? "±error " : "", raw_name(view));
	heading_print(out, result, format, options);
	if (empty_print(out, view))
		return;
	size_t reaching = reaching_mappings(view, list, options->threshold);
	size_t shown = shown_entries(reaching, options);
	size_t all = list->count, all_reaching = reaching, all_shown = shown;
	struct name_printer names;
	name_printer_init(&names, out, view, options);
	for (size_t i = 0; i < shown; i++) {
		const struct page_mapping *mapping = &list->mappings[i];
		size_t paths = reaching_paths(view, list, mapping, options->threshold);
		size_t paths_shown = shown_entries(paths, options);
		print_mapping(out, view, mapping, options);
		for (size_t k = 0; k < paths_shown; k++)
			print_path(&names, &list->paths[mapping->first_path + k], labels, options);
		all += mapping->path_count;
		all_reaching += paths;
		all_shown += paths_shown;
	}
	name_printer_release(&names);
	uint64_t unknown = view->total > list->hits ? view->total - list->hits : 0;
	if (unknown)
		fprintf(out, "%" PRIu64 " hit%s without an address\n", unknown, unknown == 1 ? "" : "s");
	left_out_print(out, all, all_reaching, all_shown, options);
}

/* Prints a row for a mapping, or for one of its paths (`path` not NULL). */
static void sheet_entry(struct sheet *sheet, const struct result *result, const struct page_mapping *mapping,
			const struct page_path *path, uint32_t *labels)
{
	const struct view *view = result->view;
	sheet_row(sheet);
	sheet_text(sheet, "entry", path ? "path" : "mapping");
	sheet_text(sheet, "mapping", profile_string(view->profile, mapping->name));
	sheet_path(sheet, "path", view, labels, path ? path_of(view, path->node, labels) : 0);
	sheet_share(sheet, result, 0, path ? path->hits : mapping->hits);
	sheet_count(sheet, "pages", path ? path->pages : mapping->pages);
	/* Addresses are texts, because few JSON readers keep every digit above 2^53. */
	char address[2][24];
	snprintf(address[0], sizeof(address[0]), "0x%" PRIx64, mapping->lowest);
	snprintf(address[1], sizeof(address[1]), "0x%" PRIx64, mapping->highest);
	sheet_text(sheet, "lowest", path ? "" : address[0]);
	sheet_text(sheet, "highest", path ? "" : address[1]);
	sheet_row_end(sheet);
}

static void print_table(const struct render_document *document, const struct result *result, uint32_t *labels)
{
	const struct render_options *options = &document->options;
	const struct view *view = result->view;
	const struct page_list *list = result->data;
	struct sheet sheet;
	sheet_open(&sheet, document, result, "resource,entry,mapping,path,fraction,error,hits,pages,lowest,highest");
	size_t shown = shown_entries(reaching_mappings(view, list, options->threshold), options);
	size_t left_out = list->count - shown;
	for (size_t i = 0; i < shown; i++) {
		const struct page_mapping *mapping = &list->mappings[i];
		size_t paths = shown_entries(reaching_paths(view, list, mapping, options->threshold), options);
		sheet_entry(&sheet, result, mapping, NULL, labels);
		for (size_t k = 0; k < paths; k++)
			sheet_entry(&sheet, result, mapping, &list->paths[mapping->first_path + k], labels);
		left_out += mapping->path_count - paths;
	}
	sheet_close(&sheet, left_out);
}

static void print(struct render_document *document, const struct result *result)
{
	uint32_t *labels = malloc((result->view->depth + 1) * sizeof(*labels));
	if (!labels)
		render_failed(&document->options);
	else if (document->options.format == RENDER_TEXT)
		print_text(document, result, labels);
	else
		print_table(document, result, labels);
	free(labels);
}

static void free_data(void *data)
{
	page_list_free(data);
}

static const struct result_type type = {
	.text = print,
	.table = print,
	.free_data = free_data,
};

const struct report report_pages = {
	.name = "pages",
	.letter = 'P',
	.help = "Which memory page faults touched, and on which paths",
	.summary = "which memory page faults touched, and on which paths",
	.needs = REPORT_NEEDS_ADDRESSES,
	.refuses = { { SETTING_LABEL | REPORT_BY_LABEL, "touched memory has no labels" },
		     { REPORT_GROUP | SETTING_ZEROS, "it shows memory" } },
	.choose = choose,
	.parts = { { "Touched Page Profile", &type, build } },
};
