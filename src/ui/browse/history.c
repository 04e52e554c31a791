/* The pages that were shown before, and the making of pages. */
#include <stdlib.h>
#include <string.h>

#include "ui/browse/browser.h"

static void release_page(struct page *page)
{
	if (!page)
		return;
	page->kind->release(page);
	free(page->root);
	free(page);
}

void browser_release_pages(struct browser *browser)
{
	release_page(browser->page);
	browser->page = NULL;
	while (browser->history_count > 0)
		free(browser->history[--browser->history_count].root);
}

/* Keeps the cursor on a row. */
static void place_cursor(struct page *page, size_t cursor)
{
	size_t count = page->kind->count(page);
	page->cursor = cursor < count ? cursor : count > 0 ? count - 1 : 0;
}

/* Makes a page in the place of the present one, which stays if that fails. */
static int show(struct browser *browser, const struct page_kind *kind, const char *root, size_t cursor,
		struct error *error)
{
	char *copy = root ? strdup(root) : NULL;
	if (root && !copy)
		return error_set(error, ERROR_MEMORY, "out of memory");
	struct page *page = kind->make(browser, copy, error);
	if (!page) {
		free(copy);
		return error->code;
	}
	page->kind = kind;
	page->root = copy;
	place_cursor(page, cursor ? cursor : page->cursor);
	release_page(browser->page);
	browser->page = page;
	return 0;
}

/* Remembers a page. The oldest place is forgotten if there are too many. */
static void remember(struct browser *browser, const struct page *page, const struct page_kind *kind, char *root)
{
	if (browser->history_count == BROWSER_HISTORY) {
		free(browser->history[0].root);
		memmove(browser->history, browser->history + 1, (BROWSER_HISTORY - 1) * sizeof(browser->history[0]));
		browser->history_count--;
	}
	browser->history[browser->history_count++] = (struct place){ kind, root, page->cursor };
}

int browser_open(struct browser *browser, const struct page_kind *kind, const char *root, struct error *error)
{
	struct page old = browser->page ? *browser->page : (struct page){ 0 };
	const struct page_kind *old_kind = browser->page ? absent_kind_of(browser->page) : NULL;
	char *copy = old.root ? strdup(old.root) : NULL;
	if (old.root && !copy)
		return error_set(error, ERROR_MEMORY, "out of memory");
	if (kind->needs_two && !browser->profiles[1]) {
		free(copy);
		return error_set(error, ERROR_USAGE, "there is no second profile to compare with (cpprof browse A B)");
	}
	int status = show(browser, kind, root, 0, error);
	if (status == 0 && old.kind)
		remember(browser, &old, old_kind, copy);
	else
		free(copy);
	return status;
}

int browser_renew(struct browser *browser, struct error *error)
{
	struct page *page = browser->page;
	char *root = page->root ? strdup(page->root) : NULL;
	if (page->root && !root)
		return error_set(error, ERROR_MEMORY, "out of memory");
	int status = show(browser, page->kind, root, page->cursor, error);
	free(root);
	if (status == 0)
		return 0;
	/* The function may have no hits in the new selection. */
	struct error second = { 0 };
	int other = show(browser, &page_tree, NULL, 0, &second);
	if (other < 0)
		*error = second;
	else
		browser_say(browser, "%s", error->message);
	return other;
}

/* Makes a page of the newer profile in the place of `old`. Returns NULL and sets `error`. */
static struct page *make_again(struct browser *browser, const struct page *old, char *root, struct error *error)
{
	const struct page_kind *kind = absent_kind_of(old);
	struct page *page = kind->make(browser, root, error);
	if (!page && error->code != ERROR_MEMORY)
		page = absent_new(kind, error);
	else if (page)
		page->kind = kind;
	return page;
}

int browser_follow(struct browser *browser, struct error *error)
{
	const struct page *old = browser->page;
	char *root = old->root ? strdup(old->root) : NULL;
	if (old->root && !root)
		return error_set(error, ERROR_MEMORY, "out of memory");
	struct page *page = make_again(browser, old, root, error);
	if (!page) {
		free(root);
		return error->code;
	}
	page->root = root;
	if (page->kind == old->kind) {
		place_cursor(page, old->cursor);
		page->top = old->top;
		if (page->kind->resume && page->kind->resume(page, old) < 0) {
			release_page(page);
			return error_set(error, ERROR_MEMORY, "out of memory");
		}
	}
	release_page(browser->page);
	browser->page = page;
	return 0;
}

bool browser_back(struct browser *browser, struct error *error)
{
	if (browser->history_count == 0)
		return false;
	struct place *place = &browser->history[--browser->history_count];
	int status = show(browser, place->kind, place->root, place->cursor, error);
	free(place->root);
	if (status < 0)
		browser_say(browser, "%s", error->message);
	return true;
}
