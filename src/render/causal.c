#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "render/causal.h"
#include "render/emit.h"
#include "render/render.h"

static const double PERCENTS = 100;

/* Calls `print` for each function of a path. */
static void each_function(const char *path, void (*print)(void *context, size_t index, const char *name, size_t bytes),
			  void *context)
{
	for (size_t i = 0; *path; i++) {
		size_t bytes = strcspn(path, "\n");
		print(context, i, path, bytes);
		path += bytes + (path[bytes] == '\n');
	}
}

/* --- text --- */

static void print_function(void *context, size_t index, const char *name, size_t bytes)
{
	FILE *out = context;
	char text[512];
	snprintf(text, sizeof(text), "%.*s", (int)bytes, name);
	if (index > 0)
		fputc(' ', out);
	render_safe_text(out, text);
}

static void print_point(FILE *out, const struct causal_point *point)
{
	enum { WIDTH = 14 };
	char text[64] = "-";
	if (point->experiments > 0)
		snprintf(text, sizeof(text), "%+.1f +-%.1f", PERCENTS * point->gain, PERCENTS * point->error);
	fprintf(out, "%*s", WIDTH, text);
}

static void print_heading(FILE *out)
{
	char text[64];
	enum { WIDTH = 14 };
	fputs("Gain of the program in % if the path takes less time by:\n", out);
	for (int percent = EXPERIMENT_STEP; percent <= EXPERIMENT_MOST; percent += EXPERIMENT_STEP) {
		snprintf(text, sizeof(text), "%d %%", percent);
		fprintf(out, "%*s", WIDTH, text);
	}
	fputs("   what-if  path\n", out);
}

static void print_text(FILE *out, const struct causal_result *result, const char *progress)
{
	char period[64];
	render_amount(period, sizeof(period), result->period_ns, "ns");
	fprintf(out, "Causal Profile: %zu experiments, %zu of them without a speed-up\n", result->experiments,
		result->base_experiments);
	fputs("Progress: ", out);
	render_safe_text(out, progress);
	fprintf(out, ", every %s without a speed-up\n\n", period);
	if (result->count == 0) {
		fputs("No path has at least a twentieth of the time.\n", out);
		return;
	}
	print_heading(out);
	for (size_t i = 0; i < result->count; i++) {
		const struct causal_curve *curve = &result->curves[i];
		for (size_t point = 0; point < EXPERIMENT_LEVELS; point++)
			print_point(out, &curve->points[point]);
		fprintf(out, "%8.1f %%  (", PERCENTS * curve->share);
		each_function(curve->path, print_function, out);
		fputs(")\n", out);
	}
}

/* --- JSON and CSV --- */

static void print_path_name(void *context, size_t index, const char *name, size_t bytes)
{
	char text[4096];
	snprintf(text, sizeof(text), "%.*s", (int)bytes, name);
	sheet_path_name(context, index, text);
}

static void print_rows(struct sheet *sheet, const struct causal_curve *curve)
{
	for (size_t point = 0; point < EXPERIMENT_LEVELS; point++) {
		if (curve->points[point].experiments == 0)
			continue;
		sheet_row(sheet);
		sheet_path_begin(sheet, "path");
		each_function(curve->path, print_path_name, sheet);
		sheet_path_end(sheet);
		sheet_number(sheet, "share", curve->share);
		sheet_number(sheet, "slope", curve->slope);
		sheet_number(sheet, "slope_error", curve->slope_error);
		sheet_number(sheet, "faster", (double)(point + 1) * EXPERIMENT_STEP / EXPERIMENT_MOST);
		sheet_number(sheet, "gain", curve->points[point].gain);
		sheet_number(sheet, "error", curve->points[point].error);
		sheet_count(sheet, "experiments", curve->points[point].experiments);
		sheet_row_end(sheet);
	}
}

/* The experiments themselves, for other analyses. */
static void print_trials(FILE *out, const struct experiments *experiments)
{
	struct sheet sheet;
	sheet_table_open(&sheet, out, RENDER_JSON, "trials", NULL);
	for (size_t i = 0; i < experiments->count; i++) {
		const struct experiment *experiment = &experiments->items[i];
		sheet_row(&sheet);
		sheet_path_begin(&sheet, "path");
		each_function(experiments->paths[experiment->path].name, print_path_name, &sheet);
		sheet_path_end(&sheet);
		sheet_count(&sheet, "percent", experiment->percent);
		sheet_amount(&sheet, "duration_ns", experiment->duration_ns);
		sheet_amount(&sheet, "delay_ns", experiment->delay_ns);
		sheet_amount(&sheet, "progress", experiment->progress);
		sheet_row_end(&sheet);
	}
	sheet_table_close(&sheet);
}

static void print_table(FILE *out, enum render_format format, const struct causal_result *result,
			const struct experiments *experiments, const char *progress)
{
	struct sheet sheet;
	if (format == RENDER_JSON) {
		render_json_begin(out, &(struct render_envelope){ .command = "causal" });
		fputs("\"progress\": ", out);
		json_string_write(out, progress);
		fprintf(out, ", \"visits\": %.17g, \"period_ns\": %.17g", result->visits, result->period_ns);
		fprintf(out, ", \"experiments\": %zu, \"base_experiments\": %zu, ", result->experiments,
			result->base_experiments);
	}
	sheet_table_open(&sheet, out, format, "points", "path,share,slope,slope_error,faster,gain,error,experiments");
	for (size_t i = 0; i < result->count; i++)
		print_rows(&sheet, &result->curves[i]);
	sheet_table_close(&sheet);
	if (format == RENDER_JSON) {
		fputs(", ", out);
		print_trials(out, experiments);
		fputs("}\n", out);
	}
}

void render_causal(FILE *out, enum render_format format, const struct causal_result *result,
		   const struct experiments *experiments, const char *progress)
{
	if (format == RENDER_TEXT)
		print_text(out, result, progress);
	else
		print_table(out, format, result, experiments, progress);
}
