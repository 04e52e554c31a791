/* The screen that stands for one whose function has no samples in the newest profile of a feed. */
#include <stdlib.h>

#include "ui/browse/browser.h"

struct absent_screen {
	struct screen screen;
	const struct screen_kind *wanted;
};

static void release(struct screen *screen)
{
	(void)screen;
}

static size_t count(const struct screen *screen)
{
	(void)screen;
	return 0;
}

static void head(const struct screen *screen, struct browser *browser, int row)
{
	(void)screen;
	(void)browser;
	(void)row;
}

static void draw(const struct screen *screen, struct browser *browser, size_t index, int row, unsigned style)
{
	(void)screen;
	(void)browser;
	(void)index;
	(void)row;
	(void)style;
}

static const char *text(const struct screen *screen, size_t index)
{
	(void)screen;
	(void)index;
	return NULL;
}

const struct screen_kind screen_absent = {
	.name = "waiting for samples",
	.help = "the page of a function that has no samples at present",
	.release = release,
	.count = count,
	.head = head,
	.draw = draw,
	.text = text,
};

struct screen *absent_new(const struct screen_kind *kind, struct error *error)
{
	struct absent_screen *absent = calloc(1, sizeof(*absent));
	if (!absent) {
		error_set(error, ERROR_MEMORY, "out of memory");
		return NULL;
	}
	absent->screen.kind = &screen_absent;
	absent->wanted = kind;
	return &absent->screen;
}

const struct screen_kind *absent_kind_of(const struct screen *screen)
{
	return screen->kind == &screen_absent ? ((const struct absent_screen *)screen)->wanted : screen->kind;
}
