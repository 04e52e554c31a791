/* The views that were used last, for programs that answer several questions about one profile. A view of a large profile takes
 * tens of MB, so only a few are kept. */
#ifndef ANALYZE_VIEW_CACHE_H
#define ANALYZE_VIEW_CACHE_H

#include "analyze/short_names.h"
#include "analyze/view.h"

enum { VIEW_CACHE_VIEWS = 12 };

/* Starts as {0}. */
struct view_cache {
	struct cached_view {
		struct view *view;         /* owned */
		struct short_names *names; /* owned: of its labels; NULL: not asked for yet */
		unsigned holders;
	} views[VIEW_CACHE_VIEWS]; /* most recently used first; {0} behind the last */
};

/* Returns the view with these options, and makes it if it is not in the cache; or NULL and sets `error`, like view_new, or ERROR_LIMIT:
 * all views of the cache are held. The cache owns the view, which is valid until VIEW_CACHE_VIEWS further calls or view_cache_trim. */
const struct view *view_cache_get(struct view_cache *cache, const struct profile *profile,
				  const struct view_options *options, struct error *error);
/* The same, and the view is valid until view_cache_drop. */
const struct view *view_cache_hold(struct view_cache *cache, const struct profile *profile,
				   const struct view_options *options, struct error *error);
void view_cache_drop(struct view_cache *cache, const struct view *view); /* accepts NULL */

/* Lets the transforms of `options` use the profile of a view in the cache that has the same transforms. */
void view_cache_share(const struct view_cache *cache, const struct profile *profile,
		      const struct view_options *options);

/* Returns the short names of the labels of a view in the cache, or of a subtree of one, which are valid as long as that view is; or NULL if
 * there is no such view, or memory is exhausted. */
struct short_names *view_cache_names(struct view_cache *cache, const struct view *view);

/* Frees views without a holder, those used longest ago first, until all views together have at most `nodes_most` nodes. */
void view_cache_trim(struct view_cache *cache, size_t nodes_most);
void view_cache_release(struct view_cache *cache); /* accepts {0}; no view is held */

#endif
