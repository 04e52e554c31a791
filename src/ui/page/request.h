/*
 * A request of the page, as text: lines "KEY=VALUE", in any order. The keys are those of the command line's options, so that
 * both mean the same.
 *
 *   side        a (default) or b: which of two profiles
 *   report      the name of a report (reports/report.h), "info", or "diff" for the report of `of`
 *   has         on: is answered by {} if the profile has what the report needs, and refused otherwise
 *   of          for a diff: the report whose lists it compares
 *   shape       for a flame graph: stacks, callers, down, up, or changes: the stacks of both profiles; names: short names only
 *   other       for the shape stacks: a second resource, which colours the boxes
 *   root        the function of a report, of down and of up
 *   resource, by, thread, process (may be repeated), label (may be repeated), from, to, threshold, limit, group, key
 *   term        a term of a what-if (may be repeated)
 *   kernel                                 show, hide or only
 *   untrimmed, native_frames, no_inlines, no_stitch   on or off
 */
#ifndef UI_PAGE_REQUEST_H
#define UI_PAGE_REQUEST_H

#include "analyze/settings.h"
#include "base/error.h"
#include "profile/profile.h"

enum { PAGE_TERMS_MAX = 32 };

/* A request that was read. Its texts point into the text that was read. */
struct page_request {
	char *text; /* owned */
	const char *report, *of, *shape, *other, *root, *group, *key;
	const char *terms[PAGE_TERMS_MAX];
	size_t term_count;
	bool is_b, has;
	struct settings settings;
};

enum page_side { PAGE_SIDE_ASKED = -1, PAGE_SIDE_A, PAGE_SIDE_B };

/* Reads a request about one of the profiles (`profiles[1]` may be NULL), that of its key `side` or another. Returns 0 or a negative error with `error` set:
 * ERROR_USAGE for an unknown key or value, those of analyze/lookup.h, ERROR_MEMORY. The caller releases a request that was
 * read. */
int page_request_read(struct page_request *request, struct profile *const profiles[2], enum page_side side,
		      const char *text, struct error *error);
void page_request_release(struct page_request *request);

#endif
