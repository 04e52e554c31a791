#include "explore/session.h"

#include <stdlib.h>
#include <string.h>

#include "explore/quote.h"
#include "explore/selection.h"
#include "explore/words.h"

int session_init(struct session *session, struct profile *profile, const struct explore_options *options,
		 struct error *error)
{
	*session = (struct session){
		.profile = profile,
		.options = options,
		.selection = { .by = VIEW_FUNCTION, .process = VIEW_ANY, .thread = VIEW_ANY },
		.render = { .format = RENDER_TEXT,
			    .threshold = SELECTION_THRESHOLD_DEFAULT,
			    .limit = SELECTION_LIMIT_DEFAULT,
			    .colour = options->colour,
			    .hint = "'threshold 0' and 'limit 0' show all" },
	};
	return session_choose(session, &(uint32_t){ 0 }, profile->resource_count ? 1 : 0, error);
}

static void forget_candidates(struct session *session)
{
	for (size_t i = 0; i < session->candidate_count; i++)
		free(session->candidates[i].text);
	session->candidate_count = 0;
	session->candidate_total = 0;
	session->candidates_news = false;
}

void session_release(struct session *session)
{
	for (size_t i = 0; i < SESSION_VIEWS; i++)
		view_free(session->views[i]);
	forget_candidates(session);
	free(session->resources);
	*session = (struct session){ 0 };
}

int session_choose(struct session *session, const uint32_t *resources, size_t count, struct error *error)
{
	uint32_t *copy = malloc((count ? count : 1) * sizeof(*copy));
	if (!copy)
		return error_set(error, ERROR_MEMORY, "out of memory");
	memcpy(copy, resources, count * sizeof(*copy));
	free(session->resources);
	session->resources = copy;
	session->resource_count = count;
	return 0;
}

static bool same_view(const struct view_options *a, const struct view_options *b)
{
	return a->resource == b->resource && a->by == b->by && a->no_inlines == b->no_inlines &&
	       a->untrimmed == b->untrimmed && a->process == b->process && a->thread == b->thread &&
	       a->from_ns == b->from_ns && a->to_ns == b->to_ns;
}

const struct view *session_view_of(struct session *session, const struct view_options *options, struct error *error)
{
	size_t at = 0;
	while (at < SESSION_VIEWS && session->views[at] && !same_view(&session->views[at]->options, options))
		at++;
	struct view *view = at < SESSION_VIEWS ? session->views[at] : NULL;
	if (!view) {
		view = view_new(session->profile, options, error);
		if (!view)
			return NULL;
		if (at == SESSION_VIEWS)
			view_free(session->views[--at]);
	}
	memmove(session->views + 1, session->views, at * sizeof(*session->views));
	session->views[0] = view;
	return view;
}

const struct view *session_view(struct session *session, uint32_t resource, struct error *error)
{
	struct view_options options = session->selection;
	options.resource = resource;
	return session_view_of(session, &options, error);
}

/* "#2" into the row 1 of the candidates; false: `name` is no such word. */
static bool candidate_row(const char *name, size_t *row)
{
	if (name[0] != '#' || !name[1] || name[1 + strspn(name + 1, "0123456789")] || strlen(name) > 6)
		return false;
	*row = strtoul(name + 1, NULL, 10) - 1; /* "#0" becomes a row far beyond the last */
	return true;
}

static int label_of_candidate(const struct view *view, const struct session_candidate *candidate, uint32_t *label,
			      struct error *error)
{
	for (uint32_t i = 0; i < view->label_count; i++) {
		if (view->labels[i].function == candidate->function &&
		    strcmp(view->labels[i].text, candidate->text) == 0) {
			*label = i;
			return 0;
		}
	}
	return selection_label(view, candidate->text, label, error);
}

static void keep_candidates(struct session *session, const struct view *view, const uint32_t *found, size_t total)
{
	forget_candidates(session);
	for (size_t i = 0; i < total && i < SESSION_CANDIDATES; i++) {
		const struct view_label *label = &view->labels[found[i]];
		char *text = strdup(label->text);
		if (!text)
			break; /* a shorter list */
		session->candidates[session->candidate_count++] =
			(struct session_candidate){ .text = text, .function = label->function };
	}
	session->candidate_total = total;
	session->candidates_news = true;
}

static int label_of_name(struct session *session, const struct view *view, const char *name, uint32_t *label,
			 struct error *error)
{
	size_t row;
	if (candidate_row(name, &row)) {
		if (row >= session->candidate_count)
			return error_set(error, ERROR_USAGE, "no %s in the last list of functions", QUOTE(name));
		return label_of_candidate(view, &session->candidates[row], label, error);
	}
	uint32_t found[SESSION_CANDIDATES];
	size_t total = *name ? view_find(view, name, found, SESSION_CANDIDATES) : 0;
	if (total < 2)
		return selection_label(view, name, label, error);
	keep_candidates(session, view, found, total);
	return error_set(error, ERROR_AMBIGUOUS, "%s fits %zu functions; type one in full, or its number", QUOTE(name),
			 total);
}

int session_label(struct session *session, const struct view *view, const char *name, uint32_t *label,
		  struct error *error)
{
	size_t length;
	name = words_bare(name, strlen(name), &length);
	char *bare = strndup(name, length);
	if (!bare)
		return error_set(error, ERROR_MEMORY, "out of memory");
	int status = label_of_name(session, view, bare, label, error);
	free(bare);
	return status;
}

static const char *module_of(const struct profile *profile, uint32_t function)
{
	uint32_t module = function < profile->function_count ? profile->functions[function].module : PROFILE_NONE;
	if (module >= profile->module_count)
		return "";
	const char *path = profile_string(profile, profile->modules[module].path);
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

void session_print_candidates(struct session *session, FILE *out)
{
	if (!session->candidates_news)
		return;
	session->candidates_news = false;
	for (size_t i = 0; i < session->candidate_count; i++) {
		const struct session_candidate *candidate = &session->candidates[i];
		const char *module = module_of(session->profile, candidate->function);
		fprintf(out, "  #%zu  %s%s%s\n", i + 1, candidate->text, *module ? "  " : "", module);
	}
	if (session->candidate_total > session->candidate_count)
		fprintf(out, "  and %zu more\n", session->candidate_total - session->candidate_count);
}
