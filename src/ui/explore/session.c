#include "ui/explore/session.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/path.h"
#include "base/quote.h"
#include "ui/explore/words.h"

int session_init(struct session *session, struct profile *profile, const struct explore_options *options,
		 struct error *error)
{
	*session = (struct session){
		.profile = profile,
		.options = options,
		.render = { .format = RENDER_TEXT,
			    .colour = options->colour,
			    .file = options->file,
			    .hint = "'threshold 0' and 'limit 0' show all" },
	};
	settings_init(&session->settings);
	return settings_choose(&session->settings, &(uint32_t){ 0 }, profile->resource_count ? 1 : 0, error);
}

static void clear_candidates(struct session *session)
{
	for (size_t i = 0; i < session->candidate_count; i++)
		free(session->candidates[i].text);
	session->candidate_count = 0;
	session->candidate_total = 0;
	session->candidates_news = false;
}

void session_release(struct session *session)
{
	view_cache_release(&session->views);
	clear_candidates(session);
	settings_release(&session->settings);
	*session = (struct session){ 0 };
}

const struct view *session_view_of(struct session *session, const struct view_options *options, struct error *error)
{
	return view_cache_get(&session->views, session->profile, options, error);
}

const struct view *session_view(struct session *session, uint32_t resource, struct error *error)
{
	struct view_options options = session->settings.view;
	options.resource = resource;
	return session_view_of(session, &options, error);
}

/* Converts "#2" to row 1 of the candidates. Returns false if `name` has not this form. */
static bool candidate_row(const char *name, size_t *row)
{
	if (name[0] != '#' || !name[1] || name[1 + strspn(name + 1, "0123456789")] || strlen(name) > 6)
		return false;
	*row = strtoul(name + 1, NULL, 10) - 1; /* "#0" becomes a row beyond the last */
	return true;
}

/* Stores a list of the functions that the labels belong to. Returns 0 or ERROR_MEMORY. */
static int store_candidates(struct session *session, const struct view *view, const struct label_set *labels)
{
	uint32_t firsts[SESSION_CANDIDATES];
	int64_t total = view_functions(view, labels, firsts, SESSION_CANDIDATES);
	if (total < 0)
		return ERROR_MEMORY;
	clear_candidates(session);
	for (size_t i = 0; i < (size_t)total && i < SESSION_CANDIDATES; i++) {
		const struct view_label *label = &view->labels[firsts[i]];
		char *text = strdup(label->owner);
		if (!text)
			return ERROR_MEMORY;
		session->candidates[session->candidate_count++] =
			(struct session_candidate){ .text = text, .function = label->function };
	}
	session->candidate_total = (size_t)total;
	session->candidates_news = true;
	return 0;
}

static int labels_of_name(struct session *session, const struct view *view, const char *name, struct label_set *labels,
			  struct error *error)
{
	size_t row;
	if (candidate_row(name, &row)) {
		if (row >= session->candidate_count)
			return error_set(error, ERROR_USAGE, "no %s in the last list of functions", QUOTE(name));
		return lookup_functions(view, session->candidates[row].text, labels, error);
	}
	int64_t count = view_find(view, name, labels);
	if (count == 1 || (count > 1 && view_are_mains(view, labels)))
		return 0;
	if (count == 0)
		return lookup_functions(view, name, labels, error); /* sets the error with similar names */
	int status = count < 0 ? ERROR_MEMORY : store_candidates(session, view, labels);
	label_set_release(labels);
	if (status < 0)
		return error_set(error, status, "out of memory");
	return error_set(error, ERROR_AMBIGUOUS, "%s fits %zu functions; type one in full, or its number", QUOTE(name),
			 session->candidate_total);
}

int session_labels(struct session *session, const struct view *view, const char *name, struct label_set *labels,
		   struct error *error)
{
	size_t length;
	name = quote_strip(name, strlen(name), &length);
	char *bare = strndup(name, length);
	if (!bare)
		return error_set(error, ERROR_MEMORY, "out of memory");
	*labels = (struct label_set){ 0 };
	int status = labels_of_name(session, view, bare, labels, error);
	free(bare);
	return status;
}

static const char *module_of(const struct profile *profile, uint32_t function)
{
	uint32_t module = function < profile->function_count ? profile->functions[function].module : PROFILE_NONE;
	if (module >= profile->module_count)
		return "";
	return path_basename(profile_string(profile, profile->modules[module].path));
}

void session_print_candidates(struct session *session, FILE *out)
{
	if (!session->candidates_news)
		return;
	session->candidates_news = false;
	for (size_t i = 0; i < session->candidate_count; i++) {
		const struct session_candidate *candidate = &session->candidates[i];
		const char *module = module_of(session->profile, candidate->function);
		fprintf(out, "  #%zu  ", i + 1);
		render_safe_text(out, candidate->text);
		fputs(*module ? "  " : "", out);
		render_safe_text(out, module);
		fputc('\n', out);
	}
	if (session->candidate_total > session->candidate_count)
		fprintf(out, "  and %zu more\n", session->candidate_total - session->candidate_count);
}

uint64_t *totals_new(const struct profile *profile, struct error *error)
{
	uint64_t *totals = calloc(profile->resource_count + 1, sizeof(*totals));
	if (!totals) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	for (size_t i = 0; i < profile->hit_count; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		bool sampled = profile->resources[hit->resource].kind == RESOURCE_SAMPLED;
		totals[hit->resource] += sampled ? profile_hit_samples(profile, hit) : hit->count;
	}
	return totals;
}

void totals_print(FILE *out, const struct profile *profile, uint32_t resource, uint64_t total)
{
	const struct profile_resource *row = &profile->resources[resource];
	if (!resource_has_samples(row)) {
		char amount[64];
		fputs(render_amount(amount, sizeof(amount), (double)total, profile_string(profile, row->unit)), out);
	} else {
		fprintf(out, "%" PRIu64 " sample%s", total, total == 1 ? "" : "s");
	}
}
