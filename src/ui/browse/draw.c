/* Draws the lines around the rows of every screen, asks the user, and makes the views and reports that screens show. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "analyze/transform.h"
#include "base/buffer.h"
#include "base/path.h"
#include "render/render.h"
#include "ui/browse/browser.h"

/* --- what screens ask for --- */

static const struct view *view_of(void *context, const struct view_options *options, struct error *error)
{
	struct browser *browser = context;
	return view_cache_get(&browser->views[browser->side], browser_profile(browser), options, error);
}

static int roots_of(void *context, const struct view *view, const char *name, struct label_set *roots,
		    struct error *error)
{
	(void)context;
	return lookup_functions(view, name, roots, error);
}

const struct view *browser_view(struct browser *browser, struct error *error)
{
	return view_of(browser, browser_selection(browser), error);
}

int browser_report(struct browser *browser, const char *name, const char *root, struct results *results,
		   struct error *error)
{
	const struct report_source source = { .view = view_of, .roots = roots_of, .context = browser };
	uint32_t resource = browser_selection(browser)->resource;
	struct report_request request = {
		.report = report_find(name),
		.profile = browser_profile(browser),
		.view = *browser_selection(browser),
		.resources = &resource,
		.resource_count = 1,
		.resources_named = true,
		.root = root,
		.code = browser->code,
		.source = &source,
	};
	int status = report_prepare(&request, error);
	return status < 0 ? status : report_build(&request, results, error);
}

/* --- drawing --- */

enum { ROWS_ABOVE = 3, ROWS_BELOW = 1, STATUS_BYTES = 512 };

/* Appends to a text of STATUS_BYTES. */
static void append(char *status, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(char *status, const char *format, ...)
{
	size_t used = strlen(status);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(status + used, STATUS_BYTES - used, format, arguments);
	va_end(arguments);
}

/* The text of the title: "run.data: cpu, 12.3 s, 12,300 samples; thread worker; 1 to 2 s". */
static void draw_status(struct browser *browser)
{
	char status[STATUS_BYTES] = "", amount[64];
	const double ns_per_s = 1e9;
	struct error ignored = { 0 };
	const struct profile *profile = browser_profile(browser);
	const struct view_options *selection = browser_selection(browser);
	const struct view *view = browser_view(browser, &ignored);
	if (browser->profiles[1])
		append(status, "%c: ", "AB"[browser->side]);
	/* A command may be long, so that it comes last. */
	if (!browser->feed)
		append(status, "%s  ", path_basename(browser->names[browser->side]));
	if (view) {
		const char *unit = profile_string(profile, view->resource->unit);
		append(status, "%s %s", profile_string(profile, view->resource->name),
		       render_amount(amount, sizeof(amount), (double)view->total * (double)view->resource->interval,
				     unit));
		if (view->samples && view->resource->kind != RESOURCE_MERGED)
			append(status, ", %s", render_count(amount, sizeof(amount), view->samples, "sample"));
	}
	if (browser->feed)
		live_status(browser, status, sizeof(status));
	if (selection->thread != VIEW_ANY)
		append(status, "  thread %s", profile_string(profile, profile->threads[selection->thread].name));
	for (size_t i = 0; selection->processes && i < profile->process_count; i++)
		if (selection->processes[i])
			append(status, "  process %s", profile_string(profile, profile->processes[i].name));
	if (selection->label_sets)
		append(status, "  labels chosen");
	if (selection->from_ns)
		append(status, "  from %g s", (double)selection->from_ns / ns_per_s);
	if (selection->to_ns)
		append(status, "  to %g s", (double)selection->to_ns / ns_per_s);
	for (size_t i = 0; selection->transforms && i < selection->transforms->count; i++)
		append(status, "  %s", selection->transforms->items[i].text);
	if (browser->feed)
		append(status, "  %s", browser->names[browser->side]);
	int column = terminal_text(&browser->terminal, 0, 0, browser->terminal.columns, STYLE_CURSOR, status);
	terminal_fill(&browser->terminal, 0, column, STYLE_CURSOR);
}

static void draw_title(struct browser *browser)
{
	const struct screen *screen = browser->screen;
	struct terminal *terminal = &browser->terminal;
	char place[64];
	size_t count = screen->kind->count(screen);
	int column = terminal_text(terminal, 1, 0, terminal->columns, STYLE_TITLE, screen->kind->name);
	if (screen->root)
		column = terminal_text(terminal, 1, column, terminal->columns, STYLE_TITLE, " of ");
	if (screen->root)
		column = terminal_text(terminal, 1, column, terminal->columns, STYLE_TITLE, screen->root);
	snprintf(place, sizeof(place), "  row %zu of %zu", count ? screen->cursor + 1 : 0, count);
	column = terminal_text(terminal, 1, column, terminal->columns, STYLE_FAINT, place);
	if (browser_selection(browser)->by != VIEW_FUNCTION && screen->kind->function) {
		snprintf(place, sizeof(place), ", by %s", view_by_word(browser_selection(browser)->by));
		terminal_text(terminal, 1, column, terminal->columns, STYLE_FAINT, place);
	}
}

static void draw_rows(struct browser *browser)
{
	struct screen *screen = browser->screen;
	struct terminal *terminal = &browser->terminal;
	size_t count = screen->kind->count(screen);
	size_t rows = terminal->rows > ROWS_ABOVE + ROWS_BELOW ? (size_t)(terminal->rows - ROWS_ABOVE - ROWS_BELOW) : 0;
	screen->kind->head(screen, browser, ROWS_ABOVE - 1);
	if (screen->cursor < screen->top)
		screen->top = screen->cursor;
	if (rows > 0 && screen->cursor >= screen->top + rows)
		screen->top = screen->cursor - rows + 1;
	if (count == 0)
		terminal_text(terminal, ROWS_ABOVE, 0, terminal->columns, STYLE_PLAIN,
			      browser->feed ? "no samples in these seconds" : "nothing: no samples in this selection");
	for (size_t i = 0; i < rows && screen->top + i < count; i++) {
		int row = ROWS_ABOVE + (int)i;
		unsigned style = screen->top + i == screen->cursor ? STYLE_CURSOR : STYLE_PLAIN;
		terminal_fill(terminal, row, 0, style);
		screen->kind->draw(screen, browser, screen->top + i, row, style);
	}
}

static void draw_all(struct browser *browser)
{
	struct terminal *terminal = &browser->terminal;
	terminal_clear(terminal);
	draw_status(browser);
	draw_title(browser);
	draw_rows(browser);
	if (browser->message[0]) {
		terminal_text(terminal, terminal->rows - 1, 0, terminal->columns, STYLE_TITLE, browser->message);
	} else {
		const char *keys = browser->screen->kind->keys;
		int column = 0;
		if (keys)
			column = terminal_text(terminal, terminal->rows - 1, 0, terminal->columns, STYLE_FAINT, keys);
		terminal_text(terminal, terminal->rows - 1, column, terminal->columns, STYLE_FAINT,
			      keys ? "   t f u c s: pages  a: asm  / search  ? keys  q end"
				   : "t f u c s: pages   a: asm   / search   ? keys   q end");
	}
}

void browser_show(struct browser *browser)
{
	draw_all(browser);
	terminal_show(&browser->terminal, -1, 0);
}

/* Appends a character as UTF-8. */
static void append_character(struct buffer *text, int32_t point)
{
	if (point < 0x80) {
		buffer_append_byte(text, (uint8_t)point);
	} else if (point < 0x800) {
		buffer_append_byte(text, (uint8_t)(0xc0 | point >> 6));
		buffer_append_byte(text, (uint8_t)(0x80 | (point & 0x3f)));
	} else {
		if (point >= 0x10000) {
			buffer_append_byte(text, (uint8_t)(0xf0 | point >> 18));
			buffer_append_byte(text, (uint8_t)(0x80 | (point >> 12 & 0x3f)));
		} else {
			buffer_append_byte(text, (uint8_t)(0xe0 | point >> 12));
		}
		buffer_append_byte(text, (uint8_t)(0x80 | (point >> 6 & 0x3f)));
		buffer_append_byte(text, (uint8_t)(0x80 | (point & 0x3f)));
	}
}

static void remove_character(struct buffer *text)
{
	while (text->size > 0 && (text->bytes[--text->size] & 0xc0) == 0x80)
		;
}

/* Shows the question with what was typed so far. Returns the next key. */
static int32_t read_key(struct browser *browser, const char *question, struct buffer *text)
{
	struct terminal *terminal = &browser->terminal;
	int row = terminal->rows - 1;
	buffer_append_byte(text, 0);
	draw_all(browser);
	terminal_fill(terminal, row, 0, STYLE_PLAIN);
	int column = terminal_text(terminal, row, 0, terminal->columns, STYLE_TITLE, question);
	column = terminal_text(terminal, row, column, terminal->columns, STYLE_PLAIN,
			       text->size ? (const char *)text->bytes : "");
	terminal_show(terminal, row, column);
	text->size--;
	return terminal_key(terminal);
}

char *browser_prompt(struct browser *browser, const char *question, const char *initial)
{
	struct buffer text;
	int32_t key;
	buffer_init(&text);
	buffer_append_string(&text, initial);
	browser->message[0] = '\0';
	while ((key = read_key(browser, question, &text)) != TERMINAL_ENTER && key != TERMINAL_ESCAPE &&
	       key != TERMINAL_ENDED) {
		if (key == TERMINAL_BACKSPACE)
			remove_character(&text);
		else if (key >= ' ' && key < TERMINAL_KEYS)
			append_character(&text, key);
	}
	browser->is_over = browser->is_over || key == TERMINAL_ENDED;
	buffer_append_byte(&text, 0);
	char *answer = key == TERMINAL_ENTER && buffer_error(&text) == 0 ? strdup((const char *)text.bytes) : NULL;
	buffer_release(&text);
	return answer;
}
