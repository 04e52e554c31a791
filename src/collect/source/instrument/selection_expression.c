/*
 * Refuses expressions that cost glibc too much. glibc copies a repeated part, for '+' once and for '{n,m}' m times,
 * so a repetition within a repetition multiplies the copies; it also copies everything behind an anchor again that
 * can match without a character. Therefore this file refuses
 *
 *   - the repetition of a repetition ("a?+", "((a+)+)+"; "(a+b)+" is accepted) and of a part with an anchor ("(^a)*")
 *   - more than MOST_COPIES copies, computed as if all repetitions were nested
 *
 * A pattern for names needs none of these.
 */
#include "collect/source/instrument/selection_expression.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_GROUPS = 64, MOST_COPIES = 4096 };

/* The text between parentheses, or the last repeatable item. */
struct part {
	bool has_repeated_group, has_anchor, is_group, is_repeated;
};

struct scan {
	struct part open[MOST_GROUPS + 1]; /* open[0]: the whole */
	size_t depth;
	struct part last;
	size_t copies;
};

static const char *const too_deep = "a repetition repeats another one";
static const char *const too_anchored = "a repetition repeats an anchor";
static const char *const too_many = "too many repetitions";

/* Returns the position behind a set's ']'. */
static const char *skip_set(const char *at)
{
	at += at[1] == '^' ? 2 : 1;
	at += *at == ']';
	while (*at && *at != ']') {
		const char *end = NULL;
		if (*at == '[' && at[1] && strchr(":.=", at[1])) {
			const char close[] = { at[1], ']', 0 };
			end = strstr(at + 2, close);
		}
		at = end ? end + 2 : at + 1;
	}
	return at + (*at == ']');
}

/* Returns the largest number of repetitions of "{n,m}". Moves *at to its end. */
static size_t times_of(const char **at)
{
	size_t most = 1;
	for (; **at && **at != '}'; (*at)++) {
		char *end;
		if (**at < '0' || **at > '9')
			continue;
		unsigned long number = strtoul(*at, &end, 10);
		most = number > most ? number : most;
		*at = end - 1;
	}
	return most;
}

static const char *repeat(struct scan *scan, size_t times)
{
	struct part *inside = &scan->open[scan->depth];
	if (scan->last.is_repeated || (scan->last.is_group && scan->last.has_repeated_group))
		return too_deep;
	if (scan->last.has_anchor)
		return too_anchored;
	if (times > MOST_COPIES / scan->copies)
		return too_many;
	scan->copies *= times > 0 ? times : 1;
	scan->last.is_repeated = true;
	inside->has_repeated_group |= scan->last.is_group;
	return NULL;
}

static const char *open_group(struct scan *scan)
{
	if (scan->depth == MOST_GROUPS)
		return "too many parentheses in one another";
	scan->open[++scan->depth] = (struct part){ 0 };
	scan->last = (struct part){ 0 };
	return NULL;
}

static void close_group(struct scan *scan)
{
	if (scan->depth == 0)
		return;
	scan->last = scan->open[scan->depth--];
	scan->last.is_group = true;
	scan->open[scan->depth].has_anchor |= scan->last.has_anchor;
	scan->open[scan->depth].has_repeated_group |= scan->last.has_repeated_group;
}

static void take_anchor(struct scan *scan)
{
	scan->last = (struct part){ .has_anchor = true };
	scan->open[scan->depth].has_anchor = true;
}

const char *selection_expression_excess(const char *expression)
{
	struct scan scan = { .copies = 1 };
	const char *excess = NULL;
	for (const char *at = expression; *at && !excess; at++) {
		switch (*at) {
		case '(':
			excess = open_group(&scan);
			break;
		case ')':
			close_group(&scan);
			break;
		case '*':
		case '?':
			excess = repeat(&scan, 1);
			break;
		case '+':
			excess = repeat(&scan, 2);
			break;
		case '{':
			excess = repeat(&scan, times_of(&at));
			at -= *at == 0;
			break;
		case '[':
			scan.last = (struct part){ 0 };
			at = skip_set(at) - 1;
			break;
		case '^':
		case '$':
			take_anchor(&scan);
			break;
		case '\\':
			if (at[1] && strchr("bB<>`'", at[1]))
				take_anchor(&scan);
			else
				scan.last = (struct part){ 0 };
			at += at[1] != 0;
			break;
		default:
			scan.last = (struct part){ 0 };
		}
	}
	return excess;
}
