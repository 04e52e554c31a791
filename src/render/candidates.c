#include "render/candidates.h"

#include <math.h>

#include "analyze/analyses.h"
#include "render/emit.h"

static double share_of(const struct view *view, const struct candidate *candidate)
{
	return (double)candidate->hits / (double)view->total;
}

static double error_of(const struct view *view, const struct candidate *candidate)
{
	return analyze_error(candidate->hits, view->total, view->independent);
}

/* Returns the gain if the path cost nothing: how many times as fast. It has no limit if the path is all of the program. */
static double most_of(const struct candidate *candidate)
{
	return candidate->bound > 0 ? 1 / candidate->bound : INFINITY;
}

/* --- text --- */

static void print_difference(FILE *out, const struct view *view, const struct candidate_difference *difference)
{
	enum { PATH_COLUMN = 42 };
	char name[4096];
	fprintf(out, "%*s", PATH_COLUMN, "");
	render_safe_text(out, view->labels[difference->line].text);
	if (difference->callee != PROFILE_NONE) {
		fputs(" calls ", out);
		render_safe_text(out, candidate_name(view, difference->callee, name, sizeof(name)));
	}
	fprintf(out, ": %.2f of the time here, %.2f elsewhere\n", difference->here, difference->elsewhere);
}

static void print_one(FILE *out, const struct view *view, const struct candidate *candidate)
{
	char name[4096];
	fprintf(out, "%7.4f  %6.4f ±%6.4f  %6.2f  ", candidate->score, share_of(view, candidate),
		error_of(view, candidate), candidate->divergence);
	if (candidate->bound > 0)
		fprintf(out, "%7.2f  ", most_of(candidate));
	else
		fputs("      -  ", out);
	for (size_t i = 0; i < candidate->length; i++) {
		fputs(i > 0 ? ";" : "", out);
		render_safe_text(out, candidate_name(view, candidate->path[i], name, sizeof(name)));
	}
	fputc('\n', out);
	print_difference(out, view, &candidate->difference);
}

static void print_text(FILE *out, const struct view *view, const struct candidate_list *list, size_t shown)
{
	if (list->count == 0) {
		fputs("No function works otherwise on one call path than on the others\n", out);
		return;
	}
	fputs("  score   share   error    bits  at most  path\n", out);
	for (size_t i = 0; i < shown; i++)
		print_one(out, view, &list->items[i]);
	if (shown < list->count)
		fprintf(out, "... %zu more (--limit 0 shows all)\n", list->count - shown);
}

/* --- JSON and CSV --- */

static void print_row(struct sheet *sheet, const struct view *view, const struct candidate *candidate)
{
	char name[4096];
	sheet_row(sheet);
	sheet_path_begin(sheet, "path");
	for (size_t i = 0; i < candidate->length; i++)
		sheet_path_name(sheet, i, candidate_name(view, candidate->path[i], name, sizeof(name)));
	sheet_path_end(sheet);
	sheet_number(sheet, "score", candidate->score);
	sheet_number(sheet, "fraction", share_of(view, candidate));
	sheet_number(sheet, "error", error_of(view, candidate));
	sheet_number(sheet, "bits", candidate->divergence);
	sheet_number(sheet, "at_most", most_of(candidate));
	sheet_count(sheet, "hits", candidate->hits);
	sheet_text(sheet, "line", view->labels[candidate->difference.line].text);
	sheet_text(sheet, "calls",
		   candidate->difference.callee == PROFILE_NONE
			   ? ""
			   : candidate_name(view, candidate->difference.callee, name, sizeof(name)));
	sheet_number(sheet, "here", candidate->difference.here);
	sheet_number(sheet, "elsewhere", candidate->difference.elsewhere);
	sheet_row_end(sheet);
}

static void print_table(FILE *out, enum render_format format, const struct view *view,
			const struct candidate_list *list, size_t shown)
{
	struct sheet sheet;
	if (format == RENDER_JSON)
		render_json_begin(out,
				  &(struct render_envelope){ .command = "contextualize", .profile = view->profile });
	sheet_table_open(&sheet, out, format, "candidates",
			 "path,score,fraction,error,bits,at_most,hits,line,calls,here,elsewhere");
	for (size_t i = 0; i < shown; i++)
		print_row(&sheet, view, &list->items[i]);
	sheet_table_close(&sheet);
	if (format == RENDER_JSON)
		fprintf(out, ", \"omitted\": %zu}\n", list->count - shown);
}

void render_candidates(FILE *out, const struct render_options *options, const struct view *view,
		       const struct candidate_list *list)
{
	size_t shown = options->limit > 0 && options->limit < list->count ? options->limit : list->count;
	if (options->format == RENDER_TEXT)
		print_text(out, view, list, shown);
	else
		print_table(out, options->format, view, list, shown);
}
