/* The columns that several screens have. */
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

unsigned share_style(const struct view *view, uint64_t hits)
{
	double share = view->total ? (double)hits / (double)view->total : 0;
	return share >= RENDER_SHARE_HOT ? STYLE_HOT : share >= RENDER_SHARE_WARM ? STYLE_WARM : STYLE_PLAIN;
}

void browser_release_names(struct browser *browser)
{
	short_names_free(browser->short_names);
	browser->short_names = NULL;
	browser->named_view = NULL;
}

int draw_name(struct browser *browser, int row, int column, unsigned style, const struct view *view, uint32_t label)
{
	struct terminal *terminal = &browser->terminal;
	int room = terminal->columns - column;
	const char *shown = view->labels[label].text;
	struct buffer text;
	buffer_init(&text);
	if (!browser->is_long && room > 0 && browser->named_view != view) {
		browser_release_names(browser);
		browser->short_names = short_names_of_view(view);
		browser->named_view = browser->short_names ? view : NULL;
	}
	if (!browser->is_long && room > 0 && browser->short_names) {
		short_names_append(browser->short_names, label, (size_t)room, &text);
		buffer_append_byte(&text, 0);
		shown = buffer_error(&text) ? shown : (const char *)text.bytes;
	}
	column = terminal_text(terminal, row, column, terminal->columns, style, shown);
	buffer_release(&text);
	return column;
}
