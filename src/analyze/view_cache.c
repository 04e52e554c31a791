#include "analyze/view_cache.h"

#include <string.h>

#include "analyze/transform.h"

static bool same_chosen(const bool *a, const bool *b, size_t count)
{
	if (!a || !b)
		return a == b;
	return memcmp(a, b, count * sizeof(*a)) == 0;
}

/* Returns whether a view with the options `a` can serve a request for `b`. */
static bool same_view(const struct profile *profile, const struct view_options *a, const struct view_options *b)
{
	return (a->keep_view_nodes || !b->keep_view_nodes) && a->resource == b->resource &&
	       a->every_resource == b->every_resource && a->by == b->by && a->kernel == b->kernel &&
	       a->no_inlines == b->no_inlines && a->untrimmed == b->untrimmed && a->no_stitch == b->no_stitch &&
	       a->native_frames == b->native_frames && a->no_tail_calls == b->no_tail_calls && a->zeros == b->zeros &&
	       same_chosen(a->processes, b->processes, profile->process_count) &&
	       same_chosen(a->label_sets, b->label_sets, profile->label_set_count) && a->thread == b->thread &&
	       a->from_ns == b->from_ns && a->to_ns == b->to_ns && transforms_are_equal(a->transforms, b->transforms);
}

/* Returns the profile that a view was requested of. */
static const struct profile *source_of(const struct view *view)
{
	return view->transformed ? transformed_source(view->transformed) : view->profile;
}

void view_cache_share(const struct view_cache *cache, const struct profile *profile, const struct view_options *options)
{
	for (size_t at = 0; at < VIEW_CACHE_VIEWS && cache->views[at].view; at++)
		if (cache->views[at].view->transformed)
			transforms_share(options, profile, cache->views[at].view->transformed);
}

/* Returns the place of the view with these options, or the number of views in the cache. */
static size_t find(const struct view_cache *cache, const struct profile *profile, const struct view_options *options)
{
	size_t at = 0;
	while (at < VIEW_CACHE_VIEWS && cache->views[at].view &&
	       (source_of(cache->views[at].view) != profile ||
		!same_view(profile, &cache->views[at].view->options, options)))
		at++;
	return at;
}

/* Moves a view to the front. */
static void move_first(struct view_cache *cache, size_t at)
{
	struct cached_view moved = cache->views[at];
	memmove(cache->views + 1, cache->views, at * sizeof(*cache->views));
	cache->views[0] = moved;
}

/* Frees the view at a place. */
static void discard(struct view_cache *cache, size_t at)
{
	short_names_free(cache->views[at].names);
	view_free(cache->views[at].view);
	memmove(cache->views + at, cache->views + at + 1, (VIEW_CACHE_VIEWS - at - 1) * sizeof(*cache->views));
	cache->views[VIEW_CACHE_VIEWS - 1] = (struct cached_view){ 0 };
}

/* Frees the view without a holder that was used longest ago. Returns false if there is none. */
static bool discard_one(struct view_cache *cache)
{
	for (size_t at = VIEW_CACHE_VIEWS; at-- > 0;) {
		if (!cache->views[at].view || cache->views[at].holders > 0)
			continue;
		discard(cache, at);
		return true;
	}
	return false;
}

const struct view *view_cache_get(struct view_cache *cache, const struct profile *profile,
				  const struct view_options *options, struct error *error)
{
	size_t at = find(cache, profile, options);
	if (at < VIEW_CACHE_VIEWS && cache->views[at].view) {
		move_first(cache, at);
		return cache->views[0].view;
	}
	view_cache_share(cache, profile, options);
	struct view *view = view_new(profile, options, error);
	if (view && at == VIEW_CACHE_VIEWS && !discard_one(cache)) {
		view_free(view);
		error_set(error, ERROR_LIMIT, "more than %d views at a time", VIEW_CACHE_VIEWS);
		return NULL;
	}
	if (!view)
		return NULL;
	memmove(cache->views + 1, cache->views, (VIEW_CACHE_VIEWS - 1) * sizeof(*cache->views));
	cache->views[0] = (struct cached_view){ .view = view };
	return view;
}

const struct view *view_cache_hold(struct view_cache *cache, const struct profile *profile,
				   const struct view_options *options, struct error *error)
{
	const struct view *view = view_cache_get(cache, profile, options, error);
	if (view)
		cache->views[0].holders++;
	return view;
}

void view_cache_drop(struct view_cache *cache, const struct view *view)
{
	for (size_t at = 0; view && at < VIEW_CACHE_VIEWS; at++)
		if (cache->views[at].view == view)
			cache->views[at].holders--;
}

struct short_names *view_cache_names(struct view_cache *cache, const struct view *view)
{
	size_t at = 0;
	while (at < VIEW_CACHE_VIEWS && cache->views[at].view && cache->views[at].view->labels != view->labels)
		at++;
	if (at == VIEW_CACHE_VIEWS || !cache->views[at].view)
		return NULL;
	struct cached_view *cached = &cache->views[at];
	if (!cached->names)
		cached->names = short_names_of_view(cached->view);
	return cached->names;
}

void view_cache_trim(struct view_cache *cache, size_t nodes_most)
{
	size_t nodes = 0;
	for (size_t at = 0; at < VIEW_CACHE_VIEWS; at++)
		nodes += cache->views[at].view ? cache->views[at].view->node_count : 0;
	for (size_t at = VIEW_CACHE_VIEWS; nodes > nodes_most && at-- > 0;) {
		if (!cache->views[at].view || cache->views[at].holders > 0)
			continue;
		nodes -= cache->views[at].view->node_count;
		discard(cache, at);
	}
}

void view_cache_release(struct view_cache *cache)
{
	for (size_t i = 0; i < VIEW_CACHE_VIEWS; i++) {
		short_names_free(cache->views[i].names);
		view_free(cache->views[i].view);
	}
	*cache = (struct view_cache){ 0 };
}
