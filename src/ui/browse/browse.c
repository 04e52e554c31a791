#include "ui/browse/browse.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "ui/browse/browser.h"
#include "ui/browse/keys.h"

const struct screen_kind *const screen_kinds[] = {
#define X(name) &screen_##name,
	SCREENS(X)
#undef X
		NULL,
};

void browse_print_keys(FILE *out)
{
	keys_print(out);
}

/* Opens the screen of a key. Returns whether there is one. */
static bool open_screen(struct browser *browser, int32_t key, struct error *error)
{
	const struct screen_kind *kind = NULL;
	for (size_t i = 0; screen_kinds[i] && !kind; i++)
		if (screen_kinds[i]->key == key)
			kind = screen_kinds[i];
	if (!kind)
		return false;
	struct screen *screen = browser->screen;
	const char *root = NULL;
	if (kind->takes_function) {
		bool has_row = screen->kind->function && screen->kind->count(screen) > 0;
		root = has_row ? screen->kind->function(screen, screen->cursor) : screen->root;
		if (!root) {
			browser_set_message(browser, "no function is chosen (t and f list functions)");
			return true;
		}
	}
	if (kind == screen->kind && !root)
		return true;
	if (browser_open(browser, kind, root, error) < 0)
		browser_set_message(browser, "%s", error->message);
	return true;
}

static void press(struct browser *browser, int32_t key)
{
	struct error error = { 0 };
	struct screen *screen = browser->screen;
	int status = screen->kind->press ? screen->kind->press(screen, browser, key, &error) : 0;
	for (size_t i = 0; status == 0 && browse_keys[i].name; i++)
		for (size_t k = 0; k < 3 && browse_keys[i].keys[k]; k++)
			if (browse_keys[i].keys[k] == key) {
				int result = browse_keys[i].press(browser, &error);
				status = result < 0 ? result : 1;
			}
	if (status == 0)
		open_screen(browser, key, &error);
	if (status < 0)
		browser_set_message(browser, "%s", error.message);
}

static int first_screen(struct browser *browser, const struct browse_options *options, struct error *error)
{
	const struct screen_kind *first = options->profiles[1] ? &screen_changes : &screen_tree;
	for (size_t i = 0; options->first_screen && screen_kinds[i]; i++)
		if (strcmp(screen_kinds[i]->name, options->first_screen) == 0)
			first = screen_kinds[i];
	return browser_open(browser, first, NULL, error);
}

static void release(struct browser *browser)
{
	browser_release_screens(browser);
	for (size_t side = 0; side < 2; side++) {
		view_cache_release(&browser->views[side]);
		settings_release(&browser->settings[side]);
	}
	free(browser->searched);
	profile_free(browser->fed);
}

/* Handles the next key, or shows the next profile of the feed. Returns 0 or a negative error, which ends the browser. */
static int step(struct browser *browser, struct error *error)
{
	browser->terminal.news = browser->feed && !browser->is_frozen ? browser->feed->descriptor : -1;
	int32_t key = terminal_key(&browser->terminal);
	if (key == TERMINAL_NEWS)
		return live_refresh(browser, error);
	browser->message[0] = '\0';
	if (key == TERMINAL_ENDED)
		browser->is_over = true;
	else
		press(browser, key);
	return 0;
}

/* Looks up the resource of the first selection in the second profile. Without it, its own first resource is shown. */
static void choose_second(struct browser *browser)
{
	struct error ignored = { 0 };
	const struct profile *first = browser->profiles[0], *second = browser->profiles[1];
	struct view_options *selection = &browser->settings[1].view;
	*selection = (struct view_options){ .by = browser->settings[0].view.by, .thread = VIEW_ANY };
	const char *name = profile_string(first, first->resources[browser->settings[0].view.resource].name);
	if (second && lookup_resource(second, name, &selection->resource, &ignored) < 0)
		selection->resource = 0;
}

int browse_run(const struct browse_options *options, struct error *error)
{
	struct browser browser = { .profiles = { options->profiles[0], options->profiles[1] },
				   .names = { options->names[0], options->names[1] },
				   .code = options->code,
				   .settings = { { .view = options->selection } },
				   .feed = options->feed,
				   .fed = options->feed ? (struct profile *)options->profiles[0] : NULL };
	choose_second(&browser);
	int status = first_screen(&browser, options, error);
	if (status == 0)
		status = terminal_open(&browser.terminal, options->colour, error);
	while (status == 0 && !browser.is_over) {
		browser_show(&browser);
		status = step(&browser, error);
	}
	terminal_close(&browser.terminal);
	release(&browser);
	return status < 0 ? status : browser.terminal.signal;
}
