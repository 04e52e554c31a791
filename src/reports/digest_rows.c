#include "reports/digest_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/hot_path.h"
#include "base/path.h"
#include "base/utf8.h"
#include "profile/findings.h"
#include "profile/quality.h"
#include "render/emit.h"
#include "render/info.h"
#include "reports/summary.h"

/* Bytes of texts from the profile, at most. */
enum {
	NAME_COLUMNS = 48,
	NAME_BYTES = 100,
	WORD_BYTES = 32,
	COMMAND_BYTES = 120,
	SENTENCE_BYTES = 160,
	PROPOSED_BYTES = 400, /* a longer command is left out: a part of it would be another command */
	ROW_BYTES = 96
};

static const double HUNDRED = 100, NS_PER_S = 1e9;

/* --- one row --- */

/* A row in the making. */
struct line {
	struct digest *digest;
	FILE *out;
	struct digest_row row;
};

/* Returns whether the row can be written: else its section is full, or memory is exhausted. */
static bool begin(struct line *line, struct digest *digest, enum digest_section section)
{
	*line = (struct line){ .digest = digest };
	if (digest->counts[section] == DIGEST_ROWS) {
		digest->beyond++;
		return false;
	}
	line->out = digest->failed ? NULL : open_memstream(&line->row.text, &line->row.size);
	digest->failed = !line->out;
	if (line->out && digest->json)
		fputc('{', line->out);
	return line->out;
}

static void end(struct line *line, enum digest_section section)
{
	struct digest *digest = line->digest;
	if (digest->json)
		fputc('}', line->out);
	bool is_whole = !ferror(line->out);
	is_whole = fclose(line->out) == 0 && is_whole && line->row.text && line->row.size > 0;
	if (!is_whole) {
		digest->failed = true;
		free(line->row.text);
		return;
	}
	digest->rows[section][digest->counts[section]++] = line->row;
}

/* Writes the beginning of a text, whole characters in at most `most` bytes: quoted in JSON. */
static void write_text(const struct line *line, const char *text, size_t most)
{
	char cut[PROPOSED_BYTES + 8];
	size_t size = 0, length;
	for (; text[size]; size += length) {
		length = utf8_sequence((const unsigned char *)text + size);
		length = length > 0 ? length : 1;
		if (size + length > most)
			break;
	}
	snprintf(cut, sizeof(cut), "%.*s%s", (int)size, text, text[size] ? "..." : "");
	if (line->digest->json)
		json_string_write(line->out, cut);
	else
		render_safe_text(line->out, cut);
}

static void text_member(const struct line *line, const char *before, const char *name, const char *text, size_t most)
{
	fprintf(line->out, "%s\"%s\": ", before, name);
	write_text(line, text, most);
}

static void number_member(const struct line *line, const char *name, double number)
{
	fprintf(line->out, ", \"%s\": ", name);
	json_number(line->out, number);
}

/* Writes the short name of a label: the name that reports accept as a function. */
static void write_name(const struct line *line, uint32_t label)
{
	struct buffer name;
	buffer_init(&name);
	short_names_append(line->digest->names, label, NAME_COLUMNS, &name);
	buffer_append_byte(&name, 0);
	if (buffer_error(&name) == 0)
		write_text(line, (const char *)name.bytes, NAME_BYTES);
	else
		line->digest->failed = true;
	buffer_release(&name);
}

static void name_member(const struct line *line, const char *before, const char *name, uint32_t label)
{
	fprintf(line->out, "%s\"%s\": ", before, name);
	write_name(line, label);
}

static void write_share(const struct line *line, const struct view *view, uint64_t hits)
{
	char text[ROW_BYTES];
	if (line->digest->json) {
		number_member(line, "share", fraction_of(hits, view->total));
		number_member(line, "error", analyze_error(hits, view->total, view->independent));
	} else {
		fprintf(line->out, "  %s ", render_share(text, sizeof(text), view, hits, NULL, "±"));
	}
}

static double gticks_of(const struct view *view, uint64_t hits)
{
	return (double)hits * (double)view->resource->interval;
}

static const char *unit_of(const struct view *view)
{
	return profile_string(view->profile, view->resource->unit);
}

static const char *title_of(const struct view *view)
{
	return profile_string(view->profile, view->resource->title);
}

/* Writes an amount of a resource in text. */
static void write_amount(const struct line *line, const struct view *view, double gticks)
{
	char amount[ROW_BYTES];
	fputs(render_amount(amount, sizeof(amount), gticks, unit_of(view)), line->out);
}

/* --- what was recorded --- */

static void make_recorded(struct digest *digest)
{
	const struct view *view = digest->results->items[0].view;
	const struct profile *profile = view->profile;
	const char *command = profile_note(profile, "command"),
		   *backend = profile_string(profile, view->resource->backend);
	double seconds = (double)summary_selected_ns(view) / NS_PER_S;
	struct line line;
	if (!begin(&line, digest, DIGEST_RECORDED))
		return;
	if (digest->json) {
		text_member(&line, "", "command", command ? command : "", COMMAND_BYTES);
		text_member(&line, ", ", "resource", profile_string(profile, view->resource->name), WORD_BYTES);
		text_member(&line, ", ", "unit", unit_of(view), WORD_BYTES);
		number_member(&line, "gticks", gticks_of(view, view->total));
		number_member(&line, "seconds", seconds);
		number_member(&line, "samples", (double)view->samples);
		text_member(&line, ", ", "backend", backend, WORD_BYTES);
	} else {
		write_text(&line, title_of(view), WORD_BYTES);
		fputs(": ", line.out);
		write_amount(&line, view, gticks_of(view, view->total));
		if (seconds > 0)
			fprintf(line.out, " in %.4g s", seconds);
		fputs(command ? " of " : "", line.out);
		write_text(&line, command ? command : "", COMMAND_BYTES);
		fprintf(line.out, ", %" PRIu64 " samples", view->samples);
		fputs(backend[0] ? " by " : "", line.out);
		write_text(&line, backend, WORD_BYTES);
	}
	end(&line, DIGEST_RECORDED);
}

static void make_quality(struct digest *digest)
{
	const struct profile *profile = digest->results->items[0].view->profile;
	const struct quality quality = quality_of(profile);
	const struct quality_shares shares = quality_shares_of(&quality);
	struct line line;
	if (quality.stacks == 0 || !begin(&line, digest, DIGEST_QUALITY))
		return;
	if (digest->json)
		fprintf(line.out, "\"samples\": %" PRIu64 ", \"lost\": %" PRIu64, quality.samples, profile->lost);
	else
		fprintf(line.out, "stacks: %.1f %% whole, %.1f %% partly guessed, %.1f %% broken; %" PRIu64 " lost",
			shares.whole, shares.guessed, shares.broken, profile->lost);
	if (digest->json) {
		number_member(&line, "whole", shares.whole / HUNDRED);
		number_member(&line, "guessed", shares.guessed / HUNDRED);
		number_member(&line, "broken", shares.broken / HUNDRED);
	}
	end(&line, DIGEST_QUALITY);
}

static void make_findings(struct digest *digest)
{
	const struct profile *profile = digest->results->items[0].view->profile;
	struct finding_walk walk = { 0 };
	for (const struct profile_finding *finding; (finding = finding_next(profile, &walk));) {
		const char *severity = finding_severity_name(finding->severity);
		struct line line;
		if (!begin(&line, digest, DIGEST_FINDINGS))
			continue;
		if (digest->json) {
			text_member(&line, "", "severity", severity, WORD_BYTES);
			text_member(&line, ", ", "code", profile_string(profile, finding->code), WORD_BYTES);
			fputs(", \"text\": ", line.out);
		} else {
			fprintf(line.out, "%s: ", severity);
		}
		write_text(&line, profile_string(profile, finding->text), SENTENCE_BYTES);
		end(&line, DIGEST_FINDINGS);
	}
}

/* --- where --- */

static void make_functions(struct digest *digest)
{
	const struct result *summary = &digest->results->items[0];
	const struct view *view = summary->view;
	for (size_t i = 0; i < summary->paths->count; i++) {
		uint32_t label = path_labels(summary->paths, &summary->paths->entries[i])[0];
		const struct own_entry *library = own_code_library(summary->own, label);
		bool has_owner = library && library->other != PROFILE_NONE;
		struct line line;
		if (!begin(&line, digest, DIGEST_FUNCTIONS))
			continue;
		if (digest->json)
			name_member(&line, "", "function", label);
		write_share(&line, view, summary->paths->entries[i].hits);
		if (!digest->json)
			write_name(&line, label);
		if (digest->json && has_owner)
			name_member(&line, ", ", "from", library->other);
		else if (has_owner)
			fputs(" from ", line.out);
		if (!digest->json && has_owner)
			write_name(&line, library->other);
		end(&line, DIGEST_FUNCTIONS);
	}
}

/* One row for each node of the hot path whose weight differs from the weight of the node above, with the number of nodes that are left out
 * above it. */
static void make_path(struct digest *digest)
{
	const struct view *view = digest->results->items[0].view;
	size_t skipped = 0;
	for (uint32_t node = hot_path_next(view, 0), next; node != PROFILE_NONE; node = next) {
		struct line line;
		next = hot_path_next(view, node);
		if (next != PROFILE_NONE && view->weight[next] == view->weight[node]) {
			skipped++;
			continue;
		}
		if (begin(&line, digest, DIGEST_PATH)) {
			if (digest->json)
				name_member(&line, "", "function", view->label[node]);
			write_share(&line, view, view->weight[node]);
			if (!digest->json)
				write_name(&line, view->label[node]);
			if (digest->json)
				fprintf(line.out, ", \"skipped\": %zu", skipped);
			else if (skipped > 0)
				fprintf(line.out, " (below %zu frame%s)", skipped, skipped == 1 ? "" : "s");
			end(&line, DIGEST_PATH);
		}
		skipped = 0;
	}
}

static void make_lines(struct digest *digest)
{
	const struct result *summary = &digest->results->items[0];
	const struct view *view = summary->view;
	for (size_t i = 0; i < summary->lines->count; i++) {
		const struct line_entry *entry = &summary->lines->entries[i];
		const char *file = path_basename(profile_string(view->profile, entry->file));
		struct line line;
		if (entry->line == 0 || entry->body == 0 || !begin(&line, digest, DIGEST_LINES))
			continue;
		if (digest->json) {
			text_member(&line, "", "file", file, NAME_BYTES);
			fprintf(line.out, ", \"line\": %" PRIu32, entry->line);
		}
		write_share(&line, view, entry->body);
		if (!digest->json) {
			write_text(&line, file, NAME_BYTES);
			fprintf(line.out, ":%" PRIu32, entry->line);
		}
		end(&line, DIGEST_LINES);
	}
}

/* --- ratios --- */

/* Returns the share that a function's body has in the summary's resource. */
static double share_in_summary(const struct digest *digest, uint32_t function)
{
	const struct result *summary = &digest->results->items[0];
	uint64_t hits = 0;
	for (size_t i = 0; i < summary->paths->count && function != PROFILE_NONE; i++) {
		uint32_t label = path_labels(summary->paths, &summary->paths->entries[i])[0];
		if (summary->view->labels[label].function == function)
			hits += summary->paths->entries[i].hits;
	}
	return fraction_of(hits, summary->view->total);
}

/* Writes the amount of a resource for each gtick of the first one: as a share, a rate, or a number for each. */
static void write_ratio(const struct line *line, const struct view *view, const struct view *first)
{
	double all = gticks_of(first, first->total), ratio = all > 0 ? gticks_of(view, view->total) / all : 0;
	bool is_time = render_is_time(unit_of(first)) && strcmp(unit_of(first), "ns") == 0;
	char amount[ROW_BYTES];
	if (all <= 0)
		return;
	if (strcmp(unit_of(view), unit_of(first)) == 0) {
		fprintf(line->out, " (%.4g %% of ", HUNDRED * ratio);
		write_text(line, title_of(first), WORD_BYTES);
		fputc(')', line->out);
		return;
	}
	fputs(" (", line->out);
	fputs(render_amount(amount, sizeof(amount), is_time ? ratio * NS_PER_S : ratio, unit_of(view)), line->out);
	fputs(is_time ? " per s of " : " per gtick of ", line->out);
	write_text(line, title_of(first), WORD_BYTES);
	fputc(')', line->out);
}

static void make_resource(struct digest *digest, const struct result *result)
{
	const struct view *view = result->view, *first = digest->results->items[0].view;
	const struct path_entry *top = result->paths->count > 0 ? result->paths->entries : NULL;
	uint32_t label = top ? path_labels(result->paths, top)[0] : 0;
	const char *name = top ? view->labels[label].text : "";
	double share = top ? fraction_of(top->hits, view->total) : 0;
	double in_first = top ? share_in_summary(digest, view->labels[label].function) : 0;
	double all = gticks_of(first, first->total);
	struct line line;
	if (!top || !begin(&line, digest, DIGEST_RESOURCES))
		return;
	if (digest->json) {
		text_member(&line, "", "resource", profile_string(view->profile, view->resource->name), WORD_BYTES);
		text_member(&line, ", ", "unit", unit_of(view), WORD_BYTES);
		number_member(&line, "gticks", gticks_of(view, view->total));
		if (all > 0)
			number_member(&line, "per_gtick", gticks_of(view, view->total) / all);
		text_member(&line, ", ", "function", name, NAME_BYTES);
		number_member(&line, "share", share);
		number_member(&line, "share_of_first", in_first);
	} else {
		fputs("  ", line.out);
		write_text(&line, profile_string(view->profile, view->resource->name), WORD_BYTES);
		fputs(" ", line.out);
		write_amount(&line, view, gticks_of(view, view->total));
		write_ratio(&line, view, first);
		fprintf(line.out, ", %.1f %% in ", HUNDRED * share);
		write_text(&line, name, NAME_BYTES);
		fprintf(line.out, ", which has %.1f %% of ", HUNDRED * in_first);
		write_text(&line, title_of(first), WORD_BYTES);
	}
	end(&line, DIGEST_RESOURCES);
}

/* --- the rest --- */

static void make_processes(struct digest *digest)
{
	const struct result *summary = &digest->results->items[0];
	const struct profile *profile = summary->view->profile;
	for (size_t i = 0; i < summary->shares->count && summary->shares->count > 1; i++) {
		const struct share *share = &summary->shares->shares[i];
		uint32_t owner = share->owner;
		const char *name = owner == PROFILE_NONE ? "[no process]"
							 : profile_string(profile, profile->processes[owner].name);
		uint32_t pid = owner == PROFILE_NONE || share->members > 1 ? 0 : profile->processes[owner].pid;
		struct line line;
		if (!begin(&line, digest, DIGEST_PROCESSES))
			continue;
		if (digest->json) {
			text_member(&line, "", "name", name, NAME_BYTES);
			fprintf(line.out, ", \"pid\": %" PRIu32, pid);
			if (share->members > 1)
				fprintf(line.out, ", \"processes\": %" PRIu32, share->members);
		}
		write_share(&line, summary->view, share->hits);
		if (!digest->json) {
			write_text(&line, name, NAME_BYTES);
			if (share->members > 1)
				fprintf(line.out, " (%" PRIu32 " processes)", share->members);
			else
				fprintf(line.out, " (%" PRIu32 ")", pid);
		}
		end(&line, DIGEST_PROCESSES);
	}
}

/* Adds a row "COMMAND\tWHY", or a sentence. */
static void add_suggestion(struct digest *digest, char *row)
{
	struct line line;
	row += strspn(row, " ");
	char *tab = strchr(row, '\t');
	if (tab)
		*tab = 0;
	if ((tab && strlen(row) > PROPOSED_BYTES) || !begin(&line, digest, DIGEST_NEXT))
		return;
	if (digest->json) {
		text_member(&line, "", "command", tab ? row : "", PROPOSED_BYTES);
		text_member(&line, ", ", "why", tab ? tab + 1 : row, SENTENCE_BYTES);
	} else {
		fputs("  ", line.out);
		write_text(&line, row, PROPOSED_BYTES);
		fputs(tab ? "   " : "", line.out);
		write_text(&line, tab ? tab + 1 : "", SENTENCE_BYTES);
	}
	end(&line, DIGEST_NEXT);
}

static void make_next(struct digest *digest)
{
	struct next_commands next;
	int failure = 0;
	struct render_options options = *digest->options;
	if (digest->results->items[0].view->total == 0)
		return;
	options.failure = &failure;
	if (next_commands_init(&next, &digest->results->items[0], &options, "\t") < 0 || failure < 0)
		digest->failed = true;
	for (size_t i = 0; i < next.count && !digest->failed; i++) {
		next.texts[i][strcspn(next.texts[i], "\n")] = 0;
		add_suggestion(digest, next.texts[i]);
	}
	next_commands_release(&next);
}

void digest_make_rows(struct digest *digest)
{
	make_recorded(digest);
	make_quality(digest);
	make_findings(digest);
	make_functions(digest);
	make_path(digest);
	make_lines(digest);
	for (size_t i = 1; i < digest->results->count && !digest->failed; i++)
		make_resource(digest, &digest->results->items[i]);
	make_processes(digest);
	make_next(digest);
}
