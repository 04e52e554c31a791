/*
 * Shortens C++ and Rust names. One pass copies the text and replaces what a row or a function below
 * recognizes; template arguments are texts of the same kind, one level deeper.
 */
#include "base/short_name_cxx.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/columns.h"
#include "base/cxx_name.h"

/* Arguments that are nested more deeply are copied. */
enum { LEVELS_MOST = 48 };

struct text {
	const char *bytes;
	size_t size;
};

struct emitter {
	struct buffer *to;
	enum short_name_stage stage;
	unsigned level; /* 0: the name itself; more: in so many template arguments or parameter lists */
	size_t begin;   /* in `to`: where the present qualified name begins */
};

static void emit(struct emitter *emitter, struct text text);

/* --- texts --- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '~' || (unsigned char)c >= 0x80;
}

static struct text part(struct text text, size_t from, size_t to)
{
	return (struct text){ text.bytes + from, to - from };
}

static struct text trimmed(struct text text)
{
	while (text.size > 0 && text.bytes[0] == ' ')
		text = part(text, 1, text.size);
	while (text.size > 0 && text.bytes[text.size - 1] == ' ')
		text.size--;
	return text;
}

static bool begins(struct text text, size_t at, const char *with)
{
	size_t size = strlen(with);
	return at <= text.size && text.size - at >= size && memcmp(text.bytes + at, with, size) == 0;
}

static bool equals(struct text text, const char *with)
{
	return text.size == strlen(with) && begins(text, 0, with);
}

/* Returns the end of the bracket at `at`, or 0 if it is never closed. */
static size_t closing(struct text text, size_t at)
{
	size_t end = cxx_name_brackets(text.bytes, text.size, at);
	return end > at + 1 ? end : 0;
}

static size_t word_end(struct text text, size_t at)
{
	while (at < text.size && is_word(text.bytes[at]))
		at++;
	return at;
}

/* Sets *argument to the next of the arguments, from *at on, which moves behind it. Returns false at the end. */
static bool next_argument(struct text inside, size_t *at, struct text *argument)
{
	size_t from = *at;
	if (from > inside.size || inside.size == 0)
		return false;
	size_t end = cxx_name_until(inside.bytes, inside.size, from, ',');
	*argument = trimmed(part(inside, from, end));
	*at = end + 1;
	return true;
}

/* --- what everybody knows --- */

/* Returns the length of a namespace that only versions what is in it, with its "::", or 0. */
static size_t inline_namespace(struct text text, size_t at)
{
	static const char *const names[] = { "__cxx11::", "__1::", "__ndk1::", "__8::", "_V2::", "__cxx1998::" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (begins(text, at, names[i]))
			return strlen(names[i]);
	return 0;
}

/* Returns the position behind "std::", or 0 if the text at `at` is not in namespace std. */
static size_t behind_std(struct text text, size_t at)
{
	if (!begins(text, at, "std::"))
		return 0;
	at += strlen("std::");
	return at + inline_namespace(text, at);
}

/* Whether an argument is what a template of the standard library has unless the source says otherwise. */
static bool is_usual(struct text argument)
{
	static const char *const names[] = { "allocator<",   "less<",           "hash<",       "equal_to<",
					     "char_traits<", "default_delete<", "_Select1st<", "_Identity<",
					     "__detail::",   "regex_traits<",   "deque<" };
	size_t at = behind_std(argument, 0);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && at > 0; i++)
		if (begins(argument, at, names[i]))
			return true;
	return false;
}

/* Returns the number of arguments without the usual arguments at their end. The first argument always stays. */
static size_t needed_arguments(struct text inside)
{
	struct text argument;
	size_t needed = 0, index = 0;
	for (size_t at = 0; next_argument(inside, &at, &argument); index++)
		if (index == 0 || !is_usual(argument))
			needed = index + 1;
	return needed;
}

/* Returns what stands before the name of a class of characters: "basic_string<wchar_t, ...>" is
 * "wstring"; or NULL if the arguments are not the usual arguments. */
static const char *prefix_of_characters(struct text inside)
{
	static const struct {
		const char *character, *prefix;
	} rows[] = {
		{ "char", "" }, { "wchar_t", "w" }, { "char8_t", "u8" }, { "char16_t", "u16" }, { "char32_t", "u32" }
	};
	struct text argument;
	size_t at = 0;
	if (needed_arguments(inside) != 1 || !next_argument(inside, &at, &argument))
		return NULL;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (equals(argument, rows[i].character))
			return rows[i].prefix;
	return NULL;
}

static void put(struct emitter *emitter, struct text text)
{
	buffer_append(emitter->to, text.bytes, text.size);
}

static void put_string(struct emitter *emitter, const char *text)
{
	buffer_append_string(emitter->to, text);
}

/* "std::__cxx11::basic_string<char, ...>" is "std::string". Returns the position behind it, or 0. */
static size_t emit_characters(struct emitter *emitter, struct text text, size_t at)
{
	static const char basic[] = "basic_";
	size_t word = behind_std(text, at);
	if (word == 0 || !begins(text, word, basic))
		return 0;
	size_t open = word_end(text, word), end = open < text.size && text.bytes[open] == '<' ? closing(text, open) : 0;
	const char *prefix = end > 0 ? prefix_of_characters(part(text, open + 1, end - 1)) : NULL;
	if (!prefix)
		return 0;
	bool names_last = emitter->level > 0 && emitter->stage >= SHORT_NAME_INNER;
	put_string(emitter, names_last ? "" : "std::");
	put_string(emitter, prefix);
	put(emitter, part(text, word + strlen(basic), open));
	return end;
}

static void emit_at(struct emitter *emitter, struct text text, unsigned level)
{
	struct emitter inner = {
		.to = emitter->to, .stage = emitter->stage, .level = level, .begin = emitter->to->size
	};
	emit(&inner, text);
}

/* "__gnu_cxx::__normal_iterator<Rec const*, std::vector<Rec> >" is
 * "std::vector<Rec>::const_iterator", and a function object of "__gnu_cxx::__ops" is what it
 * calls. Returns the position behind it, or 0. */
static size_t emit_iterator(struct emitter *emitter, struct text text, size_t at)
{
	static const char iterator[] = "__gnu_cxx::__normal_iterator<", object[] = "__gnu_cxx::__ops::_";
	bool is_iterator = begins(text, at, iterator), is_object = begins(text, at, object);
	if (!is_iterator && !is_object)
		return 0;
	size_t open = is_iterator ? at + strlen(iterator) - 1 : word_end(text, at + strlen(object));
	size_t end = open < text.size && text.bytes[open] == '<' ? closing(text, open) : 0;
	struct text first, second, inside = end > 0 ? part(text, open + 1, end - 1) : (struct text){ 0 };
	size_t next = 0;
	if (end == 0 || !next_argument(inside, &next, &first))
		return 0;
	if (is_object) {
		emit_at(emitter, first, emitter->level + 1);
		return end;
	}
	static const char constant[] = " const*";
	bool is_constant = begins(first, 0, "const ") ||
			   (first.size > strlen(constant) && begins(first, first.size - strlen(constant), constant));
	if (!next_argument(inside, &next, &second))
		return 0;
	if (emitter->level == 0 || emitter->stage < SHORT_NAME_INNER) {
		emit_at(emitter, second, emitter->level + (emitter->stage >= SHORT_NAME_INNER));
		put_string(emitter, "::");
	}
	put_string(emitter, is_constant ? "const_iterator" : "iterator");
	return end;
}

/* --- brackets --- */

/* Appends the mark in place of text, unless that is as short. */
static bool emit_mark(struct emitter *emitter, struct text inside)
{
	bool is_long = text_columns(inside.bytes, inside.size) > 1;
	if (is_long)
		put_string(emitter, SHORT_NAME_MARK);
	return is_long;
}

static void emit_arguments(struct emitter *emitter, struct text inside)
{
	enum short_name_stage marks = emitter->level == 0 ? SHORT_NAME_OUTER : SHORT_NAME_INNER;
	size_t needed = needed_arguments(inside), at = 0, index = 0;
	struct text argument;
	buffer_append_byte(emitter->to, '<');
	if (emitter->stage < marks || !emit_mark(emitter, inside)) {
		for (; index < needed && next_argument(inside, &at, &argument); index++) {
			put_string(emitter, index > 0 ? ", " : "");
			emit_at(emitter, argument, emitter->level + 1);
		}
	}
	buffer_append_byte(emitter->to, '>');
}

/* Parameters, and other parentheses in types. */
static void emit_parentheses(struct emitter *emitter, struct text inside)
{
	buffer_append_byte(emitter->to, '(');
	if (emitter->stage < SHORT_NAME_INNER || !emit_mark(emitter, inside))
		emit_at(emitter, inside, emitter->level + 1);
	buffer_append_byte(emitter->to, ')');
}

/* "{lambda(Rec const&)#2}", "{{closure}}", "{unnamed type#1}". */
static void emit_braces(struct emitter *emitter, struct text braces)
{
	static const char lambda[] = "{lambda";
	if (begins(braces, 0, "{{") && begins(braces, braces.size - 2, "}}"))
		braces = part(braces, 1, braces.size - 1);
	size_t number = braces.size;
	while (number > 0 && braces.bytes[number - 1] != '#')
		number--;
	if (!begins(braces, 0, lambda) || number == 0) {
		put(emitter, braces);
		return;
	}
	put_string(emitter, lambda);
	if (emitter->stage < SHORT_NAME_BARE)
		emit_at(emitter, part(braces, strlen(lambda), number - 1), emitter->level + 1);
	put(emitter, part(braces, number - 1, braces.size));
}

/* Appends what stands at a bracket. Returns the position behind it. */
static size_t emit_bracket(struct emitter *emitter, struct text text, size_t at, bool begins_component)
{
	static const char nameless[] = "(anonymous namespace)::", call[] = "::operator()";
	size_t end = emitter->level < LEVELS_MOST ? closing(text, at) : 0;
	bool is_bare = emitter->stage >= SHORT_NAME_BARE;
	if (is_bare && begins(text, at, nameless))
		return at + strlen(nameless);
	if (end == 0) {
		put(emitter, part(text, at, at + 1));
		return at + 1;
	}
	struct text inside = part(text, at + 1, end - 1);
	switch (text.bytes[at]) {
	case '[':
		if (!begins(inside, 0, "abi:"))
			put(emitter, part(text, at, end));
		return end;
	case '{':
		emit_braces(emitter, part(text, at, end));
		return is_bare && begins(text, end, call) ? end + strlen(call) : end;
	case '<':
		if (is_bare && begins(inside, 0, "lambda(")) { /* of gcc's debug information */
			put_string(emitter, "{lambda}");
			return begins(text, end, call) ? end + strlen(call) : end;
		}
		if (begins_component && at + 1 < end && emitter->level == 0) { /* Rust's <T as Trait> */
			buffer_append_byte(emitter->to, '<');
			emit_at(emitter, inside, 1);
			buffer_append_byte(emitter->to, '>');
		} else {
			emit_arguments(emitter, inside);
		}
		return end;
	default:
		if (is_bare && !begins_component && cxx_name_encloses(text.bytes, text.size, end)) {
			while (!begins(text, end, "::"))
				end++;
			return end;
		}
		if (begins_component && emitter->level == 0)
			put(emitter, part(text, at, end));
		else
			emit_parentheses(emitter, inside);
		return end;
	}
}

/* --- words --- */

/* The closures of clang: "$_0", and in its demangler's names "'lambda'(int)", "'lambda0'(int)".
 * Returns the position behind it, or 0. */
static size_t emit_closure(struct emitter *emitter, struct text text, size_t at)
{
	static const char quoted[] = "'lambda", call[] = "::operator()";
	bool is_quoted = begins(text, at, quoted);
	size_t digits = at + (is_quoted ? strlen(quoted) : 2), end = digits;
	unsigned number = 0;
	if (emitter->stage < SHORT_NAME_BARE || (!is_quoted && !begins(text, at, "$_")))
		return 0;
	for (; end < text.size && isdigit((unsigned char)text.bytes[end]) && end - digits < 6; end++)
		number = number * 10 + (unsigned)(text.bytes[end] - '0');
	if (is_quoted ? !begins(text, end, "'") : end == digits || (end < text.size && is_word(text.bytes[end])))
		return 0;
	number += is_quoted && end == digits ? 1 : is_quoted ? 2 : 1;
	end += is_quoted;
	if (is_quoted && end < text.size && text.bytes[end] == '(' && closing(text, end) > 0)
		end = closing(text, end);
	buffer_printf(emitter->to, "{lambda#%u}", number);
	return begins(text, end, call) ? end + strlen(call) : end;
}

/* Appends the word at `at`, or what stands for it and its arguments. Returns the position behind. */
static size_t emit_word(struct emitter *emitter, struct text text, size_t at)
{
	size_t end = emit_characters(emitter, text, at);
	if (end == 0)
		end = emit_iterator(emitter, text, at);
	if (end == 0)
		end = emit_closure(emitter, text, at);
	if (end > 0)
		return end;
	end = word_end(text, at);
	put(emitter, part(text, at, end));
	return end;
}

/* Ends a component: in the arguments of stage INNER, only the last one of a name is kept. */
static size_t emit_scope(struct emitter *emitter, struct text text, size_t at)
{
	size_t next = at + strlen("::");
	if (emitter->stage >= SHORT_NAME_INNER && emitter->level > 0 && emitter->to->size >= emitter->begin &&
	    !begins(text, next, "<"))
		emitter->to->size = emitter->begin;
	else
		put_string(emitter, "::");
	return next + inline_namespace(text, next);
}

/* Whether `at` is the beginning of a qualified name: `before` is the character before it. */
static bool begins_name(char before)
{
	return before == 0 || (!is_word(before) && before != ':' && before != '>' && before != '}' && before != ')');
}

static void emit(struct emitter *emitter, struct text text)
{
	bool begins_component = true;
	for (size_t i = 0; i < text.size;) {
		char c = text.bytes[i];
		size_t operator_bytes = cxx_name_operator(text.bytes, text.size, i);
		if (begins_name(i > 0 ? text.bytes[i - 1] : 0))
			emitter->begin = emitter->to->size;
		if (operator_bytes > 0) {
			put(emitter, part(text, i, i + operator_bytes));
			i += operator_bytes;
			if (begins(text, i, " <")) { /* "operator< <int>" */
				buffer_append_byte(emitter->to, ' ');
				i++;
			}
			begins_component = false;
		} else if (begins(text, i, "::")) {
			i = emit_scope(emitter, text, i);
			begins_component = !begins(text, i, "<") || i == 2;
		} else if (c != 0 && strchr("([{<", c)) {
			i = emit_bracket(emitter, text, i, begins_component);
			begins_component = false;
		} else if (is_word(c) || c == '\'') {
			size_t end = emit_word(emitter, text, i);
			if (end == i)
				put(emitter, part(text, i, ++end));
			i = end;
			begins_component = false;
		} else {
			if (c != ' ' || !begins(text, i + 1, ">"))
				put(emitter, part(text, i, i + 1));
			i++;
			begins_component = c == ' ' || begins_component;
		}
	}
}

void short_name_cxx(struct buffer *to, const char *name, size_t length, enum short_name_stage stage)
{
	struct text text = { name, length };
	struct cxx_name parts = cxx_name_parse(name, length);
	struct emitter emitter = { .to = to, .stage = stage };
	if (stage == SHORT_NAME_USUAL && parts.start > 0)
		emit_at(&emitter, part(text, 0, parts.start), 1);
	emitter.begin = to->size;
	emit(&emitter, part(text, parts.start, parts.end));
	if (stage == SHORT_NAME_USUAL)
		emit_at(&emitter, part(text, parts.end, length), 1);
}
