/*
 * The state of `cpprof browse`, and its screens. A screen is one list of rows with a cursor. The table of screens has a row for each
 * kind: its key, its name, and the functions that make and draw it. Keys, help and manual page follow from the table.
 *
 * Only the shown screen exists. The others of the history are remembered as places, and made again when the user returns.
 */
#ifndef UI_BROWSE_BROWSER_H
#define UI_BROWSE_BROWSER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/settings.h"
#include "analyze/short_names.h"
#include "analyze/view_cache.h"
#include "base/error.h"
#include "profile/profile.h"
#include "reports/report.h"
#include "ui/browse/terminal.h"

struct browse_feed; /* ui/browse/browse.h */
struct browser;
struct screen;

struct screen_kind {
	const char *name; /* "functions": title of the screen */
	const char *help; /* one line without a full stop */
	int32_t key;      /* opens it; 0: none */
	bool takes_function;
	bool needs_two; /* profiles */
	/* Makes the screen, with its own part initialized; screen->kind and screen->root are set by the caller. Returns NULL and sets
	 * `error`. `root` is a function's name, or NULL. */
	struct screen *(*make)(struct browser *browser, const char *root, struct error *error);
	void (*release)(struct screen *screen); /* without screen->root and the screen itself */
	size_t (*count)(const struct screen *screen);
	/* Draws the headings of the columns, from column 0 of a row on. */
	void (*head)(const struct screen *screen, struct browser *browser, int row);
	void (*draw)(const struct screen *screen, struct browser *browser, size_t index, int row, unsigned style);
	/* Returns the text of a row, which is searched, or NULL. */
	const char *(*text)(const struct screen *screen, size_t index);
	/* Returns the row's function, or NULL; NULL: no row has one. */
	const char *(*function)(const struct screen *screen, size_t index);
	/* Appends the path of a row for the transform "path". Returns false if the row has none. NULL: no row has one. */
	bool (*path)(const struct screen *screen, size_t index, struct buffer *text);
	/* Handles a key of the screen's own. Returns 1 if it did, 0 if the key is not one, or a negative error. NULL: has none. */
	int (*press)(struct screen *screen, struct browser *browser, int32_t key, struct error *error);
	/* Moves the cursor to a match behind or before it, with more than text() to search in. Returns false if there is none. NULL: the
	 * rows are searched. */
	bool (*search)(struct screen *screen, struct browser *browser, const char *text, bool forward);
	/* Names the keys of its own, for the last line of the terminal; NULL: none */
	const char *keys;
	/* Takes over from a screen of the same kind and root what the user had opened, sorted and chosen there. `old` shows an older
	 * profile; its cursor was moved to the same row. Returns 0 or a negative error. NULL: only the cursor is taken over. */
	int (*resume)(struct screen *screen, const struct screen *old);
};

struct screen {
	const struct screen_kind *kind;
	char *root;    /* owned; NULL: none */
	size_t cursor; /* a row, if there is any */
	size_t top;    /* the first shown row */
};

/* A screen that is not shown. */
struct place {
	const struct screen_kind *kind;
	char *root; /* owned */
	size_t cursor;
	unsigned side;
	size_t transform_count; /* of the side */
};

enum { BROWSER_HISTORY = 32, BROWSER_MESSAGE = 256 };

struct browser {
	const struct profile *profiles[2];
	const char *names[2];
	unsigned side; /* the profile that is shown */
	const struct code_source *code;
	struct terminal terminal;
	struct settings settings[2]; /* their views may also have arrays that the caller owns */
	struct view_cache views[2];
	struct screen *screen; /* owned; never NULL while the loop runs */
	struct place history[BROWSER_HISTORY];
	size_t history_count;
	char *searched; /* owned; NULL: nothing yet */
	bool is_long;   /* names are shown in full */
	char message[BROWSER_MESSAGE];
	bool is_over;
	const struct browse_feed *feed; /* NULL: the profiles do not change */
	struct profile *fed;            /* owned: the newest of them, which is profiles[0] */
	bool is_frozen;                 /* no newer one is taken */
	bool has_ended;                 /* there is no newer one */
	uint64_t since_ns;              /* end of the profile that was shown before; 0: none was */
};

/* The kinds of screens, in the order of the help. A new one is one struct, and its name here. */
/* clang-format off */
#define SCREENS(X) \
	X(tree) X(inverted) X(callers) X(functions) X(callees) X(source) X(disassembly) X(changes) X(threads) \
	X(processes) X(resources) X(info) X(help)
/* clang-format on */
#define X(name) extern const struct screen_kind screen_##name;
SCREENS(X)
#undef X
extern const struct screen_kind *const screen_kinds[]; /* NULL-terminated */
extern const struct screen_kind screen_absent; /* not in the table: stands for a screen that has no samples now */

static inline const struct profile *browser_profile(const struct browser *browser)
{
	return browser->profiles[browser->side];
}

static inline struct view_options *browser_selection(struct browser *browser)
{
	return &browser->settings[browser->side].view;
}

/* Returns the view of the selection, which is valid until the next screen is made; or NULL and sets `error`. */
const struct view *browser_view(struct browser *browser, struct error *error);

/* Builds a report of the selection. The caller releases `results` also on failure. Returns 0 or a negative error. */
int browser_report(struct browser *browser, const char *name, const char *root, struct results *results,
		   struct error *error);

/* Shows another screen, and remembers the present one. Returns 0 or a negative error, after which the present one stays. */
int browser_open(struct browser *browser, const struct screen_kind *kind, const char *root, struct error *error);

/* Makes the present screen again, after the selection has changed. If that fails, shows the call tree. */
int browser_renew(struct browser *browser, struct error *error);

/* Makes the present screen again from a newer profile, as it was: the same rows are open. A screen that cannot be made of this profile, because
 * its function has no samples, becomes screen_absent until there are some again. Returns 0 or ERROR_MEMORY; then the present screen
 * stays. */
int browser_follow(struct browser *browser, struct error *error);

/* Shows the newest profile of the feed, if there is a newer one, and the feed's state. Returns 0 or a negative error, after which the
 * browser has to end. */
int live_refresh(struct browser *browser, struct error *error);
/* Appends what the status line has of a feed: ", last 10 s  3 lost, 0.2 % broken  frozen". */
void live_status(const struct browser *browser, char *status, size_t bytes);
/* Sets `recent` to the part of a selection that came since the profile before. Returns the percentage of one processor that a hit of it is; or 0:
 * the profiles do not change, or the resource is not CPU time. */
double live_recent(const struct browser *browser, const struct view_options *selection, struct view_options *recent);
/* The kind of the screen that screen_absent stands for; the kind of any other screen. */
const struct screen_kind *absent_kind_of(const struct screen *screen);
/* Makes screen_absent in the place of this kind. Returns NULL and sets `error`. */
struct screen *absent_new(const struct screen_kind *kind, struct error *error);

/* Shows the paths of the selection with one more transform, as another screen of the same kind; text NULL: with one fewer. Returns 0 or a negative
 * error, after which the present screen stays. */
int browser_transform(struct browser *browser, const char *text, struct error *error);

/* Returns to the screen before, and undoes the transforms that were added since. Returns false if there is none. */
bool browser_back(struct browser *browser, struct error *error);

/* Releases all screens. */
void browser_release_screens(struct browser *browser);

/* Draws the present screen, and the lines around its rows. */
void browser_show(struct browser *browser);

/* Prints a line below the rows, until the next key. */
void browser_set_message(struct browser *browser, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Asks for a line of text. Returns it, owned by the caller, or NULL if the user has cancelled. `initial` is put in first. */
char *browser_prompt(struct browser *browser, const char *question, const char *initial);

/* --- columns --- */

enum { SHARE_WIDTH = 14, AMOUNT_WIDTH = 11, CPU_WIDTH = 8, NAME_LEAST = 18 /* with the gap before it */ };

/* Draws "67.1 % ±1.8" right-aligned from `column` on: the share of `hits` in the view, with its error, which `corrected` has in gticks
 * for a corrected resource (NULL: sampled, or exact). Returns the column behind it. */
int draw_share(const struct browser *browser, int row, int column, unsigned style, const struct view *view,
	       uint64_t hits, const uint64_t *corrected);
/* Draws the same hits as an amount of the resource: "1.25 s". */
int draw_amount(const struct browser *browser, int row, int column, unsigned style, const struct view *view,
		uint64_t hits);
/* Draws the percentage of one processor that the hits since the profile before are, of live_recent. */
int draw_cpu(const struct browser *browser, int row, int column, unsigned style, uint64_t hits, double per_hit);
/* Whether a row of two shares, an amount and a name has room for its second share, and for its amount. A narrow screen leaves them out,
 * in this order. */
bool shows_own(const struct browser *browser);
bool shows_amount(const struct browser *browser);
/* Whether a row with both has room for a percentage of one processor, too. */
bool shows_cpu(const struct browser *browser);
/* Draws a label's name up to the right edge of the screen, short (docs/languages.md) or in full. Returns the column behind it. */
int draw_name(struct browser *browser, int row, int column, unsigned style, const struct view *view, uint32_t label);
/* The same for a name of a set (NULL: it is shown in full) that is no view's. */
int draw_short(struct browser *browser, int row, int column, unsigned style, struct short_names *names, uint32_t index,
	       const char *full);
/* Draws text right-aligned in so many columns. */
int draw_right(const struct browser *browser, int row, int column, int width, unsigned style, const char *text);
/* The style of a share, by the limits of the reports in text. */
unsigned share_style(const struct view *view, uint64_t hits);

#endif
