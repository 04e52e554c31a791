/* Prints documents: the text before, between and after results. */
#include <inttypes.h>

#include "profile/findings.h"
#include "render/emit.h"

static void print_field(FILE *out, const char *before, const char *text)
{
	fputs(before, out);
	json_string_write(out, text);
}

/* `side` is "a" or "b" if the document has two profiles, or NULL. Returns the number of findings printed so far,
 * including `rows`. */
static size_t print_findings(FILE *out, const struct profile *profile, const char *side, size_t rows)
{
	struct finding_walk walk = { 0 };
	for (const struct profile_finding *finding; profile && (finding = finding_next(profile, &walk)); rows++) {
		const char *code = profile_string(profile, finding->code);
		const struct finding_code_row *row = finding_code_find(code);
		fputs(rows > 0 ? ",\n  {" : "\n  {", out);
		if (side)
			fprintf(out, "\"profile\": \"%s\", ", side);
		print_field(out, "\"severity\": ", finding_severity_name(finding->severity));
		print_field(out, ", \"code\": ", code);
		fprintf(out, ", \"count\": %" PRIu64, finding->count);
		print_field(out, ", \"text\": ", profile_string(profile, finding->text));
		print_field(out, ", \"meaning\": ", row ? row->meaning : "");
		fputc('}', out);
	}
	return rows;
}

void render_json_begin(FILE *out, const struct render_envelope *envelope)
{
	print_field(out, "{\"schema\": 1, \"command\": ", envelope->command);
	if (envelope->report)
		print_field(out, ", \"report\": ", envelope->report);
	fputs(", \"findings\": [", out);
	size_t rows = print_findings(out, envelope->profile, NULL, 0);
	for (size_t i = 0; i < envelope->counts[DIFF_A] + envelope->counts[DIFF_B]; i++)
		rows = print_findings(out, envelope->profiles[i], i < envelope->counts[DIFF_A] ? "a" : "b", rows);
	fputs("],\n", out);
}

const char *render_format_word(size_t format)
{
	static const char *const names[] = { [RENDER_TEXT] = "text", [RENDER_JSON] = "json", [RENDER_CSV] = "csv" };
	return format < sizeof(names) / sizeof(names[0]) ? names[format] : NULL;
}

const char *render_document_word(size_t format)
{
	return format < RENDER_CSV ? render_format_word(format) : NULL;
}

void render_begin(struct render_document *document, FILE *out, const struct render_options *options,
		  const struct render_envelope *envelope)
{
	*document = (struct render_document){ .out = out, .options = *options };
	if (options->format == RENDER_JSON) {
		render_json_begin(out, envelope);
		fputs("\"results\": [", out);
	}
}

/* Prints after the last section that there are more groups (JSON has labels_left_out). */
static void print_sections_left_out(const struct render_document *document, const struct result *result)
{
	size_t count = result->sections_left_out;
	FILE *out = document->out;
	if (count == 0 || document->options.format != RENDER_TEXT)
		return;
	fprintf(out, "\n... %zu more label%s without a section", count, count == 1 ? "" : "s");
	if (document->options.hint)
		fprintf(out, ": %s", document->options.hint);
	fputc('\n', out);
}

int render_result(struct render_document *document, const struct result *result, struct error *error)
{
	enum render_format format = document->options.format;
	result_printer *print = format == RENDER_TEXT ? result->type->text : result->type->table;
	if (format == RENDER_JSON)
		fputs(document->count > 0 ? ",\n" : "\n", document->out);
	else if (format == RENDER_TEXT && document->count > 0)
		fputc('\n', document->out);
	int failure = 0;
	document->options.failure = &failure;
	print(document, result);
	document->options.failure = NULL;
	document->count++;
	if (failure < 0)
		return error_set(error, failure, "%s", error_text(failure));
	print_sections_left_out(document, result);
	return 0;
}

void render_end(struct render_document *document)
{
	if (document->options.format == RENDER_JSON)
		fputs(document->count > 0 ? "\n]}\n" : "]}\n", document->out);
}
