/*
 * Lists the memory that page faults touched and the paths that touched it, from the addresses that samples of such a
 * resource have (struct profile_touch).
 */
#ifndef ANALYZE_PAGES_H
#define ANALYZE_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "analyze/view.h"
#include "base/error.h"

enum { PAGES_PAGE_BYTES = 4096 };

/* Only pages that samples touched are counted. The same page number in two processes is two pages. */
struct page_path {
	uint64_t hits;
	uint64_t pages; /* distinct pages */
	uint32_t node;  /* of the view: the path's innermost label; 0: no stack */
};

struct page_mapping {
	uint32_t name; /* string of the profile: "[heap]", a file's path; "" if unknown */
	uint64_t hits;
	uint64_t pages;
	uint64_t lowest, highest; /* touched addresses */
	size_t first_path;        /* its paths start at paths[first_path], by decreasing hits, ties by path */
	size_t path_count;
};

struct page_list {
	struct page_mapping *mappings; /* by decreasing hits, ties by name */
	size_t count;
	struct page_path *paths;
	uint64_t hits; /* hits with a known address */
};

/* Returns whether any sample of the resource has an address. */
bool pages_are_known(const struct profile *profile, uint32_t resource);

/* The view must be made with `keep_view_nodes`. Touches at nodes without a hit in the view are left out. Returns NULL
 * on error: ERROR_MEMORY, or ERROR_USAGE if the view has no view_node. */
struct page_list *analyze_pages(const struct view *view, struct error *error);
void page_list_free(struct page_list *list); /* accepts NULL */

#endif
