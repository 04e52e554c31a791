/* Screens of plain text: the profile's facts and losses, and the keys. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "render/render.h"
#include "ui/browse/browser.h"
#include "ui/browse/keys.h"

struct text_screen {
	struct screen screen;
	char *bytes;  /* owned; the lines end in NUL */
	char **lines; /* owned */
	size_t count;
};

static void release(struct screen *screen)
{
	struct text_screen *text = (struct text_screen *)screen;
	free(text->bytes);
	free(text->lines);
}

/* Divides the text into lines. Returns 0 or ERROR_MEMORY. */
static int divide(struct text_screen *text)
{
	size_t capacity = 1;
	for (const char *at = text->bytes; *at; at++)
		capacity += *at == '\n';
	text->lines = calloc(capacity, sizeof(*text->lines));
	if (!text->lines)
		return ERROR_MEMORY;
	for (char *line = text->bytes, *end; *line; line = end) {
		end = line + strcspn(line, "\n");
		text->lines[text->count++] = line;
		if (*end)
			*end++ = '\0';
	}
	return 0;
}

typedef int print_text(FILE *out, struct browser *browser);

static struct screen *make(struct browser *browser, print_text *print, struct error *error)
{
	struct text_screen *text = calloc(1, sizeof(*text));
	size_t size = 0;
	FILE *out = text ? open_memstream(&text->bytes, &size) : NULL;
	bool has_failed = !out || print(out, browser) < 0 || ferror(out);
	if (out && fclose(out) != 0)
		has_failed = true;
	if (!has_failed && divide(text) == 0)
		return &text->screen;
	if (text)
		release(&text->screen);
	free(text);
	error_set(error, ERROR_MEMORY, "out of memory");
	return NULL;
}

static int print_info(FILE *out, struct browser *browser)
{
	static const struct render_options options = { .format = RENDER_TEXT };
	return render_info(out, browser_profile(browser), browser->names[browser->side], 0, &options);
}

static int print_help(FILE *out, struct browser *browser)
{
	(void)browser;
	keys_print(out);
	return 0;
}

static struct screen *make_info(struct browser *browser, const char *root, struct error *error)
{
	(void)root;
	return make(browser, print_info, error);
}

static struct screen *make_help(struct browser *browser, const char *root, struct error *error)
{
	(void)root;
	return make(browser, print_help, error);
}

static size_t count(const struct screen *screen)
{
	return ((const struct text_screen *)screen)->count;
}

static const char *text(const struct screen *screen, size_t index)
{
	return ((const struct text_screen *)screen)->lines[index];
}

static void head(const struct screen *screen, struct browser *browser, int row)
{
	(void)screen;
	(void)browser;
	(void)row;
}

static void draw(const struct screen *screen, struct browser *browser, size_t index, int row, unsigned style)
{
	terminal_text(&browser->terminal, row, 0, browser->terminal.columns, style, text(screen, index));
}

#define TEXT_SCREEN .release = release, .count = count, .head = head, .draw = draw, .text = text

const struct screen_kind screen_info = {
	.name = "info",
	.help = "what was recorded and lost, and how whole the stacks are",
	.key = 'i',
	.make = make_info,
	TEXT_SCREEN,
};

const struct screen_kind screen_help = {
	.name = "help",
	.help = "the keys",
	.key = '?',
	.make = make_help,
	TEXT_SCREEN,
};
