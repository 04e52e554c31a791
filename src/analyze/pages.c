#include "analyze/pages.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"

/* The memory that one row of touches names, in a form that can be sorted. */
struct touched {
	uint64_t page;
	uint64_t address;
	uint32_t name; /* string id of the mapping's name */
	uint32_t node; /* node of the view */
	uint32_t process;
	uint32_t count;
};

struct pages {
	const struct view *view;
	struct touched *touched;
	size_t count;
	struct page_list *list;
};

bool pages_are_known(const struct profile *profile, uint32_t resource)
{
	for (size_t i = 0; i < profile->touch_count; i++)
		if (profile->touches[i].resource == resource)
			return true;
	return false;
}

void page_list_free(struct page_list *list)
{
	if (!list)
		return;
	free(list->mappings);
	free(list->paths);
	free(list);
}

/* Copies the touches that the view selects. */
static void gather(struct pages *pages, const struct selection *selection)
{
	const struct view *view = pages->view;
	const struct profile *profile = view->profile;
	for (size_t i = 0; i < profile->touch_count; i++) {
		const struct profile_touch *touch = &profile->touches[i];
		uint32_t node = view->view_node[touch->node];
		if (touch->resource != view->options.resource || node == PROFILE_NONE ||
		    !selection_has(selection, touch->thread, touch->time_ns, PROFILE_NO_LABELS, touch->node))
			continue;
		uint32_t process =
			touch->thread == PROFILE_NONE ? PROFILE_NONE : profile->threads[touch->thread].process;
		pages->touched[pages->count++] = (struct touched){ .page = touch->address / PAGES_PAGE_BYTES,
								   .address = touch->address,
								   .name = touch->mapping,
								   .node = node,
								   .process = process,
								   .count = touch->count };
	}
}

static int compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int compare_pages(const struct touched *a, const struct touched *b)
{
	int order = compare(a->process, b->process);
	return order ? order : compare(a->page, b->page);
}

static int by_page(const void *left, const void *right)
{
	const struct touched *a = left, *b = right;
	int order = compare(a->name, b->name);
	return order ? order : compare_pages(a, b);
}

static int by_path(const void *left, const void *right)
{
	const struct touched *a = left, *b = right;
	int order = compare(a->name, b->name);
	order = order ? order : compare(a->node, b->node);
	return order ? order : compare_pages(a, b);
}

/* Nodes are numbered in the order of their paths. */
static int compare_paths(const void *left, const void *right)
{
	const struct page_path *a = left, *b = right;
	int order = compare(b->hits, a->hits);
	return order ? order : compare(a->node, b->node);
}

static int compare_mappings(const void *left, const void *right, void *context)
{
	const struct page_mapping *a = left, *b = right;
	int order = compare(b->hits, a->hits);
	return order ? order : strcmp(profile_string(context, a->name), profile_string(context, b->name));
}

/* Makes the mappings; the touches are sorted by page. */
static void add_mappings(struct pages *pages)
{
	struct page_list *list = pages->list;
	for (size_t i = 0; i < pages->count; i++) {
		const struct touched *touched = &pages->touched[i], *before = i ? touched - 1 : NULL;
		bool is_new = !before || before->name != touched->name;
		if (is_new)
			list->mappings[list->count++] =
				(struct page_mapping){ .name = touched->name, .lowest = UINT64_MAX };
		struct page_mapping *mapping = &list->mappings[list->count - 1];
		mapping->hits += touched->count;
		mapping->pages += is_new || compare_pages(before, touched) != 0;
		if (touched->address < mapping->lowest)
			mapping->lowest = touched->address;
		if (touched->address > mapping->highest)
			mapping->highest = touched->address;
		list->hits += touched->count;
	}
}

/* Makes the paths; the touches are sorted by path, their mappings in the same order as in add_mappings. */
static void add_paths(struct pages *pages)
{
	struct page_list *list = pages->list;
	struct page_mapping *mapping = list->mappings;
	size_t count = 0;
	for (size_t i = 0; i < pages->count; i++) {
		const struct touched *touched = &pages->touched[i], *before = i ? touched - 1 : NULL;
		if (before && before->name != touched->name)
			(++mapping)->first_path = count;
		bool is_new = !before || before->name != touched->name || before->node != touched->node;
		if (is_new) {
			list->paths[count++] = (struct page_path){ .node = touched->node };
			mapping->path_count++;
		}
		struct page_path *path = &list->paths[count - 1];
		path->hits += touched->count;
		path->pages += is_new || compare_pages(before, touched) != 0;
	}
}

static void sort(struct pages *pages)
{
	struct page_list *list = pages->list;
	for (size_t i = 0; i < list->count; i++)
		qsort(list->paths + list->mappings[i].first_path, list->mappings[i].path_count, sizeof(*list->paths),
		      compare_paths);
	qsort_r(list->mappings, list->count, sizeof(*list->mappings), compare_mappings, (void *)pages->view->profile);
}

static int make_list(struct pages *pages)
{
	size_t limit = pages->view->profile->touch_count + 1;
	struct selection selection;
	int status = selection_begin(&selection, pages->view);
	pages->list = calloc(1, sizeof(*pages->list));
	pages->touched = malloc(limit * sizeof(*pages->touched));
	if (!pages->list || !pages->touched || status < 0) {
		selection_end(&selection);
		return ERROR_MEMORY;
	}
	gather(pages, &selection);
	selection_end(&selection);
	pages->list->mappings = malloc((pages->count + 1) * sizeof(*pages->list->mappings));
	pages->list->paths = malloc((pages->count + 1) * sizeof(*pages->list->paths));
	if (!pages->list->mappings || !pages->list->paths)
		return ERROR_MEMORY;
	qsort(pages->touched, pages->count, sizeof(*pages->touched), by_page);
	add_mappings(pages);
	qsort(pages->touched, pages->count, sizeof(*pages->touched), by_path);
	add_paths(pages);
	sort(pages);
	return 0;
}

struct page_list *analyze_pages(const struct view *view, struct error *error)
{
	if (!view->view_node) {
		error_set(error, ERROR_USAGE, "cannot list pages: the view does not keep the nodes of its hits");
		return NULL;
	}
	struct pages pages = { .view = view };
	int result = make_list(&pages);
	free(pages.touched);
	if (result == 0)
		return pages.list;
	page_list_free(pages.list);
	error_set(error, result, "out of memory for the pages that were touched");
	return NULL;
}
