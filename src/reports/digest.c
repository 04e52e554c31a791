#include "reports/digest.h"

#include <stdlib.h>
#include <string.h>

#include "reports/digest_rows.h"

enum { END_BYTES = 64 }; /* room for the row that ends the text, and for the member that ends the JSON */

/* The name of a section's array in JSON, and its title in text; NULL: its rows have none. */
static const struct {
	const char *name, *title;
} sections[DIGEST_SECTIONS] = {
	[DIGEST_RECORDED] = { "recorded", NULL },
	[DIGEST_QUALITY] = { "quality", NULL },
	[DIGEST_FINDINGS] = { "findings", NULL },
	[DIGEST_FUNCTIONS] = { "functions", "functions, by their own use:" },
	[DIGEST_PATH] = { "hot_path", "hot path:" },
	[DIGEST_LINES] = { "lines", "lines:" },
	[DIGEST_RESOURCES] = { "resources", "other resources, and the function that uses most:" },
	[DIGEST_PROCESSES] = { "processes", "processes:" },
	[DIGEST_NEXT] = { "next", "next:" },
};

/* Returns the bytes of a section without its rows. An array of JSON is there without rows, too. */
static size_t frame_bytes(const struct digest *digest, size_t section)
{
	if (digest->json)
		return strlen(sections[section].name) + strlen(",\n\"\": []");
	return sections[section].title ? strlen(sections[section].title) + 1 : 0;
}

static const char *beginning(const struct digest *digest)
{
	return digest->json ? "{\"schema\": 1, \"command\": \"explain\"" : "";
}

/* Sets taken[s] to the number of leading rows of section s that fit. Each section gets row 0 before any gets row 1; a row that does not
 * fit ends its section. */
static void choose(const struct digest *digest, size_t budget, size_t taken[DIGEST_SECTIONS])
{
	size_t used = strlen(beginning(digest)) + END_BYTES;
	for (size_t s = 0; s < DIGEST_SECTIONS; s++)
		used += digest->json ? frame_bytes(digest, s) : 0;
	for (size_t row = 0; row < DIGEST_ROWS; row++) {
		for (size_t s = 0; s < DIGEST_SECTIONS; s++) {
			if (row >= digest->counts[s] || taken[s] < row)
				continue;
			size_t bytes = digest->rows[s][row].size + strlen(",\n") +
				       (!digest->json && row == 0 ? frame_bytes(digest, s) : 0);
			if (used + bytes > budget)
				continue;
			used += bytes;
			taken[s]++;
		}
	}
}

static void print_section(FILE *out, const struct digest *digest, size_t section, size_t taken)
{
	if (digest->json)
		fprintf(out, ",\n\"%s\": [", sections[section].name);
	else if (taken > 0 && sections[section].title)
		fprintf(out, "%s\n", sections[section].title);
	for (size_t i = 0; i < taken; i++) {
		fputs(digest->json && i > 0 ? ",\n" : "", out);
		fwrite(digest->rows[section][i].text, 1, digest->rows[section][i].size, out);
		fputs(digest->json ? "" : "\n", out);
	}
	fputs(digest->json ? "]" : "", out);
}

static void print(FILE *out, const struct digest *digest, size_t budget)
{
	size_t taken[DIGEST_SECTIONS] = { 0 }, left = digest->beyond;
	choose(digest, budget, taken);
	fputs(beginning(digest), out);
	for (size_t s = 0; s < DIGEST_SECTIONS; s++) {
		print_section(out, digest, s, taken[s]);
		left += digest->counts[s] - taken[s];
	}
	if (digest->json)
		fprintf(out, ",\n\"left_out\": %zu}\n", left);
	else if (left > 0)
		fprintf(out, "... %zu more row%s (--budget)\n", left, left == 1 ? "" : "s");
}

int render_digest(FILE *out, const struct results *results, const struct render_options *options, size_t budget,
		  struct error *error)
{
	struct digest *digest = calloc(1, sizeof(*digest));
	if (!digest)
		return error_set(error, ERROR_MEMORY, "out of memory");
	digest->results = results;
	digest->options = options;
	digest->json = options->format == RENDER_JSON;
	digest->names = short_names_of_view(results->items[0].view);
	digest->failed = !digest->names;
	if (!digest->failed)
		digest_make_rows(digest);
	if (!digest->failed)
		print(out, digest, budget);
	for (size_t s = 0; s < DIGEST_SECTIONS; s++)
		for (size_t i = 0; i < digest->counts[s]; i++)
			free(digest->rows[s][i].text);
	int status = digest->failed ? error_set(error, ERROR_MEMORY, "out of memory") : 0;
	short_names_free(digest->names);
	free(digest);
	return status;
}
