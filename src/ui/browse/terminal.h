/*
 * The terminal of `cpprof browse`: keys, text at a place, colours. The only file that knows ncurses.
 *
 * Life cycle: terminal_open, any number of terminal_clear, terminal_text, terminal_show and terminal_key,
 * terminal_close. Between open and close, SIGINT, SIGTERM, SIGHUP and SIGQUIT do not end the process: terminal_key
 * returns TERMINAL_ENDED, and the caller closes the terminal, which is then as it was, and raises the signal again.
 */
#ifndef UI_BROWSE_TERMINAL_H
#define UI_BROWSE_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* Keys that are not characters. Characters are their code points. */
enum terminal_key {
	TERMINAL_ENDED = -1, /* a signal, or the end of the input */
	TERMINAL_KEYS = 0x200000,
	TERMINAL_UP,
	TERMINAL_DOWN,
	TERMINAL_LEFT,
	TERMINAL_RIGHT,
	TERMINAL_PAGE_UP,
	TERMINAL_PAGE_DOWN,
	TERMINAL_HOME,
	TERMINAL_END,
	TERMINAL_ENTER,
	TERMINAL_BACKSPACE,
	TERMINAL_ESCAPE,
	TERMINAL_RESIZED,
	TERMINAL_CLICK, /* of the left button; mouse_row is the row */
	TERMINAL_WHEEL_UP,
	TERMINAL_WHEEL_DOWN,
	TERMINAL_NEWS, /* terminal.news is readable */
	TERMINAL_OTHER,
};

enum terminal_style {
	STYLE_PLAIN,
	STYLE_TITLE,
	STYLE_FAINT,
	STYLE_HOT,
	STYLE_WARM,
	STYLE_BETTER,
	STYLE_FOUND,
	STYLES,
	STYLE_CURSOR = 1 << 8, /* added to another: the chosen row */
};

/* Characters that a terminal without UTF-8 shows as others. */
enum terminal_sign { SIGN_OPEN, SIGN_CLOSED, SIGN_LEAF, SIGN_ERROR, SIGN_CUT };

struct terminal {
	void *screen; /* ncurses' */
	bool is_utf8;
	int rows, columns;
	int signal; /* that ended the input; 0: none */
	int mouse_row;
	bool has_mouse; /* the mouse sends keys; otherwise it selects text, as the terminal provides */
	int news;       /* a descriptor that terminal_key awaits too; -1, as after terminal_open: none */
};

/* Takes the terminal of standard input and output. Returns 0, or ERROR_UNSUPPORTED: its type is unknown. */
int terminal_open(struct terminal *terminal, bool wants_colour, struct error *error);
/* Restores the terminal and the signals. */
void terminal_close(struct terminal *terminal);

/* Switches the mouse on or off. It begins switched on, where the terminal has one. */
void terminal_use_mouse(struct terminal *terminal, bool wanted);

/* Waits for a key. TERMINAL_RESIZED: rows and columns have changed. */
int32_t terminal_key(struct terminal *terminal);

void terminal_clear(struct terminal *terminal);
/* Writes text, made safe (base/safe_text.h; a tab is a blank), from (row, column) on, at most `width` columns: longer text ends in
 * SIGN_CUT. Returns the column behind it. Places outside the terminal are left out. */
int terminal_text(struct terminal *terminal, int row, int column, int width, unsigned style, const char *text);
/* Fills the rest of a row. */
void terminal_fill(struct terminal *terminal, int row, int column, unsigned style);
const char *terminal_sign(const struct terminal *terminal, enum terminal_sign sign);
/* Shows what was written since terminal_clear; the cursor is at (row, column), or hidden if row is negative. */
void terminal_show(struct terminal *terminal, int row, int column);

#endif
