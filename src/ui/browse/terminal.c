#define NCURSES_WIDECHAR 1
#include "ui/browse/terminal.h"

#include <curses.h>
#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

#include "base/safe_text.h"
#include "base/utf8.h"

enum { ESCAPE_MS = 25, NONE = -1 };

/* --- signals --- */

static const int ending[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { ENDINGS = sizeof(ending) / sizeof(ending[0]) };
static struct sigaction before[ENDINGS];
static sigset_t mask_before;
static const int job[] = { SIGTSTP, SIGCONT };
enum { JOBS = sizeof(job) / sizeof(job[0]) };
static struct sigaction job_before[JOBS];
static volatile sig_atomic_t received, stop_requested, continued;

static void note_signal(int number)
{
	if (number == SIGTSTP)
		stop_requested = 1;
	else if (number == SIGCONT)
		continued = 1;
	else
		received = number;
}

static void catch_unless_ignored(const int *numbers, size_t count, struct sigaction *saved)
{
	struct sigaction action = { .sa_handler = note_signal };
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < count; i++) {
		sigaction(numbers[i], NULL, &saved[i]);
		if (saved[i].sa_handler != SIG_IGN)
			sigaction(numbers[i], &action, NULL);
	}
}

/* Signals that are ignored, as by nohup, stay so. The others come only while a key is awaited: none is overlooked
 * between a look at what came and the wait. */
static void catch_signals(void)
{
	sigset_t blocked;
	received = stop_requested = continued = 0;
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGWINCH);
	for (size_t i = 0; i < ENDINGS; i++)
		sigaddset(&blocked, ending[i]);
	for (size_t i = 0; i < JOBS; i++)
		sigaddset(&blocked, job[i]);
	sigprocmask(SIG_BLOCK, &blocked, &mask_before);
	catch_unless_ignored(ending, ENDINGS, before);
	catch_unless_ignored(job, JOBS, job_before);
}

static void restore_signals(void)
{
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	for (size_t i = 0; i < ENDINGS; i++)
		sigaction(ending[i], &before[i], NULL);
	for (size_t i = 0; i < JOBS; i++)
		sigaction(job[i], &job_before[i], NULL);
}

/* Stops this process, as SIGTSTP does, until SIGCONT. */
static void stop(void)
{
	struct sigaction action = { .sa_handler = SIG_DFL }, ours;
	sigset_t stopping, mask;
	sigemptyset(&action.sa_mask);
	sigemptyset(&stopping);
	for (size_t i = 0; i < JOBS; i++)
		sigaddset(&stopping, job[i]);
	sigaction(SIGTSTP, &action, &ours);
	raise(SIGTSTP);
	sigprocmask(SIG_UNBLOCK, &stopping, &mask);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	sigaction(SIGTSTP, &ours, NULL);
}

/* Waits until a key can be read, or SIGWINCH or a signal of `job` comes, or the descriptor `news` is readable, which sets *has_news. Returns false at one of
 * the other signals, or if the input has ended. */
static bool wait_for_input(int news, bool *has_news)
{
	struct pollfd inputs[] = { { .fd = STDIN_FILENO, .events = POLLIN }, { .fd = news, .events = POLLIN } };
	int ready = ppoll(inputs, 2, NULL, &mask_before);
	bool has_failed = ready < 0 && errno != EINTR;
	*has_news = ready > 0 && inputs[1].revents;
	/* A terminal that is gone can always be read, which gives nothing, also where the program ignores SIGHUP. */
	return !has_failed && !received && !(ready > 0 && (inputs[0].revents & ~POLLIN));
}

/* --- ncurses --- */

static const struct {
	short foreground; /* NONE: no colour */
	attr_t attributes;
} styles[STYLES] = {
	[STYLE_PLAIN] = { NONE, A_NORMAL },        [STYLE_TITLE] = { COLOR_CYAN, A_BOLD },
	[STYLE_FAINT] = { NONE, A_DIM },           [STYLE_HOT] = { COLOR_RED, A_BOLD },
	[STYLE_WARM] = { COLOR_YELLOW, A_NORMAL }, [STYLE_BETTER] = { COLOR_GREEN, A_BOLD },
	[STYLE_FOUND] = { NONE, A_UNDERLINE },
};

static void start_colours(bool wanted)
{
	if (!wanted || !has_colors() || start_color() == ERR)
		return;
	use_default_colors();
	for (int i = 0; i < STYLES; i++)
		init_pair((short)(i + 1), styles[i].foreground, NONE);
}

int terminal_open(struct terminal *terminal, bool wants_colour, struct error *error)
{
	*terminal = (struct terminal){ .news = -1 };
	setlocale(LC_CTYPE, "");
	terminal->is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	catch_signals();
	terminal->screen = newterm(NULL, stdout, stdin);
	if (!terminal->screen) {
		const char *type = getenv("TERM");
		restore_signals();
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot show a screen: the terminal's type '%s' is unknown (set TERM)",
				 safe_word(type ? type : "", "?"));
	}
	if (!tigetstr("cup")) {
		reset_shell_mode();
		delscreen(terminal->screen);
		restore_signals();
		return error_set(error, ERROR_UNSUPPORTED,
				 "cannot show a screen: a terminal of the type '%s' cannot move its cursor (set TERM, "
				 "or use 'cpprof report')",
				 safe_word(getenv("TERM"), "?"));
	}
	set_escdelay(ESCAPE_MS);
	start_colours(wants_colour);
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	nodelay(stdscr, TRUE);
	terminal_use_mouse(terminal, true);
	getmaxyx(stdscr, terminal->rows, terminal->columns);
	return 0;
}

void terminal_use_mouse(struct terminal *terminal, bool wanted)
{
	/* A press counts at once, not only when it turns out to be no double click. */
	mouseinterval(0);
	terminal->has_mouse = mousemask(wanted ? BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED : 0, NULL) != 0;
}

void terminal_close(struct terminal *terminal)
{
	if (!terminal->screen)
		return;
	curs_set(1);
	endwin();
	delscreen(terminal->screen);
	restore_signals();
	terminal->screen = NULL;
}

static int32_t key_of_mouse(struct terminal *terminal)
{
	MEVENT event;
	if (getmouse(&event) == ERR)
		return TERMINAL_OTHER;
	terminal->mouse_row = event.y;
	return event.bstate & BUTTON1_PRESSED   ? TERMINAL_CLICK
	       : event.bstate & BUTTON4_PRESSED ? TERMINAL_WHEEL_UP
	       : event.bstate & BUTTON5_PRESSED ? TERMINAL_WHEEL_DOWN
						: TERMINAL_OTHER;
}

static int32_t key_of(wint_t code)
{
	static const struct {
		wint_t code;
		enum terminal_key key;
	} rows[] = {
		{ KEY_UP, TERMINAL_UP },          { KEY_DOWN, TERMINAL_DOWN },
		{ KEY_LEFT, TERMINAL_LEFT },      { KEY_RIGHT, TERMINAL_RIGHT },
		{ KEY_PPAGE, TERMINAL_PAGE_UP },  { KEY_NPAGE, TERMINAL_PAGE_DOWN },
		{ KEY_HOME, TERMINAL_HOME },      { KEY_END, TERMINAL_END },
		{ KEY_ENTER, TERMINAL_ENTER },    { KEY_BACKSPACE, TERMINAL_BACKSPACE },
		{ KEY_RESIZE, TERMINAL_RESIZED },
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].code == code)
			return rows[i].key;
	return TERMINAL_OTHER;
}

static int32_t key_of_character(wint_t character)
{
	enum { ESCAPE = 27, DELETE = 127 };
	if (character == '\r' || character == '\n')
		return TERMINAL_ENTER;
	if (character == ESCAPE)
		return TERMINAL_ESCAPE;
	if (character == DELETE || character == '\b')
		return TERMINAL_BACKSPACE;
	return (int32_t)character;
}

/* Gives the terminal back while the process is stopped, if it is still to be stopped. Takes it again: a shell has changed its settings
 * meanwhile, and written on it. */
static void take_again(void)
{
	endwin();
	if (stop_requested)
		stop();
	stop_requested = continued = 0;
	refresh();
}

int32_t terminal_key(struct terminal *terminal)
{
	for (;;) {
		wint_t code;
		int kind = get_wch(&code);
		if (kind == KEY_CODE_YES) {
			getmaxyx(stdscr, terminal->rows, terminal->columns);
			return code == KEY_MOUSE ? key_of_mouse(terminal) : key_of(code);
		}
		if (kind == OK)
			return key_of_character(code);
		bool has_news;
		if (!wait_for_input(terminal->news, &has_news)) {
			terminal->signal = received;
			return TERMINAL_ENDED;
		}
		if (stop_requested || continued)
			take_again();
		if (has_news)
			return TERMINAL_NEWS;
	}
}

void terminal_clear(struct terminal *terminal)
{
	(void)terminal;
	erase();
}

void terminal_show(struct terminal *terminal, int row, int column)
{
	(void)terminal;
	curs_set(row >= 0);
	move(row >= 0 ? row : 0, row >= 0 ? column : 0);
	refresh();
}

const char *terminal_sign(const struct terminal *terminal, enum terminal_sign sign)
{
	static const char *const signs[][2] = {
		[SIGN_OPEN] = { "v", "▾" },   [SIGN_CLOSED] = { ">", "▸" }, [SIGN_LEAF] = { " ", " " },
		[SIGN_ERROR] = { "+-", "±" }, [SIGN_CUT] = { "~", "…" },
	};
	return signs[sign][terminal->is_utf8];
}

static void choose_style(unsigned style)
{
	unsigned number = style & 0xff;
	attr_t attributes = styles[number].attributes | (style & STYLE_CURSOR ? A_REVERSE : 0);
	/* A faint row that is chosen would be hard to read. */
	if (style & STYLE_CURSOR)
		attributes &= ~(attr_t)A_DIM;
	attr_set(attributes, has_colors() && styles[number].foreground != NONE ? (short)(number + 1) : 0, NULL);
}

/* Converts safe text to characters that the terminal can show, at most `capacity` of them. Returns their number. */
static size_t characters_of(const struct terminal *terminal, const char *text, wchar_t *characters, size_t capacity)
{
	size_t count = 0;
	for (const unsigned char *next = (const unsigned char *)text; *next && count < capacity;) {
		size_t length = utf8_sequence(next);
		uint32_t point = length ? utf8_point(next, length) : '?';
		bool is_shown = point < 0x80 || (terminal->is_utf8 && wcwidth((wchar_t)point) >= 0);
		characters[count++] = point == '\t' ? L' ' : is_shown ? (wchar_t)point : L'?';
		next += length ? length : 1;
	}
	return count;
}

static int width_of(wchar_t character)
{
	int width = wcwidth(character);
	return width < 0 ? 1 : width;
}

/* Returns how many characters fit into `width` columns. Sets *used to their columns. */
static size_t fitting(const wchar_t *characters, size_t count, int width, int *used)
{
	size_t fit = 0;
	*used = 0;
	while (fit < count && *used + width_of(characters[fit]) <= width)
		*used += width_of(characters[fit++]);
	return fit;
}

/* The longest row of a terminal has so many characters; text behind them is never visible. */
enum { CHARACTERS_MAX = 1024, SAFE_BYTES = CHARACTERS_MAX * 4 };

int terminal_text(struct terminal *terminal, int row, int column, int width, unsigned style, const char *text)
{
	wchar_t characters[CHARACTERS_MAX];
	char safe[SAFE_BYTES + 1] = "";
	int used;
	if (column + width > terminal->columns)
		width = terminal->columns - column;
	if (row < 0 || row >= terminal->rows || column < 0 || width <= 0)
		return column;
	/* The stream leaves out text that does not fit into `safe`: it would be far beyond the right edge. */
	FILE *out = fmemopen(safe, SAFE_BYTES, "w");
	if (!out)
		return column;
	safe_text_write(out, text, strnlen(text, SAFE_BYTES), "\t");
	fclose(out);
	size_t count = characters_of(terminal, safe, characters, CHARACTERS_MAX);
	size_t fit = fitting(characters, count, width, &used);
	bool is_cut = fit < count;
	if (is_cut)
		fit = fitting(characters, count, width - 1, &used);
	choose_style(style);
	mvaddnwstr(row, column, characters, (int)fit);
	if (is_cut) {
		mvaddstr(row, column + used, terminal_sign(terminal, SIGN_CUT));
		used++;
	}
	choose_style(STYLE_PLAIN);
	return column + used;
}

void terminal_fill(struct terminal *terminal, int row, int column, unsigned style)
{
	if (row < 0 || row >= terminal->rows || column >= terminal->columns)
		return;
	choose_style(style);
	mvhline(row, column, ' ', terminal->columns - column);
	choose_style(STYLE_PLAIN);
}
