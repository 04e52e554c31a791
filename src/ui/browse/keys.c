#include "ui/browse/keys.h"

#include <stdlib.h>
#include <string.h>

#include "analyze/transform.h"
#include "base/buffer.h"

/* --- moving --- */

enum { ROWS_ABOVE = 3, ROWS_AROUND = 4 }; /* the status, title, headings; and the last line */
enum { ROWS_OF_WHEEL = 3 };

static size_t rows_shown(const struct browser *browser)
{
	int rows = browser->terminal.rows - ROWS_AROUND;
	return rows > 1 ? (size_t)rows : 1;
}

static void move_to(struct browser *browser, size_t row)
{
	size_t count = browser->screen->kind->count(browser->screen);
	browser->screen->cursor = row < count ? row : count > 0 ? count - 1 : 0;
}

static void move_up(struct browser *browser, size_t rows)
{
	move_to(browser, browser->screen->cursor > rows ? browser->screen->cursor - rows : 0);
}

static int up(struct browser *browser, struct error *error)
{
	(void)error;
	move_up(browser, 1);
	return 0;
}

static int down(struct browser *browser, struct error *error)
{
	(void)error;
	move_to(browser, browser->screen->cursor + 1);
	return 0;
}

static int page_up(struct browser *browser, struct error *error)
{
	(void)error;
	move_up(browser, rows_shown(browser));
	return 0;
}

static int page_down(struct browser *browser, struct error *error)
{
	(void)error;
	move_to(browser, browser->screen->cursor + rows_shown(browser));
	return 0;
}

static int first(struct browser *browser, struct error *error)
{
	(void)error;
	move_to(browser, 0);
	return 0;
}

static int last(struct browser *browser, struct error *error)
{
	(void)error;
	move_to(browser, SIZE_MAX);
	return 0;
}

/* --- the mouse --- */

static int wheel_up(struct browser *browser, struct error *error)
{
	(void)error;
	move_up(browser, ROWS_OF_WHEEL);
	return 0;
}

static int wheel_down(struct browser *browser, struct error *error)
{
	(void)error;
	move_to(browser, browser->screen->cursor + ROWS_OF_WHEEL);
	return 0;
}

/* Chooses the row; the chosen row is entered. */
static int click(struct browser *browser, struct error *error)
{
	struct screen *screen = browser->screen;
	int above = browser->terminal.mouse_row - ROWS_ABOVE;
	if (above < 0 || (size_t)above >= rows_shown(browser) ||
	    screen->top + (size_t)above >= screen->kind->count(screen))
		return 0;
	if (screen->cursor == screen->top + (size_t)above && screen->kind->press)
		return screen->kind->press(screen, browser, TERMINAL_ENTER, error);
	screen->cursor = screen->top + (size_t)above;
	return 0;
}

static int switch_mouse(struct browser *browser, struct error *error)
{
	(void)error;
	terminal_use_mouse(&browser->terminal, !browser->terminal.has_mouse);
	browser_set_message(browser, browser->terminal.has_mouse ? "the mouse chooses rows (m: it selects text)"
								 : "the mouse selects text (m: it chooses rows)");
	return 0;
}

static int back(struct browser *browser, struct error *error)
{
	if (!browser_back(browser, error))
		browser_set_message(browser, "this is the first page (q ends)");
	return 0;
}

/* On the screen of keys, it only leaves that screen, as in other programs: a reader of the help wants to go on. */
static int quit(struct browser *browser, struct error *error)
{
	if (browser->screen->kind != &screen_help || !browser_back(browser, error))
		browser->is_over = true;
	return 0;
}

/* --- searching --- */

static bool has(const struct screen *screen, size_t row, const char *text)
{
	const char *found = screen->kind->text(screen, row);
	return found && strcasestr(found, text);
}

/* Moves the cursor to the next row with the text, around the end of the list. */
static bool search_rows(struct screen *screen, const char *text, bool forward)
{
	size_t count = screen->kind->count(screen);
	for (size_t i = 1; i <= count; i++) {
		size_t row = (screen->cursor + (forward ? i : count - i)) % count;
		if (has(screen, row, text)) {
			screen->cursor = row;
			return true;
		}
	}
	return false;
}

static int search(struct browser *browser, bool forward)
{
	struct screen *screen = browser->screen;
	if (!browser->searched) {
		browser_set_message(browser, "nothing was searched yet (/ searches)");
		return 0;
	}
	bool found = screen->kind->search ? screen->kind->search(screen, browser, browser->searched, forward)
					  : search_rows(screen, browser->searched, forward);
	if (!found)
		browser_set_message(browser, "no %s'%s'", screen->kind->search ? "more " : "", browser->searched);
	return 0;
}

static int prompt_and_search(struct browser *browser, struct error *error)
{
	(void)error;
	char *text = browser_prompt(browser, "search: ", "");
	if (!text)
		return 0;
	if (*text) {
		free(browser->searched);
		browser->searched = text;
	} else {
		free(text); /* the last text again */
	}
	return search(browser, true);
}

static int search_next(struct browser *browser, struct error *error)
{
	(void)error;
	return search(browser, true);
}

static int search_before(struct browser *browser, struct error *error)
{
	(void)error;
	return search(browser, false);
}

/* --- the selection --- */

static int prompt_for_range(struct browser *browser, struct error *error)
{
	struct view_options *selection = browser_selection(browser), old = *selection;
	if (browser->feed) {
		browser_set_message(browser,
				    "top shows its last seconds (cpprof record, then browse, shows any time range)");
		return 0;
	}
	char *text = browser_prompt(browser, "seconds FROM-TO, or nothing for all: ", "");
	if (!text)
		return 0;
	char *to = strchr(text, '-');
	if (to)
		*to++ = '\0';
	int status = settings_read_time(text, to, selection, error);
	free(text);
	if (status == 0)
		status = browser_renew(browser, error);
	if (status < 0) {
		selection->from_ns = old.from_ns;
		selection->to_ns = old.to_ns;
	}
	return status;
}

/* Shows frames in the next way: by function, call site, line, module. */
static int next_by(struct browser *browser, struct error *error)
{
	struct view_options *selection = browser_selection(browser);
	selection->by = selection->by >= VIEW_MODULE ? VIEW_FUNCTION : selection->by + 1;
	browser_set_message(browser, "frames are shown by %s", view_by_word(selection->by));
	return browser_renew(browser, error);
}

/* Appends "drop=parse" for the row at the cursor. Returns whether there is such a transform. */
static bool transform_of_row(struct browser *browser, const char *word, struct buffer *text)
{
	const struct screen *screen = browser->screen;
	bool has_row = screen->kind->count(screen) > 0, is_path = strncmp("path", word, strlen(word)) == 0;
	const char *function =
		has_row && screen->kind->function ? screen->kind->function(screen, screen->cursor) : NULL;
	size_t kind = 0;
	while (transform_kind_word(kind) && strncmp(transform_kind_word(kind), word, strlen(word)) != 0)
		kind++;
	if (!transform_kind_word(kind)) {
		browser_set_message(browser, "no transform %s", word);
		return false;
	}
	buffer_printf(text, "%s=", transform_kind_word(kind));
	if (is_path ? !screen->kind->path || !has_row || !screen->kind->path(screen, screen->cursor, text)
		    : !function) {
		browser_set_message(browser, is_path ? "no path is chosen (t shows the tree of paths)"
						     : "no function is chosen (t and f list functions)");
		return false;
	}
	if (!is_path)
		buffer_append_string(text, function);
	buffer_append_byte(text, 0);
	return buffer_error(text) == 0;
}

/* Reads the first letters of a kind, or of "undo". */
static int prompt_for_transform(struct browser *browser, struct error *error)
{
	struct buffer text;
	int status = 0;
	char *word = browser_prompt(browser, "focus, path, drop, merge, above, collapse, or undo: ", "");
	buffer_init(&text);
	if (word && *word && strncmp("undo", word, strlen(word)) == 0)
		status = browser_transform(browser, NULL, error);
	else if (word && *word && transform_of_row(browser, word, &text))
		status = browser_transform(browser, (const char *)text.bytes, error);
	buffer_release(&text);
	free(word);
	return status;
}

static int freeze(struct browser *browser, struct error *error)
{
	(void)error;
	if (!browser->feed)
		browser_set_message(browser, "this is a recorded profile (cpprof top shows a running program)");
	else
		browser->is_frozen = !browser->is_frozen;
	return 0;
}

static int other_side(struct browser *browser, struct error *error)
{
	if (!browser->profiles[1]) {
		browser_set_message(browser, "there is no second profile (cpprof browse A B)");
		return 0;
	}
	browser->side = !browser->side;
	return browser_renew(browser, error);
}

static int long_names(struct browser *browser, struct error *error)
{
	(void)error;
	browser->is_long = !browser->is_long;
	browser_set_message(browser, browser->is_long ? "names are shown in full" : "names are shortened");
	return 0;
}

const struct browse_key browse_keys[] = {
	{ { TERMINAL_UP, 'k' }, "up, k", "the row above", up },
	{ { TERMINAL_DOWN, 'j' }, "down, j", "the row below", down },
	{ { TERMINAL_PAGE_UP }, "PgUp", "a screen up", page_up },
	{ { TERMINAL_PAGE_DOWN }, "PgDn", "a screen down", page_down },
	{ { TERMINAL_HOME, 'g' }, "Home, g", "the first row", first },
	{ { TERMINAL_END, 'G' }, "End, G", "the last row", last },
	{ { TERMINAL_CLICK }, "click", "choose a row; on the chosen one as Enter", click },
	{ { TERMINAL_WHEEL_UP }, "wheel up", "three rows up", wheel_up },
	{ { TERMINAL_WHEEL_DOWN }, "wheel down", "three rows down", wheel_down },
	{ { 'm' }, "m", "let the mouse select text, or choose rows", switch_mouse },
	{ { '/' }, "/", "search; in a tree also in closed rows, largest first", prompt_and_search },
	{ { 'n' }, "n", "the next match", search_next },
	{ { 'N' }, "N", "the match before", search_before },
	{ { 'b' }, "b", "show frames by function, call site, line, module", next_by },
	{ { 'p' },
	  "p",
	  "transform the paths by the function of the row: focus, drop, merge, ...; or undo",
	  prompt_for_transform },
	{ { 'z' }, "z", "in top: freeze what is shown, or go on", freeze },
	{ { 'L' }, "L", "show names in full, or shortened", long_names },
	{ { 'R' }, "R", "choose a time range", prompt_for_range },
	{ { 'x' }, "x", "show the other profile", other_side },
	{ { TERMINAL_BACKSPACE, TERMINAL_ESCAPE }, "Backspace, Esc", "the page before", back },
	{ { 'q' }, "q", "end; on the page of keys, the page before", quit },
	{ { 0 }, NULL, NULL, NULL },
};

void keys_print(FILE *out)
{
	fputs("Pages\n", out);
	for (size_t i = 0; screen_kinds[i]; i++)
		fprintf(out, "  %-16c%s\n", (int)screen_kinds[i]->key, screen_kinds[i]->help);
	fputs("\nOn every page\n", out);
	for (size_t i = 0; browse_keys[i].name; i++)
		fprintf(out, "  %-16s%s\n", browse_keys[i].name, browse_keys[i].help);
	fputs("\nIn a tree\n"
	      "  Enter, space    open or close a row\n"
	      "  right, l        open a row; then the first row in it\n"
	      "  left, h         close a row; then the row above it in the tree\n"
	      "  e               open the hot path: the largest callee, as long as it has half\n"
	      "\nIn the disassembly\n"
	      "  Enter           go to the instruction that this one jumps to\n"
	      "\nIn the list of functions\n"
	      "  Enter           the callees of the function\n"
	      "  o               sort by own use, use with callees, name\n",
	      out);
}
