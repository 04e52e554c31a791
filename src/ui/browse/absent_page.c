/* The page that stands for one whose function has no samples in the newest profile of a feed. */
#include <stdlib.h>

#include "ui/browse/browser.h"

struct absent_page {
	struct page page;
	const struct page_kind *wanted;
};

static void release(struct page *page)
{
	(void)page;
}

static size_t count(const struct page *page)
{
	(void)page;
	return 0;
}

static void head(const struct page *page, struct browser *browser, int row)
{
	(void)page;
	(void)browser;
	(void)row;
}

static void draw(const struct page *page, struct browser *browser, size_t index, int row, unsigned style)
{
	(void)page;
	(void)browser;
	(void)index;
	(void)row;
	(void)style;
}

static const char *text(const struct page *page, size_t index)
{
	(void)page;
	(void)index;
	return NULL;
}

const struct page_kind page_absent = {
	.name = "waiting for samples",
	.help = "the page of a function that has no samples at present",
	.release = release,
	.count = count,
	.head = head,
	.draw = draw,
	.text = text,
};

struct page *absent_new(const struct page_kind *kind, struct error *error)
{
	struct absent_page *absent = calloc(1, sizeof(*absent));
	if (!absent) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	absent->page.kind = &page_absent;
	absent->wanted = kind;
	return &absent->page;
}

const struct page_kind *absent_kind_of(const struct page *page)
{
	return page->kind == &page_absent ? ((const struct absent_page *)page)->wanted : page->kind;
}
