#include "ui/explore/io.h"

#include <errno.h>
#include <histedit.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

enum { HISTORY_LINES = 1000, LISTED_MAX = 100 };

struct editor {
	EditLine *line;
	History *history;
	struct session *session;
	const char *prompt;
	char *history_path; /* NULL: the history is not saved */
	char *text;         /* the last line, without its newline */
	int input;          /* file descriptor */
};

static struct editor *editor_of(EditLine *line)
{
	void *editor = NULL;
	el_get(line, EL_CLIENTDATA, &editor);
	return editor;
}

static const char *prompt_of(EditLine *line)
{
	return editor_of(line)->prompt;
}

/* Reads one character. Unlike libedit's own reader, it fails after ^C, which thereby ends the line. */
static int read_character(EditLine *line, wchar_t *character)
{
	struct editor *editor = editor_of(line);
	mbstate_t state = { 0 };
	for (;;) {
		char byte;
		if (explore_wait_readable(editor->input)) {
			errno = EINTR;
			return -1;
		}
		ssize_t got = read(editor->input, &byte, 1);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return (int)got;
		size_t length = mbrtowc(character, &byte, 1, &state);
		if (length == (size_t)-2)
			continue;
		if (length == (size_t)-1)
			*character = L'?'; /* invalid in this locale's encoding */
		return 1;
	}
}

/* Prints the candidates below the line, in as many columns as fit into 80 characters. */
static void list_candidates(struct editor *editor, const struct completion *completion)
{
	FILE *out = editor->session->options->out;
	size_t width = 0;
	for (size_t i = 0; i < completion->count && i < LISTED_MAX; i++) {
		size_t length = strlen(completion->items[i]) + 2;
		width = length > width ? length : width;
	}
	size_t columns = width >= 80 ? 1 : 80 / width;
	fputc('\n', out);
	for (size_t i = 0; i < completion->count && i < LISTED_MAX; i++) {
		bool last = i + 1 == completion->count || i + 1 == LISTED_MAX || (i + 1) % columns == 0;
		int pad = last ? 0 : (int)(width - strlen(completion->items[i]));
		render_safe_text(out, completion->items[i]);
		fprintf(out, "%*s%s", pad, "", last ? "\n" : "");
	}
	if (completion->count > LISTED_MAX)
		fprintf(out, "and %zu more\n", completion->count - LISTED_MAX);
	fflush(out);
}

/* Returns the number of characters in a part of the line, as libedit counts them. */
static int character_count(const char *text, size_t length)
{
	char *copy = strndup(text, length);
	size_t count = copy ? mbstowcs(NULL, copy, 0) : (size_t)-1;
	free(copy);
	return (int)(count == (size_t)-1 ? length : count);
}

/* Inserts the text that all candidates have beyond the typed text. A single candidate may replace the typed text.
 * Returns whether the line changed. */
static bool insert_common(EditLine *line, const struct completion *completion, const char *typed, size_t typed_length)
{
	const char *first = completion->items[0];
	bool continues = strncmp(first, typed, typed_length) == 0;
	bool single = completion->count == 1;
	if (!single && (!continues || completion->common <= typed_length))
		return false;
	if (!continues && typed_length)
		el_deletestr(line, character_count(typed, typed_length));
	size_t skip = continues ? typed_length : 0;
	char *insert = NULL;
	if (asprintf(&insert, "%.*s%s", (int)(completion->common - skip), first + skip,
		     single && completion->space ? " " : "") < 0)
		return false;
	bool changed = *insert && el_insertstr(line, insert) == 0;
	free(insert);
	return changed;
}

static unsigned char complete(EditLine *line, wint_t character)
{
	(void)character;
	struct editor *editor = editor_of(line);
	const LineInfo *info = el_line(line);
	size_t length = (size_t)(info->cursor - info->buffer);
	struct completion completion;
	completion_init(&completion, editor->session, info->buffer, length);
	unsigned char result = CC_ERROR; /* beeps */
	if (completion.count) {
		const char *typed = info->buffer + completion.start;
		if (insert_common(line, &completion, typed, length - completion.start)) {
			result = CC_REFRESH;
		} else if (completion.count > 1) {
			list_candidates(editor, &completion);
			result = CC_REDISPLAY;
		}
	}
	completion_release(&completion);
	return result;
}

static void set_up(struct editor *editor)
{
	EditLine *line = editor->line;
	el_set(line, EL_CLIENTDATA, editor);
	el_set(line, EL_PROMPT, prompt_of);
	el_set(line, EL_EDITOR, "emacs");
	el_set(line, EL_SIGNAL, 0);
	el_set(line, EL_GETCFN, read_character);
	/* The wide call is used because the narrow one leaks its copies of the strings. */
	el_wset(line, EL_ADDFN, L"cpprof-complete", L"complete commands and names", complete);
	el_set(line, EL_BIND, "^I", "cpprof-complete", NULL);
	el_set(line, EL_BIND, "^R", "em-inc-search-prev", NULL);
	if (editor->history)
		el_set(line, EL_HIST, history, editor->history);
	el_source(line, NULL); /* reads the user's ~/.editrc */
}

static void load_history(struct editor *editor)
{
	HistEvent event;
	editor->history = history_init();
	if (!editor->history)
		return;
	history(editor->history, &event, H_SETSIZE, HISTORY_LINES);
	history(editor->history, &event, H_SETUNIQUE, 1);
	editor->history_path = history_file_path();
	if (editor->history_path)
		history(editor->history, &event, H_LOAD, editor->history_path);
}

struct editor *editor_new(struct session *session, const char *prompt)
{
	const struct explore_options *options = session->options;
	struct editor *editor = calloc(1, sizeof(*editor));
	if (!editor)
		return NULL;
	editor->session = session;
	editor->prompt = prompt;
	editor->input = fileno(options->in);
	/* libedit decodes the input by the locale's encoding. */
	setlocale(LC_CTYPE, "");
	editor->line = editor->input < 0 ? NULL : el_init("cpprof", options->in, options->out, options->err);
	if (!editor->line) {
		free(editor);
		return NULL;
	}
	load_history(editor);
	set_up(editor);
	return editor;
}

static void save_history(struct editor *editor)
{
	HistEvent event;
	FILE *file = editor->history_path ? history_file_create(editor->history_path) : NULL;
	if (!file)
		return;
	history(editor->history, &event, H_SAVE_FP, file);
	history_file_commit(file, editor->history_path);
}

void editor_free(struct editor *editor)
{
	if (!editor)
		return;
	save_history(editor);
	el_end(editor->line);
	if (editor->history)
		history_end(editor->history);
	free(editor->history_path);
	free(editor->text);
	free(editor);
}

const char *editor_read(struct editor *editor)
{
	int count = 0;
	/* Prepares the terminal before the prompt. libedit itself does it after the prompt, and the terminal's own line
	 * editing would process what the user types in between. */
	el_set(editor->line, EL_PREP_TERM, 1);
	const char *text = el_gets(editor->line, &count);
	if (!text || count <= 0 || explore_interrupted())
		return NULL;
	free(editor->text);
	editor->text = strndup(text, strcspn(text, "\r\n"));
	if (editor->text && editor->text[strspn(editor->text, " \t")] && editor->history) {
		HistEvent event;
		history(editor->history, &event, H_ENTER, editor->text);
	}
	return editor->text;
}
