/*
 * The prediction follows the model of call paths: all else costs as much as before. For the path
 * f0 f1 ... fn, with the share s of the hits below (f0 f1) before the change, and t below (f0 f1_1)
 * afterwards, the rest is equal:
 *
 *     (1 - s) total before = (1 - t) total after
 *     predicted: total after / total before = (1 - s) / (1 - t)           measured: CPU times in turns
 *
 * Shares do not depend on the speed of the machine, which differs between two recordings. The rest may not be equal: originals
 * have other places, and a call through a pointer fewer targets. Then measured / predicted is its time after / before.
 */
#include "optimize/contextualize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/analyses.h"
#include "base/buffer.h"
#include "optimize/builds.h"

static const double deviations = 1.96; /* of a 95 % interval */

struct counted {
	double path, call; /* hits of the whole path, and of its first two functions */
	double total;
	double spread; /* hits of an independent sample */
};

struct ratio {
	double value, error;
};

/* --- counts --- */

/* Returns the length of the first two functions of a path. */
static size_t first_call(const char *path)
{
	size_t first = strcspn(path, ";") + 1;
	return first + strcspn(path + first, ";");
}

static int count(const struct profile *profile, const struct recorded_path *path, struct counted *counted,
		 struct error *error)
{
	struct view *view = recorded_view(profile, error);
	int code = view ? 0 : error->code;
	if (code == 0) {
		*counted = (struct counted){ .total = (double)view->total,
					     .spread = view->independent > 0 ? (double)view->total / view->independent
									     : 1 };
		code = recorded_hits(view, path, path->length, &counted->path, error);
	}
	if (code == 0)
		code = recorded_hits(view, path, 2, &counted->call, error);
	view_free(view);
	return code;
}

/* Returns "main;ns::f_1;qsort_1", which the caller frees, or NULL. */
static char *path_of_copies(const char *path, const struct contextualize_result *result)
{
	struct buffer text;
	buffer_init(&text);
	buffer_append(&text, path, strcspn(path, ";"));
	for (size_t i = 0; i < result->copy_count; i++) {
		const struct contextualize_copy *copy = &result->copies[i];
		const char *last = strrchr(copy->function, ':');
		int outer = last ? (int)(last + 1 - copy->function) : 0;
		if (copy->on_path)
			buffer_printf(&text, ";%.*s%s", outer, copy->function, copy->name);
	}
	buffer_append_byte(&text, 0);
	char *copies = buffer_error(&text) < 0 ? NULL : strdup((const char *)text.bytes);
	buffer_release(&text);
	return copies;
}

/* --- prediction --- */

static double variance_of(double share, const struct counted *counted)
{
	return share * (1 - share) * counted->spread / counted->total;
}

/* Propagates the errors of the two shares. Not finite if the path is all of the program. */
static struct ratio predict(const struct counted *before, const struct counted *after)
{
	double s = before->call / before->total, t = after->call / after->total, value = (1 - s) / (1 - t);
	double by_s = 1 / (1 - t), by_t = value / (1 - t);
	double variance = by_s * by_s * variance_of(s, before) + by_t * by_t * variance_of(t, after);
	return (struct ratio){ value, deviations * sqrt(variance) };
}

/* Returns the time of all but the first call of the path, as a fraction of that before: the prediction takes it as 1. */
static struct ratio rest_of(const struct ratio *predicted, const struct ratio *measured)
{
	double value = measured->value / predicted->value;
	return (struct ratio){ value,
			       value * hypot(predicted->error / predicted->value, measured->error / measured->value) };
}

static struct ratio measured(const struct optimize_gain *gain)
{
	return (struct ratio){ 1 / gain->ratio, (1 / gain->low - 1 / gain->high) / 2 };
}

/* --- the result --- */

static void print_copies(FILE *out, const struct contextualize_result *result)
{
	fputs("Copies     ", out);
	for (size_t i = 0; i < result->copy_count; i++)
		fprintf(out, "%s%s%s%s%s", i > 0 ? ", " : "", result->copies[i].name,
			*result->copies[i].constants ? " (" : "", result->copies[i].constants,
			*result->copies[i].constants ? ")" : "");
	fputc('\n', out);
}

static void print_share(FILE *out, const char *name, const char *path, const struct counted *counted)
{
	double share = counted->path / counted->total;
	double error = deviations * sqrt(variance_of(share, counted));
	fprintf(out, "%s%.4f ±%.4f  %s\n", name, share, error, path);
}

/* Prints the what-if of the call that changes, with the factor 0. */
static void print_bound(FILE *out, const char *path, const struct counted *counted)
{
	double rest = 1 - counted->call / counted->total;
	if (rest > 0)
		fprintf(out, "Bound      %.4f ±%.4f of the time before (%.3f times as fast), if %.*s took no time\n",
			rest, deviations * sqrt(variance_of(rest, counted)), 1 / rest, (int)first_call(path), path);
}

static void print(FILE *out, const struct verification *verification, const struct optimize_gain *gain,
		  const struct counted counts[2], const char *copies)
{
	struct ratio predicted = predict(&counts[0], &counts[1]), real = measured(gain);
	double difference = fabs(predicted.value - real.value);
	print_share(out, "Before     ", verification->path, &counts[0]);
	print_share(out, "After      ", copies, &counts[1]);
	print_bound(out, verification->path, &counts[0]);
	bool is_known = isfinite(predicted.value) && predicted.value > 0;
	if (is_known)
		fprintf(out,
			"Predicted  %.4f ±%.4f of the time before: the first call of the path as its copy, all else as "
			"before\n",
			predicted.value, predicted.error);
	else
		fputs("Predicted  nothing: all samples are below the first call of the path, which leaves no rest to "
		      "compare with\n",
		      out);
	fprintf(out, "Measured   %.4f ±%.4f of the time before (%.3f times as fast; %zu runs in turns)\n", real.value,
		real.error, gain->ratio, verification->turns);
	if (!is_known)
		return;
	struct ratio rest = rest_of(&predicted, &real);
	fprintf(out, "Rest       %.4f ±%.4f of its time before: all but the first call of the path\n", rest.value,
		rest.error);
	fprintf(out, "Agreement  they %s\n",
		difference <= hypot(predicted.error, real.error)
			? "agree within their errors"
			: "do not agree within their errors: the rest of the program is not as before");
}

static const char *const output_words[] = {
	[OUTPUT_SAME] = "the same",
	[OUTPUT_DIFFERENT] = "NOT the same",
	[OUTPUT_VARIES] = "not compared: it differs from run to run without the patch",
};

static int measure(struct verification *verification, const struct contextualize_result *result,
		   const struct recorded_path paths[2], const char *copies, FILE *out, struct error *error)
{
	char before[PATH_MAX + 16], after[PATH_MAX + 16], data[2][PATH_MAX + 32];
	const char *folder = verification->folder.path;
	struct optimize_samples samples[2] = { { .any_code = true }, { .any_code = true } };
	struct counted counts[2];
	struct optimize_times times = { .turns = verification->turns, .builds = 2 };
	enum optimize_output outputs[2];
	snprintf(before, sizeof(before), "%s/before", folder);
	snprintf(after, sizeof(after), "%s/after", folder);
	snprintf(data[0], sizeof(data[0]), "%s/before.data", folder);
	snprintf(data[1], sizeof(data[1]), "%s/after.data", folder);
	const char *const folders[] = { before, after };
	int code = optimize_compare(folders, 2, verification->workload, outputs, error);
	if (code == 0 && outputs[1] == OUTPUT_ENDLESS)
		code = error_set(error, ERROR_LIMIT,
				 "cannot verify the patch: with it, the workload takes more than %d times as much CPU "
				 "time",
				 OPTIMIZE_LONGEST);
	if (code == 0)
		code = optimize_samples_take(&samples[0], before, verification->workload, data[0], error);
	samples[1].runs = samples[0].runs;
	if (code == 0)
		code = optimize_samples_take(&samples[1], after, verification->workload, data[1], error);
	if (code == 0)
		code = recorded_check(samples[0].profile, data[0], verification->path, &paths[0], error);
	for (size_t i = 0; i < 2 && code == 0; i++)
		code = count(samples[i].profile, &paths[i], &counts[i], error);
	if (code == 0)
		code = optimize_measure(folders, verification->workload, &times, error);
	if (code == 0) {
		struct optimize_gain gain = optimize_gain_of(&times, 0, 1);
		optimize_folder_keep(&verification->folder);
		print_copies(out, result);
		fprintf(out, "Output     %s\n", output_words[outputs[1]]);
		print(out, verification, &gain, counts, copies);
	}
	if (code == 0 && outputs[1] == OUTPUT_DIFFERENT)
		code = error_set(error, ERROR_CORRUPT,
				 "the patch changes the output of the workload (compare a run in '%s' with one in "
				 "'%s')",
				 after, before);
	profile_free(samples[0].profile);
	profile_free(samples[1].profile);
	free(times.seconds);
	return code;
}

int verification_run(struct verification *verification, const struct contextualize_result *result, FILE *out,
		     struct error *error)
{
	int code = optimize_build(&verification->folder, "before", verification->command, NULL, error);
	if (code == 0)
		code = optimize_build(&verification->folder, "after", verification->command,
				      &(struct optimize_change){ .patch = verification->patch }, error);
	if (code < 0)
		return code;
	struct recorded_path paths[2] = { { 0 } };
	char *copies = path_of_copies(verification->path, result);
	code = copies ? recorded_path_init(&paths[0], verification->path, verification->program, result, error)
		      : error_memory(error);
	if (code == 0)
		code = recorded_path_init(&paths[1], copies, NULL, NULL, error);
	if (code == 0)
		code = measure(verification, result, paths, copies, out, error);
	recorded_path_release(&paths[0]);
	recorded_path_release(&paths[1]);
	free(copies);
	return code;
}
