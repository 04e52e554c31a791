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

/* A conversion ("operator bool", "operator std::string") counts up to its parameters, as does
 * operator"" with its suffix. */
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

enum token { TOKEN_OPERATOR, TOKEN_BRACKET, TOKEN_SCOPE, TOKEN_OTHER };

/* Sets *token to what stands at `at`. Returns the position behind it: an operator, a bracket with all that it encloses, a "::", or one
 * byte. */
static size_t step(const char *text, size_t length, size_t at, enum token *token)
{
	size_t bytes = cxx_name_operator(text, length, at);
	if (bytes > 0) {
		*token = TOKEN_OPERATOR;
		/* In the demangler's "operator< <int>" no return type ends at the blank. */
		return at + bytes + starts(text, length, at + bytes, " <");
	}
	if (text[at] && strchr("([{<", text[at])) {
		*token = TOKEN_BRACKET;
		return cxx_name_brackets(text, length, at);
	}
	*token = starts(text, length, at, "::") ? TOKEN_SCOPE : TOKEN_OTHER;
	return at + (*token == TOKEN_SCOPE ? 2 : 1);
}

size_t cxx_name_until(const char *text, size_t length, size_t at, char end)
{
	enum token token;
	while (at < length && text[at] != end)
		at = step(text, length, at, &token);
	return at;
}

static struct cxx_name parse(const char *text, size_t length)
{
	struct cxx_name name = { .start = 0, .end = length };
	bool component_starts = true;
	for (size_t i = 0, next; i < length; i = next) {
		enum token token;
		next = step(text, length, i, &token);
		if (token == TOKEN_BRACKET && text[i] == '(' && !component_starts) {
			if (!cxx_name_encloses(text, length, next)) {
				name.end = i;
				return name;
			}
			while (!starts(text, length, next, "::"))
				next++;
			continue;
		}
		component_starts = token == TOKEN_SCOPE || (token == TOKEN_OTHER && text[i] == ' ');
		if (component_starts && token == TOKEN_OTHER)
			name.start = next;
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
	for (size_t i = 0, next; i < length; i = next) {
		enum token token;
		next = step(name, length, i, &token);
		size_t bytes = next - i;
		if (token == TOKEN_SCOPE && i > 0 && starts(name, length, next, "<")) { /* Rust's "::<...>" */
			next = cxx_name_brackets(name, length, next);
			continue;
		}
		if (token == TOKEN_OPERATOR)
			bytes = cxx_name_operator(name, length, i);
		else if (token == TOKEN_BRACKET && !component_starts && bytes > 1 && name[i] != '(' && name[i] != '{')
			bytes = 0; /* template arguments, or an ABI tag */
		memcpy(to + size, name + i, bytes);
		size += bytes;
		component_starts = token == TOKEN_SCOPE;
	}
	return size;
}

size_t cxx_name_component(const char *name, size_t length, size_t from)
{
	for (size_t i = from, next; i < length; i = next) {
		enum token token;
		next = step(name, length, i, &token);
		if (token == TOKEN_SCOPE && !starts(name, length, next, "<"))
			return next;
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
