/* The names and the summaries of the recordings that `record --repeat` makes. */
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/path.h"
#include "base/quote.h"
#include "cmd/record.h"
#include "render/render.h"

void recorded_set(struct recorded *recorded, const struct profile *profile, uint64_t samples, uint64_t lost)
{
	const struct profile_resource *first = profile->resources;
	*recorded = (struct recorded){
		.samples = samples, .lost = lost, .start_ns = profile->start_ns, .end_ns = profile->end_ns
	};
	if (profile->resource_count == 0)
		return;
	recorded->total = first->total;
	snprintf(recorded->resource, sizeof(recorded->resource), "%s", profile_string(profile, first->name));
	snprintf(recorded->unit, sizeof(recorded->unit), "%s", profile_string(profile, first->unit));
}

/* Returns the suffix of a file's name, as ".data", or the name's end. */
static const char *suffix_of(const char *output)
{
	const char *base = path_basename(output), *dot = strrchr(base, '.');
	return dot && dot > base ? dot : base + strlen(base);
}

void recorded_append_name(struct buffer *name, const char *output, const struct recorded_side *side, uint64_t number)
{
	const char *suffix = suffix_of(output);
	buffer_append(name, output, (size_t)(suffix - output));
	buffer_printf(name, "%s-%" PRIu64 "%s", side->mark, number, suffix);
	buffer_append_byte(name, 0);
}

/* Appends ", cpu 1.25 s each, ±0.8 % (standard deviation)". */
static void append_spread(struct buffer *line, const struct recorded_side *side)
{
	const struct recorded *made = side->made;
	const double percent = 100, count = (double)side->made_count;
	double sum = 0, squares = 0;
	char amount[RECORDED_NAME_BYTES * 2];
	for (size_t i = 0; i < side->made_count; i++) {
		if (made[i].total == 0)
			return;
		sum += (double)made[i].total;
	}
	for (size_t i = 0; i < side->made_count; i++)
		squares += ((double)made[i].total - sum / count) * ((double)made[i].total - sum / count);
	buffer_printf(line, ", %s %s each", made[0].resource,
		      render_amount(amount, sizeof(amount), sum / count, made[0].unit));
	if (side->made_count > 1)
		buffer_printf(line, ", ±%.1f %% (standard deviation)",
			      percent * sqrt(squares / (count - 1)) / (sum / count));
}

int recorded_print_summary(const struct recorded_side *side, const char *output, uint64_t count)
{
	struct buffer line;
	uint64_t samples = 0, lost = 0;
	for (size_t i = 0; i < side->made_count; i++) {
		samples += side->made[i].samples;
		lost += side->made[i].lost;
	}
	buffer_init(&line);
	buffer_printf(&line, "cpprof: %zu", side->made_count);
	if (side->made_count < count)
		buffer_printf(&line, " of %" PRIu64, count);
	buffer_printf(&line, " recording%s", count == 1 ? "" : "s");
	for (size_t end = 0; end < 2 && end < side->made_count; end++) {
		buffer_append_string(&line, end == 0 ? ", " : " to ");
		recorded_append_name(&line, output, side, end == 0 ? 1 : side->made_count);
		line.size -= line.size > 0; /* without the NUL */
	}
	if (side->made_count > 0) {
		buffer_printf(&line, ": %" PRIu64 " sample%s, %" PRIu64 " lost", samples, samples == 1 ? "" : "s",
			      lost);
		append_spread(&line, side);
	}
	buffer_append_byte(&line, '\n');
	int result = buffer_error(&line);
	if (result == 0)
		fwrite(line.bytes, 1, line.size, stderr);
	buffer_release(&line);
	return result;
}

/* Appends the pattern "dir/x-a-*.data" for a shell. */
static void append_pattern(struct buffer *line, const struct recorded_side *side, const char *output)
{
	const char *suffix = suffix_of(output);
	char *stem = strndup(output, (size_t)(suffix - output));
	if (!stem) {
		line->error = ERROR_MEMORY;
		return;
	}
	quote_for_shell(line, stem);
	buffer_printf(line, "%s-*", side->mark);
	if (*suffix)
		quote_for_shell(line, suffix);
	free(stem);
}

/* Returns whether the side's pattern means its recordings alone: an earlier call may have left others beside them. */
static bool pattern_fits(const struct recorded_side *side, const char *output)
{
	struct buffer pattern;
	const char *suffix = suffix_of(output);
	if (strpbrk(output, "*?[\\"))
		return false;
	buffer_init(&pattern);
	buffer_append(&pattern, output, (size_t)(suffix - output));
	buffer_printf(&pattern, "%s-*%s", side->mark, suffix);
	buffer_append_byte(&pattern, 0);
	glob_t found = { 0 };
	bool fits = buffer_error(&pattern) == 0 && glob((const char *)pattern.bytes, GLOB_NOSORT, NULL, &found) == 0 &&
		    found.gl_pathc == side->made_count;
	globfree(&found);
	buffer_release(&pattern);
	return fits;
}

int recorded_print_next(const struct recorded_side *sides, const char *output)
{
	struct buffer line;
	buffer_init(&line);
	buffer_append_string(&line, "next: cpprof diff");
	for (size_t i = 0; i < DIFF_SIDES; i++) {
		const struct recorded_side *side = &sides[i];
		bool fits = side->made_count > 1 && pattern_fits(side, output);
		if (i > 0 && side->made_count > 1)
			buffer_append_string(&line, " --");
		buffer_append_byte(&line, ' ');
		if (fits)
			append_pattern(&line, side, output);
		for (size_t j = 0; j < side->made_count && !fits; j++) {
			if (j > 0)
				buffer_append_byte(&line, ' ');
			quote_for_shell(&line, side->names[j]);
		}
	}
	buffer_append_byte(&line, '\n');
	int result = buffer_error(&line);
	if (result == 0)
		fwrite(line.bytes, 1, line.size, stderr);
	buffer_release(&line);
	return result;
}
