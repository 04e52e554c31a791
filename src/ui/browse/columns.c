/* The columns that several screens have. */
#include <stdio.h>

#include "render/render.h"
#include "ui/browse/browser.h"

static int width_of(const char *text)
{
	int width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

int draw_right(const struct browser *browser, int row, int column, int width, unsigned style, const char *text)
{
	struct terminal *terminal = (struct terminal *)&browser->terminal;
	int blank = width - width_of(text);
	if (blank < 0)
		blank = 0;
	terminal_text(terminal, row, column + blank, width - blank, style, text);
	return column + width;
}

int draw_share(const struct browser *browser, int row, int column, unsigned style, const struct view *view,
	       uint64_t hits, const uint64_t *corrected)
{
	char text[64];
	render_share(text, sizeof(text), view, hits, corrected, terminal_sign(&browser->terminal, SIGN_ERROR));
	return draw_right(browser, row, column, SHARE_WIDTH, style, text);
}

int draw_amount(const struct browser *browser, int row, int column, unsigned style, const struct view *view,
		uint64_t hits)
{
	char text[64];
	const char *unit = profile_string(view->profile, view->resource->unit);
	render_amount(text, sizeof(text), (double)hits * (double)view->resource->interval, unit);
	return draw_right(browser, row, column, AMOUNT_WIDTH, style, text);
}

int draw_cpu(const struct browser *browser, int row, int column, unsigned style, uint64_t hits, double per_hit)
{
	char text[32];
	snprintf(text, sizeof(text), "%.1f", (double)hits * per_hit);
	return draw_right(browser, row, column, CPU_WIDTH, style, text);
}

unsigned share_style(const struct view *view, uint64_t hits)
{
	double share = view->total ? (double)hits / (double)view->total : 0;
	return share >= RENDER_SHARE_HOT ? STYLE_HOT : share >= RENDER_SHARE_WARM ? STYLE_WARM : STYLE_PLAIN;
}

bool shows_own(const struct browser *browser)
{
	return browser->terminal.columns >= SHARE_WIDTH + SHARE_WIDTH + AMOUNT_WIDTH + NAME_LEAST;
}

bool shows_cpu(const struct browser *browser)
{
	return browser->terminal.columns >= SHARE_WIDTH + SHARE_WIDTH + AMOUNT_WIDTH + CPU_WIDTH + NAME_LEAST;
}

bool shows_amount(const struct browser *browser)
{
	return browser->terminal.columns >= SHARE_WIDTH + AMOUNT_WIDTH + NAME_LEAST;
}

int draw_short(struct browser *browser, int row, int column, unsigned style, struct short_names *names, uint32_t index,
	       const char *full)
{
	struct terminal *terminal = &browser->terminal;
	int room = terminal->columns - column;
	const char *shown = full;
	struct buffer text;
	buffer_init(&text);
	if (!browser->is_long && room > 0 && names) {
		short_names_append(names, index, (size_t)room, &text);
		buffer_append_byte(&text, 0);
		shown = buffer_error(&text) ? full : (const char *)text.bytes;
	}
	column = terminal_text(terminal, row, column, terminal->columns, style, shown);
	buffer_release(&text);
	return column;
}

int draw_name(struct browser *browser, int row, int column, unsigned style, const struct view *view, uint32_t label)
{
	struct short_names *names = browser->is_long ? NULL : view_cache_names(&browser->views[browser->side], view);
	return draw_short(browser, row, column, style, names, label, view->labels[label].text);
}
