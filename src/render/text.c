/* Prints names, amounts and colours in text. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "base/safe_text.h"
#include "base/time_unit.h"
#include "render/emit.h"

void render_safe_text(FILE *out, const char *text)
{
	safe_text_write(out, text, strlen(text), "");
}

#define MOST_SHORT 9999.5 /* larger amounts get an exponent in four digits */

struct scale {
	double from; /* smallest amount that uses this scale */
	const char *name;
};

/* Prints the amount in the largest scale that it reaches; the last row is for all smaller amounts. */
static void print_scaled(char *text, size_t bytes, double amount, const struct scale *scales)
{
	const struct scale *scale = scales;
	while (fabs(amount) < scale->from && scale[1].name)
		scale++;
	amount /= scale->from;
	snprintf(text, bytes, fabs(amount) < MOST_SHORT ? "%.4g %s" : "%.0f %s", amount, scale->name);
}

bool render_is_time(const char *unit)
{
	return time_unit_ns(unit) > 0;
}

char *render_amount(char *text, size_t bytes, double gticks, const char *unit)
{
	static const struct scale times[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" }, { 0, NULL } };
	double ns = (double)time_unit_ns(unit);
	unit = safe_word(unit, "gtick");
	static const struct scale sizes[] = {
		{ 1073741824.0, "GiB" }, { 1048576.0, "MiB" }, { 1024.0, "KiB" }, { 0, NULL }
	};
	if (ns > 0)
		print_scaled(text, bytes, gticks * ns, times);
	else if (strcmp(unit, "byte") == 0 && fabs(gticks) >= 1024)
		print_scaled(text, bytes, gticks, sizes);
	else
		snprintf(text, bytes, fabs(gticks) < 1000 ? "%.4g %s%s" : "%.0f %s%s", gticks, unit,
			 plural_ending(unit, gticks));
	return text;
}

char *render_count(char *text, size_t bytes, uint64_t gticks, const char *unit)
{
	if (render_is_time(unit))
		return render_amount(text, bytes, (double)gticks, unit);
	char digits[24], grouped[32];
	unit = safe_word(unit, "gtick");
	int count = snprintf(digits, sizeof(digits), "%" PRIu64, gticks);
	size_t size = 0;
	for (int i = 0; i < count; i++) {
		if (i > 0 && (count - i) % 3 == 0)
			grouped[size++] = ',';
		grouped[size++] = digits[i];
	}
	grouped[size] = 0;
	snprintf(text, bytes, "%s %s%s", grouped, unit, plural_ending(unit, (double)gticks));
	return text;
}

char *render_interval(char *text, size_t bytes, uint64_t gticks, const char *unit)
{
	if (strcmp(unit, "byte") != 0 || gticks % 1024 == 0)
		return render_amount(text, bytes, (double)gticks, unit);
	return render_count(text, bytes, gticks, unit);
}

void paint_on(FILE *out, enum paint paint, const struct render_options *options)
{
	static const char *const codes[] = { [PAINT_HEADING] = "\x1b[1m",
					     [PAINT_HOT] = "\x1b[31m",
					     [PAINT_WARM] = "\x1b[33m",
					     [PAINT_DIM] = "\x1b[2m" };
	if (options->colour)
		fputs(codes[paint], out);
}

void paint_off(FILE *out, const struct render_options *options)
{
	if (options->colour)
		fputs("\x1b[0m", out);
}

void render_failed(const struct render_options *options)
{
	if (options->failure)
		*options->failure = ERROR_MEMORY;
}

double fraction_of(uint64_t hits, uint64_t total)
{
	return total ? (double)hits / (double)total : 0;
}

void fraction_print(FILE *out, const struct view *view, uint64_t hits, const struct render_options *options)
{
	double fraction = fraction_of(hits, view->total);
	bool painted = fraction >= RENDER_SHARE_WARM;
	if (painted)
		paint_on(out, fraction >= RENDER_SHARE_HOT ? PAINT_HOT : PAINT_WARM, options);
	fprintf(out, "%.4f", fraction);
	if (painted)
		paint_off(out, options);
	if (resource_has_samples(view->resource))
		fprintf(out, " ±%.4f", analyze_error(hits, view->total, view->independent));
}

char *render_share(char *text, size_t bytes, const struct view *view, uint64_t hits, const uint64_t *corrected,
		   const char *sign)
{
	const double hundred = 100;
	double share = hundred * fraction_of(hits, view->total);
	double error = corrected ? hundred * fraction_of(*corrected, view->total)
				 : hundred * analyze_error(hits, view->total, view->independent);
	if (corrected || resource_has_samples(view->resource))
		snprintf(text, bytes, "%.1f %% %s%.1f", share, sign, error);
	else
		snprintf(text, bytes, "%.1f %%", share);
	return text;
}

bool has_errors(const struct result *result)
{
	return result->errors || resource_has_samples(result->view->resource);
}

double row_error(const struct result *result, size_t row, uint64_t hits)
{
	const struct view *view = result->view;
	return result->errors ? fraction_of(result->errors[row], view->total)
			      : analyze_error(hits, view->total, view->independent);
}

void row_error_print(FILE *out, const struct result *result, size_t row)
{
	if (result->errors)
		fprintf(out, " ±%.4f", row_error(result, row, 0));
}

size_t shown_entries(size_t reaching, const struct render_options *options)
{
	return options->limit > 0 && options->limit < reaching ? options->limit : reaching;
}

void left_out_print(FILE *out, size_t count, size_t reaching, size_t shown, const struct render_options *options)
{
	if (shown == count)
		return;
	fprintf(out, "... %zu more %s", count - shown, count - shown == 1 ? "entry" : "entries");
	if (reaching == shown)
		fprintf(out, ", below %g", options->threshold);
	else if (reaching < count)
		fprintf(out, ", %zu of them below %g", count - reaching, options->threshold);
	if (options->hint)
		fprintf(out, ": %s", options->hint);
	fputc('\n', out);
}

void folded_print(FILE *out, size_t count, const char *what, const struct render_options *options)
{
	if (count > 0 && options->columns > 0)
		fprintf(out, "... %zu %s: --long shows each in a row of its own\n", count, what);
}

void labels_print(FILE *out, const struct profile *profile, const struct label_group *group)
{
	if (group->label_count == 0)
		fputs("(none)", out);
	for (size_t i = 0; i < group->label_count; i++) {
		if (i > 0)
			fputc(' ', out);
		render_safe_text(out, profile_string(profile, group->labels[i].key));
		fputc('=', out);
		render_safe_text(out, profile_string(profile, group->labels[i].value));
	}
}
