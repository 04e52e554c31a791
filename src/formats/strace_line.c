#include "formats/strace_line.h"

#include "formats/input_text.h"

static const uint64_t SECOND_NS = 1000000000;

static bool ends_in(const char *text, const char *end)
{
	size_t length = strlen(text), end_length = strlen(end);
	return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* --- what stands in front of a call --- */

/* Reads "4711 ", "4711<prog> " or "[pid  4711] ". Returns what follows, or the text if there is none. */
static const char *read_tid(const char *text, struct strace_head *head)
{
	uint64_t tid;
	bool in_brackets = strace_begins(text, "[pid ");
	const char *next = input_text_number(in_brackets ? input_text_skip_blanks(text + 4) : text, UINT32_MAX, &tid);
	if (!next)
		return text;
	const char *end = in_brackets ? "] " : " ";
	if (*next == '<') {
		const char *close = strstr(next, in_brackets ? ">] " : "> ");
		if (!close)
			return text;
		head->comm = next + 1;
		head->comm_bytes = (size_t)(close - head->comm);
		next = close + 1;
	}
	if (!strace_begins(next, end))
		return text;
	head->has_tid = true;
	head->tid = (uint32_t)tid;
	return input_text_skip_blanks(next + 1);
}

/* Reads "12:00:01", with or without a fraction. Returns what follows, or NULL. */
static const char *read_clock(const char *text, uint64_t *ns)
{
	enum { SIXTY = 60, HOURS = 24 };
	uint64_t hours, minutes, seconds;
	const char *next = input_text_number(text, HOURS, &hours);
	next = next && *next == ':' ? input_text_number(next + 1, SIXTY, &minutes) : NULL;
	if (!next || *next != ':')
		return NULL;
	const char *from = next + 1, *fraction = input_text_seconds(from, ns);
	next = input_text_number(from, SIXTY, &seconds);
	if (!next)
		return NULL;
	*ns = fraction ? *ns : seconds * SECOND_NS;
	*ns += (hours * SIXTY + minutes) * SIXTY * SECOND_NS;
	return fraction ? fraction : next;
}

/* Reads the time of -t, -tt, -ttt or -r, or of -r with one of the others: "12:00:01 (+     0.000034) ". */
static const char *read_time(const char *text, struct strace_head *head)
{
	text = input_text_skip_blanks(text);
	const char *next = read_clock(text, &head->time_ns);
	next = next ? next : input_text_seconds(text, &head->time_ns);
	if (!next || *next != ' ')
		return text;
	head->has_time = true;
	head->is_of_day = memchr(text, ':', (size_t)(next - text));
	head->is_relative = !head->is_of_day && head->time_ns < STRACE_RELATIVE_MOST_NS;
	next = input_text_skip_blanks(next);
	const char *close = strace_begins(next, "(+") ? strchr(next, ')') : NULL;
	return close ? input_text_skip_blanks(close + 1) : next;
}

struct strace_head strace_read_head(const char *line)
{
	struct strace_head head = { 0 };
	const char *text = read_time(read_tid(line, &head), &head);
	/* "[  59] [00007f4fba118ad7] " */
	for (const char *close; *text == '[' && (close = strchr(text, ']'));)
		text = input_text_skip_blanks(close + 1);
	head.rest = text;
	return head;
}

/* --- a call --- */

/* Finds the last ") = ", behind which is the returned value: the texts among the arguments may have the same. */
static const char *find_value(const char *text)
{
	for (const char *at = text + strlen(text); at > text; at--) {
		const char *before = at - 1;
		if (at[0] != '=' || (at[1] && at[1] != ' ') || !input_text_is_blank(*before))
			continue;
		while (before > text && input_text_is_blank(*before))
			before--;
		if (*before == ')')
			return input_text_skip_blanks(at + 1);
	}
	return NULL;
}

/* Reads "<0.000058>" at the end of the line. */
static bool read_spent(const char *value, uint64_t *ns)
{
	const char *open = strrchr(value, '<');
	const char *end = open ? input_text_seconds(open + 1, ns) : NULL;
	return end && strcmp(end, ">") == 0;
}

bool strace_read_call(const char *text, struct strace_call *call)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz_0123456789", resumed[] = " resumed>";
	*call = (struct strace_call){ .is_resumed = strace_begins(text, "<... ") };
	const char *name = call->is_resumed ? text + strlen("<... ") : text;
	size_t bytes = strspn(name, letters);
	const char *end = name + bytes;
	bool ends = call->is_resumed ? strace_begins(end, resumed) : *end == '(';
	if (bytes == 0 || !ends)
		return false;
	call->name = name;
	call->name_bytes = bytes;
	call->arguments = call->is_resumed ? end + strlen(resumed) : end + 1;
	call->value = find_value(text);
	if (ends_in(text, " <unfinished ...>") || ends_in(text, " <detached ...>")) {
		call->value = NULL;
		return true;
	}
	call->has_spent = call->value && read_spent(call->value, &call->spent_ns);
	return call->value != NULL;
}

/* "?" alone is the value of a call that did not return; an interrupted one has an error behind
 * it: "? ERESTARTSYS (...)". */
bool strace_has_returned(const struct strace_call *call)
{
	return call->value && (call->value[0] != '?' || strace_begins(call->value, "? E"));
}

bool strace_is_call(const struct strace_call *call, const char *name)
{
	return call->name_bytes == strlen(name) && memcmp(call->name, name, call->name_bytes) == 0;
}
