#include "base/cxx_name.h"

#include <ctype.h>
#include <string.h>

/* A bracket with deeper nesting counts as unclosed. No demangler makes such a name; it is then found only by its
 * whole text. */
enum { NESTING_LIMIT = 256 };

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '$';
}

/* Returns the length of the longest symbol of an operator at the beginning of a text: 2 in "+=(", 1 in "+<char>(". */
static size_t symbol_length(const char *text, size_t length)
{
	static const char *const symbols[] = {
		"<=>", "<<=", ">>=", "->*", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++",
		"--",  "->",  "+=",  "-=",  "*=", "/=", "%=", "^=", "&=", "|=", "+",  "-",  "*",
		"/",   "%",   "^",   "&",   "|",  "~",  "!",  "=",  "<",  ">",  ","
	};
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		size_t size = strlen(symbols[i]);
		if (length >= size && memcmp(text, symbols[i], size) == 0)
			return size;
	}
	return 0;
}

/* A conversion ("operator bool", "operator std::string") counts up to its parameters, as does operator"" with its suffix. */
size_t cxx_name_operator(const char *text, size_t length, size_t at)
{
	static const char word[] = "operator";
	const size_t word_length = sizeof(word) - 1;
	if (length - at < word_length || memcmp(text + at, word, word_length) != 0 || (at > 0 && is_word(text[at - 1])))
		return 0;
	size_t next = at + word_length;
	if (next == length || is_word(text[next]))
		return 0;
	if (length - next >= 2 && (memcmp(text + next, "()", 2) == 0 || memcmp(text + next, "[]", 2) == 0))
		return word_length + 2;
	if (text[next] == ' ' || text[next] == '"') {
		while (next < length && text[next] != '(')
			next++;
		return next - at;
	}
	return next + symbol_length(text + next, length - next) - at;
}

/* Returns the bracket that `c` closes, or 0 if it closes none, like the '>' of "->". */
static char opener_of(char c, char before)
{
	switch (c) {
	case ')':
		return '(';
	case ']':
		return '[';
	case '}':
		return '{';
	case '>':
		return before == '-' ? 0 : '<';
	default:
		return 0;
	}
}

/* An unmatched '<' is a "less than". */
size_t cxx_name_brackets(const char *text, size_t length, size_t at)
{
	char stack[NESTING_LIMIT];
	size_t depth = 0;
	for (size_t i = at; i < length; i++) {
		size_t operator_bytes = text[i] == 'o' ? cxx_name_operator(text, length, i) : 0;
		if (operator_bytes > 0) {
			i += operator_bytes - 1;
			continue;
		}
		char c = text[i];
		if (c == '(' || c == '[' || c == '{' || c == '<') {
			if (depth == NESTING_LIMIT)
				return at + 1;
			stack[depth++] = c;
			continue;
		}
		char opener = opener_of(c, i > 0 ? text[i - 1] : 0);
		if (opener == 0 || (opener == '<' && depth > 0 && stack[depth - 1] != '<'))
			continue;
		while (depth > 0 && stack[depth - 1] == '<' && opener != '<')
			depth--;
		if (depth == 0 || stack[depth - 1] != opener)
			return at + 1;
		if (--depth == 0)
			return i + 1;
	}
	return at + 1;
}

static bool starts(const char *text, size_t length, size_t at, const char *what)
{
	size_t bytes = strlen(what);
	return length - at >= bytes && memcmp(text + at, what, bytes) == 0;
}

bool cxx_name_encloses(const char *text, size_t length, size_t at)
{
	static const char *const qualifiers[] = { " const", " volatile", " &&", " &", "&&", "&" };
	for (size_t i = 0; i < sizeof(qualifiers) / sizeof(*qualifiers); i++)
		if (starts(text, length, at, qualifiers[i]))
			at += strlen(qualifiers[i]);
	return starts(text, length, at, "::");
}

static struct cxx_name parse(const char *text, size_t length)
{
	struct cxx_name name = { .start = 0, .end = length };
	bool component_starts = true;
	for (size_t i = 0; i < length;) {
		size_t bytes = cxx_name_operator(text, length, i);
		if (bytes > 0) {
			i += bytes;
			/* In the demangler's "operator< <int>" no return type ends at the blank. */
			if (starts(text, length, i, " <"))
				i++;
			component_starts = false;
		} else if (text[i] == '(' && !component_starts) {
			size_t next = cxx_name_brackets(text, length, i);
			if (!cxx_name_encloses(text, length, next)) {
				name.end = i;
				return name;
			}
			i = next;
			while (!starts(text, length, i, "::"))
				i++;
		} else if (strchr("([{<", text[i])) {
			i = cxx_name_brackets(text, length, i);
			component_starts = false;
		} else if (text[i] == ' ') {
			name.start = ++i;
			component_starts = true;
		} else if (starts(text, length, i, "::")) {
			i += 2;
			component_starts = true;
		} else {
			i++;
			component_starts = false;
		}
	}
	return name;
}

struct cxx_name cxx_name_parse(const char *text, size_t length)
{
	struct cxx_name name = parse(text, length);
	if (name.start > name.end)
		name.start = 0;
	return name;
}

size_t cxx_name_plain(const char *name, size_t length, char *to)
{
	size_t size = 0;
	bool component_starts = true;
	for (size_t i = 0; i < length;) {
		size_t bytes = cxx_name_operator(name, length, i);
		bool turbofish = starts(name, length, i, "::<") && i > 0;
		if (bytes > 0) {
			memcpy(to + size, name + i, bytes);
			size += bytes;
			i += bytes;
			if (starts(name, length, i, " <"))
				i++;
			component_starts = false;
		} else if (turbofish) {
			i = cxx_name_brackets(name, length, i + 2);
		} else if (strchr("([{<", name[i])) {
			size_t next = cxx_name_brackets(name, length, i);
			bool closed = next > i + 1;
			if (component_starts || !closed || name[i] == '(' || name[i] == '{') {
				memcpy(to + size, name + i, next - i);
				size += next - i;
			}
			i = next;
			component_starts = false;
		} else {
			component_starts = starts(name, length, i, "::");
			to[size++] = name[i++];
			if (component_starts)
				to[size++] = name[i++];
		}
	}
	return size;
}

size_t cxx_name_component(const char *name, size_t length, size_t from)
{
	for (size_t i = from; i < length;) {
		size_t bytes = cxx_name_operator(name, length, i);
		if (bytes > 0) {
			i += bytes;
			if (starts(name, length, i, " <"))
				i++;
		} else if (strchr("([{<", name[i])) {
			i = cxx_name_brackets(name, length, i);
		} else if (starts(name, length, i, "::") && !starts(name, length, i, "::<")) {
			return i + 2;
		} else {
			i++;
		}
	}
	return length;
}

size_t cxx_name_last(const char *text, size_t length, char *to, size_t *start)
{
	struct cxx_name name = cxx_name_parse(text, length);
	size_t size = cxx_name_plain(text + name.start, name.end - name.start, to);
	*start = 0;
	for (size_t next = 0; next < size; next = cxx_name_component(to, size, next))
		*start = next;
	return size - *start;
}

bool cxx_name_ends_with(const char *name, size_t length, const char *end, size_t end_length)
{
	if (length < end_length || memcmp(name + length - end_length, end, end_length) != 0)
		return false;
	size_t at = 0;
	while (at < length - end_length)
		at = cxx_name_component(name, length, at);
	return at == length - end_length;
}
