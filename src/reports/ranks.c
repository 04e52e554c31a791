/* Compares the ranks of a parallel job: the entries of any list of functions or call paths. */
#include "reports/ranks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "render/emit.h"
#include "render/names.h"

/* The widths of the columns of figures, so that they stand below each other. */
struct widths {
	int imbalance, min, mean, max, most;
};

static const struct path_entry *path_of(const struct result *result, const struct rank_entry *entry)
{
	return &result->paths->entries[entry->path];
}

static const char *name_of_rank(const struct result *result, uint32_t rank)
{
	const struct rank_list *list = result->data;
	return profile_string(result->view->profile, list->ranks[rank]);
}

static bool reaches(const struct result *result, const struct rank_entry *entry, double threshold)
{
	return fraction_of(path_of(result, entry)->hits, result->view->total) >= threshold;
}

static size_t reaching_of(const struct result *result, double threshold)
{
	const struct rank_list *list = result->data;
	size_t count = 0;
	for (size_t i = 0; i < list->count; i++)
		count += reaches(result, &list->entries[i], threshold);
	return count;
}

static void widen(int *width, int columns)
{
	*width = columns > *width ? columns : *width;
}

static struct widths widths_of(const struct result *result, double threshold)
{
	const struct rank_list *list = result->data;
	struct widths widths = { 0 };
	for (size_t i = 0; i < list->count; i++) {
		const struct rank_entry *entry = &list->entries[i];
		if (!reaches(result, entry, threshold))
			continue;
		widen(&widths.imbalance, snprintf(NULL, 0, "%.4f", rank_imbalance(entry)));
		widen(&widths.min, snprintf(NULL, 0, "%" PRIu64, entry->min));
		widen(&widths.mean, snprintf(NULL, 0, "%.1f", entry->mean));
		widen(&widths.max, snprintf(NULL, 0, "%" PRIu64, entry->max));
		widen(&widths.most, (int)strlen(name_of_rank(result, entry->most)));
	}
	return widths;
}

static void print_figures(FILE *out, const struct result *result, const struct rank_entry *entry,
			  const struct widths *widths)
{
	fprintf(out, "%*.4f ", widths->imbalance, rank_imbalance(entry));
	if (has_errors(result))
		fprintf(out, "±%.4f ", entry->chance / entry->mean);
	fprintf(out, "%*" PRIu64 " %*.1f %*" PRIu64 " ", widths->min, entry->min, widths->mean, entry->mean,
		widths->max, entry->max);
	render_safe_text(out, name_of_rank(result, entry->most));
	fprintf(out, "%*s ", widths->most - (int)strlen(name_of_rank(result, entry->most)), "");
}

/* Prints "0.5200 1.0833  0 130.0 271 3 (main solve) [520]". */
static void print_entry(struct name_printer *names, const struct result *result, const struct rank_entry *entry,
			const struct widths *widths, bool is_bare)
{
	enum { FRACTION_WIDTH = 6, CHANCE_WIDTH = 8, BLANKS_AND_BRACKETS = 9 };
	const struct render_options *options = names->options;
	const struct path_entry *path = path_of(result, entry);
	char hits[32];
	snprintf(hits, sizeof(hits), "[%" PRIu64 "]", path->hits);
	fprintf(names->out, "%.4f ", fraction_of(path->hits, result->view->total));
	print_figures(names->out, result, entry, widths);
	fputs(is_bare ? "" : "(", names->out);
	size_t used = (size_t)widths->imbalance + (size_t)widths->min + (size_t)widths->mean + (size_t)widths->max +
		      (size_t)widths->most;
	path_print(names, path_labels(result->paths, path), path->length, " ",
		   name_room(names, used + FRACTION_WIDTH + (has_errors(result) ? CHANCE_WIDTH : 0) +
					    BLANKS_AND_BRACKETS + strlen(hits)));
	fputs(is_bare ? " " : ") ", names->out);
	paint_on(names->out, PAINT_DIM, options);
	fputs(hits, names->out);
	paint_off(names->out, options);
	fputc('\n', names->out);
}

/* Whether two paths have equal figures. */
static bool are_alike(const struct result *result, const struct rank_entry *a, const struct rank_entry *b)
{
	return path_of(result, a)->hits == path_of(result, b)->hits && a->min == b->min && a->max == b->max &&
	       a->most == b->most;
}

/* Whether the row of a longer path with equal figures is on the screen in its place, among the `left` rows behind this one. Their rows are
 * neighbours. */
static bool is_folded(const struct result *result, size_t index, size_t left)
{
	const struct rank_list *list = result->data;
	const struct rank_entry *entry = &list->entries[index];
	for (size_t i = index + 1; i <= index + left && are_alike(result, &list->entries[i], entry); i++)
		if (path_extends(result->paths, path_of(result, &list->entries[i]), path_of(result, entry)))
			return true;
	return false;
}

static void print_heading(FILE *out, const struct result *result, const struct render_options *options, bool is_bare)
{
	const struct rank_list *list = result->data;
	char ranks[48];
	snprintf(ranks, sizeof(ranks), "%zu Rank%s, ", list->rank_count,
		 plural_ending("Rank", (double)list->rank_count));
	title_print(out, ranks, result, options);
	samples_print(out, result->view);
	fprintf(out, "format: usage_fraction imbalance %smin mean max rank_of_max %s [#%s]\n",
		has_errors(result) ? "±chance " : "", is_bare ? "name" : "(call_path)", raw_name(result->view));
	fputs("-----------------------------------------------------\n", out);
}

static void print_text(struct render_document *document, const struct result *result, bool is_bare)
{
	FILE *out = document->out;
	const struct render_options *options = &document->options;
	const struct rank_list *list = result->data;
	print_heading(out, result, options, is_bare);
	if (rootless_print(out, result->view, result->root, list->count > 0))
		return;
	size_t reaching = reaching_of(result, options->threshold), shown = shown_entries(reaching, options), folded = 0;
	struct widths widths = widths_of(result, options->threshold);
	struct name_printer names;
	name_printer_init(&names, out, result->view, options);
	for (size_t i = 0, passed = 0; passed < shown; i++) {
		if (!reaches(result, &list->entries[i], options->threshold))
			continue;
		passed++;
		if (!is_bare && options->columns > 0 && is_folded(result, i, shown - passed))
			folded++;
		else
			print_entry(&names, result, &list->entries[i], &widths, is_bare);
	}
	name_printer_release(&names);
	left_out_print(out, list->count, reaching, shown, options);
	folded_print(out, folded, "paths are part of a longer one with equal figures", options);
}

static void print_names(struct render_document *document, const struct result *result)
{
	print_text(document, result, true);
}

static void print_paths(struct render_document *document, const struct result *result)
{
	print_text(document, result, false);
}

static void print_row(struct sheet *sheet, const struct result *result, const struct rank_entry *entry)
{
	const struct rank_list *list = result->data;
	const struct path_entry *path = path_of(result, entry);
	sheet_row(sheet);
	sheet_path(sheet, "path", result->view, path_labels(result->paths, path), path->length);
	sheet_number(sheet, "fraction", fraction_of(path->hits, result->view->total));
	sheet_count(sheet, "sum", path->hits);
	sheet_count(sheet, "min", entry->min);
	sheet_amount(sheet, "mean", entry->mean);
	sheet_count(sheet, "max", entry->max);
	sheet_text(sheet, "max_rank", name_of_rank(result, entry->most));
	sheet_number(sheet, "imbalance", rank_imbalance(entry));
	sheet_number(sheet, "chance", entry->chance / entry->mean);
	sheet_amount(sheet, "imbalance_hits", (double)entry->max - entry->mean);
	sheet_number(sheet, "imbalance_share", rank_imbalance_share(entry, list->rank_count));
	sheet_row_end(sheet);
}

static void print_table(struct render_document *document, const struct result *result)
{
	const struct render_options *options = &document->options;
	const struct rank_list *list = result->data;
	struct sheet sheet;
	sheet_begin(&sheet, document, result,
		    "resource,path,fraction,sum,min,mean,max,max_rank,imbalance,chance,imbalance_hits,imbalance_share");
	sheet_json_number(&sheet, "ranks", (double)list->rank_count);
	sheet_entries(&sheet);
	size_t shown = shown_entries(reaching_of(result, options->threshold), options);
	for (size_t i = 0, passed = 0; passed < shown; i++) {
		if (!reaches(result, &list->entries[i], options->threshold))
			continue;
		passed++;
		print_row(&sheet, result, &list->entries[i]);
	}
	sheet_close(&sheet, list->count - shown);
}

static void free_data(void *data)
{
	rank_list_free(data);
}

static const struct result_type type_of_names = { .text = print_names, .table = print_table, .free_data = free_data };
static const struct result_type type_of_paths = { .text = print_paths, .table = print_table, .free_data = free_data };

/* --- building --- */

bool ranks_are_compared(const struct report_request *request)
{
	return request->over_ranks || (request->report->needs & REPORT_OVER_RANKS);
}

/* The context of list_of: how the list of a rank is made. */
struct listing {
	const struct report_request *request;
	const struct report_part *part;
	const struct label_set *roots;
};

static struct path_list *list_of(void *context, const struct view *view, struct error *error)
{
	const struct listing *listing = context;
	struct result result = { .view = view };
	return listing->part->build(listing->request, listing->roots, &result, error) < 0 ? NULL : result.paths;
}

int ranks_compare(const struct report_request *request, const struct report_part *part, const struct label_set *roots,
		  struct result *result, struct error *error)
{
	struct listing listing = { request, part, roots };
	result->data = analyze_ranks(result->view, result->paths, list_of, &listing, error);
	if (!result->data)
		return error->code;
	if (rank_lacks_hits(result->view))
		result->note = "hits without the label 'rank' are left out";
	result->type = part->type == &result_names ? &type_of_names : &type_of_paths;
	return 0;
}

/* Lists the paths of all stacks: those that begin at the outermost frame with any label. */
static int build_paths(const struct report_request *request, const struct label_set *roots, struct result *result,
		       struct error *error)
{
	(void)request, (void)roots;
	size_t count = result->view->label_count;
	struct label_set every = { .labels = calloc(count + 1, sizeof(*every.labels)), .count = count };
	if (!every.labels)
		return error_memory(error);
	for (size_t i = 0; i < count; i++)
		every.labels[i] = (uint32_t)i;
	result->paths = analyze_down(result->view, &every, error);
	free(every.labels);
	return result->paths ? 0 : error->code;
}

const struct report report_ranks = {
	.name = "ranks",
	.help = "The call paths over the ranks of a parallel job: the sum, the ranks with most and least, the "
		"imbalance; with another "
		"list, its entries; "
		"of several files, each is a rank",
	.summary = "the call paths over the ranks of a parallel job, and their imbalance",
	.needs = REPORT_OVER_RANKS,
	.refuses = { { SETTING_ZEROS, "it shows what a rank has" } },
	.parts = { { "Call Path Profile", &type_of_paths, build_paths } },
};
