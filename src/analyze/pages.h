/*
 * Which memory page faults touched, and on which paths: from the addresses that
 * samples of such a resource carry (struct profile_touch).
 */
#ifndef ANALYZE_PAGES_H
#define ANALYZE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

enum { PAGES_PAGE_BYTES = 4096 };

/* Pages are those that samples touched: a page of each process is one of its own. */
struct page_path {
	uint64_t hits;
	uint64_t pages; /* distinct ones */
	uint32_t node;  /* of the view: the path's innermost label; 0: no stack */
};

struct page_mapping {
	uint32_t name; /* string of the profile: "[heap]", a file's path; "" if not known */
	uint64_t hits;
	uint64_t pages;
	uint64_t lowest, highest; /* addresses touched */
	size_t first_path;        /* its paths: paths[first_path] ..., by decreasing hits, ties by path */
	size_t path_count;
};

struct page_list {
	struct page_mapping *mappings; /* by decreasing hits, ties by name */
	size_t count;
	struct page_path *paths;
	uint64_t hits; /* those whose address is known */
};

/* Whether any sample of the resource carries an address. */
bool pages_are_known(const struct profile *profile, uint32_t resource);

/* The view was made with `keep_places`. Touches at nodes that have no hit in the
 * view are left out. NULL: ERROR_MEMORY, or ERROR_USAGE (no places). */
struct page_list *analyze_pages(const struct view *view, struct error *error);
void page_list_free(struct page_list *list); /* NULL is fine */

#endif
