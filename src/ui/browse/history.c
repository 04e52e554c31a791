/* The screens that were shown before, and the making of screens. */
#include <stdlib.h>
#include <string.h>

#include "ui/browse/browser.h"

static void release_screen(struct screen *screen)
{
	if (!screen)
		return;
	screen->kind->release(screen);
	free(screen->root);
	free(screen);
}

void browser_release_screens(struct browser *browser)
{
	release_screen(browser->screen);
	browser->screen = NULL;
	while (browser->history_count > 0)
		free(browser->history[--browser->history_count].root);
}

/* Keeps the cursor on a row. */
static void place_cursor(struct screen *screen, size_t cursor)
{
	size_t count = screen->kind->count(screen);
	screen->cursor = cursor < count ? cursor : count > 0 ? count - 1 : 0;
}

/* Makes a screen in the place of the present one, which stays if that fails. */
static int show(struct browser *browser, const struct screen_kind *kind, const char *root, size_t cursor,
		struct error *error)
{
	char *copy = root ? strdup(root) : NULL;
	if (root && !copy)
		return error_set(error, ERROR_MEMORY, "out of memory");
	struct screen *screen = kind->make(browser, copy, error);
	if (!screen) {
		free(copy);
		return error->code;
	}
	screen->kind = kind;
	screen->root = copy;
	place_cursor(screen, cursor ? cursor : screen->cursor);
	release_screen(browser->screen);
	browser->screen = screen;
	return 0;
}

static size_t transform_count(struct browser *browser)
{
	const struct transforms *list = browser_selection(browser)->transforms;
	return list ? list->count : 0;
}

/* Remembers a screen that showed so many transforms. The oldest place is forgotten if there are too many. */
static void push_history(struct browser *browser, const struct screen *screen, const struct screen_kind *kind,
			 char *root, size_t transforms)
{
	if (browser->history_count == BROWSER_HISTORY) {
		free(browser->history[0].root);
		memmove(browser->history, browser->history + 1, (BROWSER_HISTORY - 1) * sizeof(browser->history[0]));
		browser->history_count--;
	}
	browser->history[browser->history_count++] =
		(struct place){ kind, root, screen->cursor, browser->side, transforms };
}

/* Opens a screen in the place of one that showed so many transforms. */
static int open_after(struct browser *browser, const struct screen_kind *kind, const char *root, size_t transforms,
		      struct error *error)
{
	struct screen old = browser->screen ? *browser->screen : (struct screen){ 0 };
	const struct screen_kind *old_kind = browser->screen ? absent_kind_of(browser->screen) : NULL;
	char *copy = old.root ? strdup(old.root) : NULL;
	if (old.root && !copy)
		return error_set(error, ERROR_MEMORY, "out of memory");
	if (kind->needs_two && !browser->profiles[1]) {
		free(copy);
		return error_set(error, ERROR_USAGE, "there is no second profile to compare with (cpprof browse A B)");
	}
	int status = show(browser, kind, root, 0, error);
	if (status == 0 && old.kind)
		push_history(browser, &old, old_kind, copy, transforms);
	else
		free(copy);
	return status;
}

int browser_open(struct browser *browser, const struct screen_kind *kind, const char *root, struct error *error)
{
	return open_after(browser, kind, root, transform_count(browser), error);
}

/* Sets the first `count` transforms of the selection, and `text` behind them; NULL: no more. Returns 0 or a negative error, after which they
 * are as before. */
static int set_transforms(struct browser *browser, size_t count, const char *text, struct error *error)
{
	struct settings *settings = &browser->settings[browser->side];
	const struct transforms *list = settings->view.transforms;
	const char **texts = calloc(count + 1, sizeof(*texts));
	if (!texts)
		return error_set(error, ERROR_MEMORY, "out of memory");
	for (size_t i = 0; i < count; i++)
		texts[i] = list->items[i].text;
	if (text)
		texts[count++] = text;
	int status =
		setting_read(setting_of_command("transform"), settings, browser_profile(browser), texts, count, error);
	free(texts);
	return status;
}

int browser_transform(struct browser *browser, const char *text, struct error *error)
{
	const struct screen *screen = browser->screen;
	struct error ignored = { 0 };
	size_t count = transform_count(browser);
	char *root = screen->root ? strdup(screen->root) : NULL;
	if (screen->root && !root)
		return error_set(error, ERROR_MEMORY, "out of memory");
	int status = text || count > 0 ? set_transforms(browser, text ? count : count - 1, text, error)
				       : error_set(error, ERROR_USAGE, "there is no transform to undo");
	if (status == 0)
		status = open_after(browser, absent_kind_of(screen), root, count, error);
	/* The function of the screen may be left out. */
	if (status < 0 && text && transform_count(browser) > count)
		set_transforms(browser, count, NULL, &ignored);
	free(root);
	return status;
}

int browser_renew(struct browser *browser, struct error *error)
{
	struct screen *screen = browser->screen;
	char *root = screen->root ? strdup(screen->root) : NULL;
	if (screen->root && !root)
		return error_set(error, ERROR_MEMORY, "out of memory");
	int status = show(browser, screen->kind, root, screen->cursor, error);
	free(root);
	if (status == 0)
		return 0;
	/* The function may have no hits in the new selection. */
	struct error second = { 0 };
	int other = show(browser, &screen_tree, NULL, 0, &second);
	if (other < 0)
		*error = second;
	else
		browser_set_message(browser, "%s", error->message);
	return other;
}

/* Makes a screen of the newer profile in the place of `old`. Returns NULL and sets `error`. */
static struct screen *make_again(struct browser *browser, const struct screen *old, char *root, struct error *error)
{
	const struct screen_kind *kind = absent_kind_of(old);
	struct screen *screen = kind->make(browser, root, error);
	if (!screen && error->code != ERROR_MEMORY)
		screen = absent_new(kind, error);
	else if (screen)
		screen->kind = kind;
	return screen;
}

int browser_follow(struct browser *browser, struct error *error)
{
	const struct screen *old = browser->screen;
	char *root = old->root ? strdup(old->root) : NULL;
	if (old->root && !root)
		return error_set(error, ERROR_MEMORY, "out of memory");
	struct screen *screen = make_again(browser, old, root, error);
	if (!screen) {
		free(root);
		return error->code;
	}
	screen->root = root;
	if (screen->kind == old->kind) {
		place_cursor(screen, old->cursor);
		screen->top = old->top;
		if (screen->kind->resume && screen->kind->resume(screen, old) < 0) {
			release_screen(screen);
			return error_set(error, ERROR_MEMORY, "out of memory");
		}
	}
	release_screen(browser->screen);
	browser->screen = screen;
	return 0;
}

bool browser_back(struct browser *browser, struct error *error)
{
	if (browser->history_count == 0)
		return false;
	struct place *place = &browser->history[--browser->history_count];
	size_t count = transform_count(browser);
	int status = browser->side == place->side && count > place->transform_count
			     ? set_transforms(browser, place->transform_count, NULL, error)
			     : 0;
	if (status == 0)
		status = show(browser, place->kind, place->root, place->cursor, error);
	free(place->root);
	if (status < 0)
		browser_set_message(browser, "%s", error->message);
	return true;
}
