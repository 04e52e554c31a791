#include "ui/page/engine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "analyze/shown_path.h"
#include "analyze/subtree.h"
#include "analyze/transform.h"
#include "base/buffer.h"
#include "base/quote.h"
#include "profile_file/reader.h"
#include "render/render.h"
#include "reports/diff.h"
#include "reports/report.h"
#include "ui/page/compact.h"

/* Inserts a profile behind the others of its side. Returns 0 or ERROR_MEMORY. */
static int add_profile(struct engine *engine, enum diff_sides side, struct profile *profile)
{
	size_t count = engine->counts[DIFF_A] + engine->counts[DIFF_B];
	size_t at = side == DIFF_A ? engine->counts[DIFF_A] : count;
	struct profile **profiles = realloc(engine->profiles, (count + 1) * sizeof(*profiles));
	if (!profiles)
		return ERROR_MEMORY;
	memmove(profiles + at + 1, profiles + at, (count - at) * sizeof(*profiles));
	profiles[at] = profile;
	engine->profiles = profiles;
	engine->counts[side]++;
	return 0;
}

int engine_load(struct engine *engine, enum diff_sides side, const void *bytes, size_t size, struct error *error)
{
	static const char name[] = "the page's profile";
	struct compact_table table;
	if (compact_find_table(&table, bytes, size) < 0)
		return error_set(error, ERROR_CORRUPT, "cannot read %s: corrupt", name);
	struct profile *profile =
		reader_load_bytes((const uint8_t *)bytes + table.file, size - table.file, name, 0, error);
	if (!profile)
		return error->code;
	int status = compact_restore(&table, profile);
	if (status == 0)
		status = add_profile(engine, side, profile);
	if (status == 0)
		return 0;
	profile_free(profile);
	return error_set(error, status, "cannot read %s: %s", name, error_text(status));
}

/* Returns the first recording of a side, or NULL. */
static struct profile *first_of(const struct engine *engine, enum diff_sides side)
{
	return engine->counts[side] > 0 ? engine->profiles[side == DIFF_A ? 0 : engine->counts[DIFF_A]] : NULL;
}

int engine_load_code(struct engine *engine, enum diff_sides side, const void *bytes, size_t size, struct error *error)
{
	const struct profile *profile = first_of(engine, side);
	if (!profile)
		return error_set(error, ERROR_USAGE, "the page has no profile for its machine code");
	struct stored_code *code = stored_code_read(profile, bytes, size, error);
	if (!code)
		return error->code;
	stored_code_free(engine->code[side]);
	engine->code[side] = code;
	return 0;
}

/* Returns the stored code of a profile; NULL: the page has none. */
static struct stored_code *code_of(const struct engine *engine, const struct profile *profile)
{
	for (int side = 0; side < DIFF_SIDES; side++)
		if (profile == first_of(engine, side))
			return engine->code[side];
	return NULL;
}

void engine_release(struct engine *engine)
{
	view_cache_release(&engine->views);
	for (size_t i = 0; i < engine->counts[DIFF_A] + engine->counts[DIFF_B]; i++)
		profile_free(engine->profiles[i]);
	free(engine->profiles);
	for (int side = 0; side < DIFF_SIDES; side++)
		stored_code_free(engine->code[side]);
	for (size_t i = 0; i < ENGINE_LANE_SETS; i++)
		lane_set_take(&engine->lanes[i], NULL);
	*engine = (struct engine){ 0 };
}

/* --- answers --- */

/* Views of one million nodes take 40 MB. */
enum { KEPT_NODES_MOST = 1500000 };

/* One of the profiles, whose views a report asks for. */
struct source {
	struct engine *engine;
	const struct profile *profile;
	bool has_all_functions; /* as roots of the report */
};

static const struct view *cached_view(void *context, const struct view_options *options, struct error *error)
{
	const struct source *source = context;
	return view_cache_get(&source->engine->views, source->profile, options, error);
}

static int cached_roots(void *context, const struct view *view, const char *name, struct label_set *roots,
			struct error *error)
{
	const struct source *source = context;
	if (!source->has_all_functions)
		return lookup_functions(view, name, roots, error);
	struct label_set all = { .labels = calloc(view->label_count + 1, sizeof(*all.labels)) };
	if (!all.labels)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (uint32_t i = 0; i < view->label_count; i++)
		all.labels[all.count++] = i;
	*roots = all;
	return 0;
}

static int print_results(FILE *out, const struct page_request *request, const struct render_envelope *envelope,
			 const struct results *results, struct error *error)
{
	const struct render_options options = { .format = RENDER_JSON,
						.threshold = request->settings.threshold,
						.limit = request->settings.limit };
	struct render_document document;
	int status = 0;
	render_begin(&document, out, &options, envelope);
	for (size_t i = 0; i < results->count && status == 0; i++)
		status = render_result(&document, &results->items[i], error);
	render_end(&document);
	return status;
}

static bool contains(const struct view *view, struct path_list *paths, size_t entry, const char *text)
{
	const uint32_t *labels = path_labels(paths, &paths->entries[entry]);
	for (size_t i = 0; i < paths->entries[entry].length; i++)
		if (strcasestr(view->labels[labels[i]].text, text))
			return true;
	return false;
}

/* Removes the entries that the request does not search for. Their errors, if any, go with them. */
static void keep_found(struct result *result, const char *text)
{
	struct path_list *paths = result->paths;
	size_t kept = 0;
	for (size_t i = 0; paths && i < paths->count; i++) {
		if (!contains(result->view, paths, i, text))
			continue;
		if (result->errors)
			result->errors[kept] = result->errors[i];
		paths->entries[kept++] = paths->entries[i];
	}
	if (paths)
		paths->count = kept;
}

/* Removes the lines of other files. */
static void keep_file(const struct result *result, const char *file)
{
	struct line_list *lines = result->lines;
	size_t kept = 0;
	for (size_t i = 0; lines && i < lines->count; i++)
		if (strcmp(profile_string(result->view->profile, lines->entries[i].file), file) == 0)
			lines->entries[kept++] = lines->entries[i];
	if (lines)
		lines->count = kept;
}

static int answer_report(struct engine *engine, const struct page_request *asked, FILE *out, struct error *error)
{
	const struct profile *profile = asked->profile;
	const struct report *report = asked->report ? report_find(asked->report) : NULL;
	if (!report)
		return error_set(error, ERROR_USAGE, "no report %s", QUOTE(asked->report ? asked->report : ""));
	struct source context = { engine, profile, asked->file != NULL };
	const struct report_source source = { .view = cached_view, .roots = cached_roots, .context = &context };
	const struct code_source code = { .decode = stored_code_decode, .context = code_of(engine, profile) };
	uint32_t resource = asked->settings.view.resource;
	struct report_request request = {
		.report = report,
		.profile = profile,
		.view = asked->settings.view,
		.resources = &resource,
		.resource_count = 1,
		.resources_named = true,
		.root = asked->file ? asked->file : asked->root,
		.terms = asked->terms,
		.term_count = asked->term_count,
		.group = asked->group,
		.key = asked->key,
		.threshold = asked->settings.threshold,
		.limit = asked->settings.limit,
		.code = &code,
		.source = &source,
	};
	struct results results = { 0 };
	int status = report_prepare(&request, error);
	if (status == 0 && asked->has)
		return fputs("{}", out) < 0 ? error_set(error, ERROR_MEMORY, "out of memory") : 0;
	if (status == 0)
		status = report_build(&request, &results, error);
	for (size_t i = 0; status == 0 && asked->search && i < results.count; i++)
		keep_found(&results.items[i], asked->search);
	for (size_t i = 0; status == 0 && asked->file && i < results.count; i++)
		keep_file(&results.items[i], asked->file);
	if (status == 0)
		status = print_results(
			out, asked,
			&(struct render_envelope){ .command = "report", .report = report->name, .profile = profile },
			&results, error);
	results_release(&results);
	return status;
}

/* --- all recordings --- */

/* The request as each recording reads it: the numbers of processes, threads and label sets are its own. */
struct read_requests {
	struct page_request *of;    /* [count] */
	struct view_options *views; /* [count]: their settings */
	size_t count;
};

static void read_requests_release(struct read_requests *requests)
{
	for (size_t i = 0; i < requests->count; i++)
		page_request_release(&requests->of[i]);
	free(requests->of);
	free(requests->views);
}

/* Reads the request for all recordings of a comparison. Returns 0 or a negative error with `error` set; then there is nothing to
 * release. */
static int read_for_all(struct read_requests *requests, const struct engine *engine, const char *text,
			struct error *error)
{
	size_t count = engine->counts[DIFF_A] + engine->counts[DIFF_B];
	int status = 0;
	*requests = (struct read_requests){ 0 };
	if (engine->counts[DIFF_A] == 0 || engine->counts[DIFF_B] == 0)
		return error_set(error, ERROR_USAGE, "the page has no second profile");
	requests->of = calloc(count, sizeof(*requests->of));
	requests->views = calloc(count, sizeof(*requests->views));
	if (!requests->of || !requests->views)
		status = error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < count && status == 0; i++) {
		status = page_request_read(&requests->of[i], engine, engine->profiles[i], text, error);
		if (status < 0)
			break;
		requests->views[i] = requests->of[i].settings.view;
		requests->count++;
	}
	if (status < 0)
		read_requests_release(requests);
	return status;
}

static int answer_diff(const struct engine *engine, const struct page_request *asked, const char *text, FILE *out,
		       struct error *error)
{
	const struct profile *const *profiles = (const struct profile *const *)engine->profiles;
	const struct report *report = asked->of ? report_find(asked->of) : NULL;
	struct read_requests requests;
	int status = read_for_all(&requests, engine, text, error);
	if (status < 0)
		return status;
	struct diff_request request = {
		.profiles = profiles,
		.counts = { engine->counts[DIFF_A], engine->counts[DIFF_B] },
		.views = requests.views,
		.resources = &requests.views[0].resource,
		.resource_count = 1,
		.spread = asked->settings.spread,
		.chance = DIFF_CHANCE,
		.resources_named = true,
		.sections = { { .report = report, .root = asked->root } },
		.section_count = 1,
	};
	struct results results = { 0 };
	struct error uncompared = { 0 };
	if (!report || !report_is_list(report))
		status = error_set(error, ERROR_USAGE, "no list %s", QUOTE(asked->of ? asked->of : ""));
	else
		status = diff_build(&request, &results, &uncompared, error);
	if (status == 0)
		status = print_results(
			out, asked,
			&(struct render_envelope){ .command = "diff",
						   .profiles = profiles,
						   .counts = { request.counts[DIFF_A], request.counts[DIFF_B] } },
			&results, error);
	results_release(&results);
	read_requests_release(&requests);
	return status;
}

static int answer_info(const struct page_request *asked, FILE *out, struct error *error)
{
	static const struct render_options options = { .format = RENDER_JSON };
	int status = render_info(out, asked->profile, "", 0, &options);
	return status < 0 ? error_set(error, status, "out of memory") : 0;
}

static int answer(struct engine *engine, const struct page_request *request, const char *text, FILE *out,
		  struct error *error)
{
	if (request->report && strcmp(request->report, "info") == 0)
		return answer_info(request, out, error);
	if (request->report && strcmp(request->report, "diff") == 0)
		return answer_diff(engine, request, text, out, error);
	return answer_report(engine, request, out, error);
}

char *engine_answer(struct engine *engine, const char *text, struct error *error)
{
	struct page_request request;
	view_cache_trim(&engine->views, KEPT_NODES_MOST);
	if (page_request_read(&request, engine, NULL, text, error) < 0)
		return NULL;
	char *answered = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&answered, &size);
	int status = out ? answer(engine, &request, text, out, error) : error_set(error, ERROR_MEMORY, "out of memory");
	if (out && (ferror(out) | fclose(out)) && status == 0)
		status = error_set(error, ERROR_MEMORY, "out of memory");
	page_request_release(&request);
	if (status == 0)
		return answered;
	free(answered);
	return NULL;
}

/* --- pictures --- */

static int make_rooted(struct picture *picture, const struct page_request *request, struct error *error)
{
	struct label_set roots = { 0 };
	if (!request->root)
		return error_set(error, ERROR_USAGE, "the shape %s needs a root", QUOTE(request->shape));
	int status = lookup_functions(picture->view, request->root, &roots, error);
	if (status < 0)
		return status;
	if (strcmp(request->shape, "up") == 0) {
		picture->flame = flame_of_callers(picture->view, &roots, error);
	} else {
		picture->subtree = subtree_new(picture->view, &roots, error);
		picture->flame = picture->subtree ? flame_of_stacks(picture->subtree, error) : NULL;
	}
	label_set_release(&roots);
	return picture->flame ? 0 : error->code;
}

/* Makes the boxes of several views. */
static int make_pair(struct picture *picture, const struct view *const *views, const size_t counts[DIFF_SIDES],
		     enum tree_pair_layout layout, double spread, struct error *error)
{
	picture->pair = tree_pair_new(views, counts, layout, spread, error);
	if (!picture->pair)
		return error->code;
	picture->view = &picture->pair->tree;
	picture->flame = flame_of_stacks(picture->view, error);
	return picture->flame ? 0 : error->code;
}

/* Shows the stacks of all recordings. */
static int make_changes(struct picture *picture, struct engine *engine, const char *text,
			const struct page_request *request, struct error *error)
{
	struct read_requests requests;
	int status = read_for_all(&requests, engine, text, error);
	if (status < 0)
		return status;
	picture->recordings = calloc(requests.count, sizeof(*picture->recordings));
	if (!picture->recordings)
		status = error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < requests.count && status == 0; i++) {
		picture->recordings[i] = view_new(engine->profiles[i], &requests.views[i], error);
		status = picture->recordings[i] ? 0 : error->code;
		picture->recording_count += status == 0;
	}
	read_requests_release(&requests);
	return status < 0 ? status
			  : make_pair(picture, (const struct view *const *)picture->recordings, engine->counts,
				      TREE_PAIR_LARGER, request->settings.spread, error);
}

/* Shows the stacks of one resource, with their hits of another. */
static int make_coloured(struct picture *picture, const struct page_request *request, struct error *error)
{
	struct view_options options = request->settings.view;
	int status = lookup_resource(picture->own->profile, request->other, &options.resource, error);
	if (status < 0)
		return status;
	picture->second = view_cache_hold(picture->views, picture->own->profile, &options, error);
	if (!picture->second)
		return error->code;
	return make_pair(picture, (const struct view *const[]){ picture->own, picture->second },
			 (const size_t[DIFF_SIDES]){ 1, 1 }, TREE_PAIR_FIRST, 0, error);
}

static int make_picture(struct picture *picture, struct engine *engine, const char *text,
			const struct page_request *request, struct error *error)
{
	const char *shape = request->shape ? request->shape : "stacks";
	if (strcmp(shape, "changes") == 0)
		return make_changes(picture, engine, text, request, error);
	picture->own = view_cache_hold(picture->views, request->profile, &request->settings.view, error);
	if (!picture->own)
		return error->code;
	picture->view = picture->own;
	if (strcmp(shape, "names") == 0)
		return 0;
	if (strcmp(shape, "stacks") == 0 && request->other)
		return make_coloured(picture, request, error);
	if (strcmp(shape, "down") == 0 || strcmp(shape, "up") == 0)
		return make_rooted(picture, request, error);
	picture->is_of_view = strcmp(shape, "stacks") == 0;
	if (picture->is_of_view)
		picture->flame = flame_of_stacks(picture->view, error);
	else if (strcmp(shape, "callers") == 0)
		picture->flame = flame_of_callers(picture->view, NULL, error);
	else
		return error_set(error, ERROR_USAGE, "no shape %s (stacks, callers, down, up, changes, names)",
				 QUOTE(shape));
	return picture->flame ? 0 : error->code;
}

int picture_make(struct picture *picture, struct engine *engine, const char *text, struct error *error)
{
	struct page_request request;
	*picture = (struct picture){ .views = &engine->views };
	view_cache_trim(&engine->views, KEPT_NODES_MOST);
	int status = page_request_read(&request, engine, NULL, text, error);
	if (status < 0)
		return status;
	status = make_picture(picture, engine, text, &request, error);
	page_request_release(&request);
	if (status < 0)
		picture_release(picture);
	return status;
}

void picture_release(struct picture *picture)
{
	flame_free(picture->flame);
	subtree_free(picture->subtree);
	tree_pair_free(picture->pair);
	for (size_t i = 0; i < picture->recording_count; i++)
		view_free(picture->recordings[i]);
	free(picture->recordings);
	if (picture->views) {
		view_cache_drop(picture->views, picture->second);
		view_cache_drop(picture->views, picture->own);
	}
	free(picture->marks);
	free(picture->marked);
	short_names_free(picture->names);
	free(picture->by_text);
	*picture = (struct picture){ 0 };
}

/* --- names --- */

void picture_short_label(struct picture *picture, size_t label, size_t columns, struct buffer *to)
{
	if (!picture->names)
		picture->names = short_names_of_view(picture->view);
	if (picture->names)
		short_names_append(picture->names, label, columns, to);
	else
		to->error = ERROR_MEMORY;
}

static int compare_labels(const void *left, const void *right, void *context)
{
	const struct view_label *labels = context;
	return strcmp(labels[*(const uint32_t *)left].text, labels[*(const uint32_t *)right].text);
}

/* Makes the labels in the order of their texts; the labels of a pair are not in this order. Returns 0 or ERROR_MEMORY. */
static int sort_labels(struct picture *picture)
{
	size_t count = picture->view->label_count;
	if (picture->by_text)
		return 0;
	picture->by_text = malloc((count + 1) * sizeof(*picture->by_text));
	if (!picture->by_text)
		return ERROR_MEMORY;
	for (size_t i = 0; i < count; i++)
		picture->by_text[i] = (uint32_t)i;
	qsort_r(picture->by_text, count, sizeof(*picture->by_text), compare_labels, picture->view->labels);
	return 0;
}

/* Returns the number of the label with this text, or PROFILE_NONE. */
static uint32_t find_label(const struct picture *picture, const char *text)
{
	size_t first = 0, end = picture->view->label_count;
	while (first < end) {
		size_t middle = first + (end - first) / 2;
		int order = strcmp(picture->view->labels[picture->by_text[middle]].text, text);
		if (order == 0)
			return picture->by_text[middle];
		if (order < 0)
			first = middle + 1;
		else
			end = middle;
	}
	return PROFILE_NONE;
}

void picture_short_name(struct picture *picture, const char *name, size_t columns, struct buffer *to)
{
	if (sort_labels(picture) < 0) {
		to->error = ERROR_MEMORY;
		return;
	}
	uint32_t label = find_label(picture, name);
	if (label != PROFILE_NONE)
		picture_short_label(picture, label, columns, to);
	else
		short_name_fit(to, name, strlen(name), columns);
}

const char *picture_function_at(const struct picture *picture, const char *file, uint32_t line)
{
	const struct profile *profile = picture->view->profile;
	for (size_t i = 0; i < picture->view->label_count; i++) {
		const struct view_label *label = &picture->view->labels[i];
		if (label->frame == PROFILE_NONE)
			continue;
		const struct profile_frame *frame = &profile->frames[label->frame];
		if (frame->line == line && strcmp(profile_string(profile, frame->file), file) == 0)
			return label->owner;
	}
	return NULL;
}

/* --- search --- */

/* Returns the tree whose nodes are the picture's boxes, or NULL: they are callers. */
static const struct view *tree_of(const struct picture *picture)
{
	return picture->subtree ? picture->subtree : picture->is_of_view || picture->pair ? picture->view : NULL;
}

/* Counts the marked nodes before each. Returns 0 or ERROR_MEMORY. */
static int count_marked(struct picture *picture)
{
	const struct view *tree = tree_of(picture);
	if (!tree)
		return 0;
	picture->marked = calloc((size_t)tree->node_count + 1, sizeof(*picture->marked));
	if (!picture->marked)
		return ERROR_MEMORY;
	for (uint32_t node = 0; node < tree->node_count; node++) /* the root has no label */
		picture->marked[node + 1] = picture->marked[node] + (node > 0 && picture->marks[tree->label[node]]);
	return 0;
}

bool picture_holds(const struct picture *picture, uint32_t node)
{
	const struct view *tree = tree_of(picture);
	return picture->marked && node < tree->node_count && picture->marked[tree->end[node]] > picture->marked[node];
}

int64_t picture_search(struct picture *picture, const char *text, uint64_t *hits)
{
	const struct view *view = picture->view;
	int64_t found = 0;
	*hits = 0;
	free(picture->marks);
	free(picture->marked);
	picture->marks = NULL;
	picture->marked = NULL;
	if (!*text)
		return 0;
	picture->marks = calloc(view->label_count + 1, sizeof(*picture->marks));
	if (!picture->marks)
		return ERROR_MEMORY;
	for (size_t i = 0; i < view->label_count; i++) {
		picture->marks[i] = strcasestr(view->labels[i].text, text) != NULL;
		found += picture->marks[i];
	}
	*hits = flame_matched(view, picture->marks);
	return count_marked(picture) < 0 ? ERROR_MEMORY : found;
}

char *picture_folded_path(const struct picture *picture, uint32_t node, struct error *error)
{
	size_t count = 0;
	uint32_t *labels = flame_folded_path(picture->flame, node, &count);
	struct buffer text;
	buffer_init(&text);
	for (size_t i = 0; labels && i < count; i++) {
		if (i > 0)
			buffer_append_byte(&text, ';');
		buffer_append_string(&text, picture->view->labels[labels[i]].text);
	}
	buffer_append_byte(&text, 0);
	bool is_made = labels && buffer_error(&text) == 0;
	free(labels);
	if (is_made)
		return (char *)text.bytes;
	buffer_release(&text);
	error_set(error, ERROR_MEMORY, "out of memory");
	return NULL;
}

char *picture_whole_path(const struct picture *picture, uint32_t node, struct error *error)
{
	struct buffer text;
	buffer_init(&text);
	if (!picture->is_of_view || node >= picture->view->node_count) {
		error_set(error, ERROR_USAGE, "this picture has no whole paths");
		return NULL;
	}
	transform_path_append(picture->view, node, &text);
	buffer_append_byte(&text, 0);
	if (buffer_error(&text) == 0)
		return (char *)text.bytes;
	buffer_release(&text);
	error_set(error, ERROR_MEMORY, "out of memory");
	return NULL;
}

/* --- time --- */

struct timeline *engine_timeline(const struct engine *engine, const char *text, size_t periods,
				 const struct profile **side, struct error *error)
{
	struct page_request request;
	if (page_request_read(&request, engine, NULL, text, error) < 0)
		return NULL;
	view_cache_share(&engine->views, request.profile, &request.settings.view);
	uint32_t key = TIMELINE_THREADS;
	struct timeline *timeline = NULL;
	if (!request.key || lookup_label_key(request.profile, request.key, &key, error) == 0)
		timeline = analyze_timeline(request.profile, &request.settings.view, key, periods, error);
	*side = timeline ? timeline->profile : request.profile;
	page_request_release(&request);
	return timeline;
}

int engine_has_times(const struct engine *engine, const char *text, struct error *error)
{
	struct page_request request;
	int status = page_request_read(&request, engine, NULL, text, error);
	if (status < 0)
		return status;
	const struct profile *profile = request.profile;
	bool has_times = false;
	for (size_t i = 0; i < profile->hit_count && !has_times; i++) {
		const struct profile_hit *hit = &profile->hits[i];
		has_times = hit->resource == request.settings.view.resource &&
			    (request.key || hit->thread != PROFILE_NONE) && hit->time_ns > 0 &&
			    hit->time_ns >= profile->start_ns;
	}
	page_request_release(&request);
	return has_times;
}

char *engine_path(const struct profile *profile, uint32_t node, struct error *error)
{
	struct shown_path path = { 0 };
	struct buffer text;
	buffer_init(&text);
	int status = node == PROFILE_ROOT ? 0 : shown_path_set(&path, profile, node);
	for (size_t i = 0; status == 0 && i < path.count; i++) {
		if (i > 0)
			buffer_append_byte(&text, ';');
		buffer_append_string(&text, profile_string(profile, profile->functions[path.functions[i]].name));
	}
	shown_path_release(&path);
	buffer_append_byte(&text, 0);
	if (status == 0 && !buffer_error(&text))
		return (char *)text.bytes;
	buffer_release(&text);
	error_set(error, ERROR_MEMORY, "out of memory");
	return NULL;
}
