#include "collect/count/signature.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/cxx_name.h"

enum { PARAMETERS_MAX = 16 };

struct part {
	const char *text;
	size_t length;
};

/* A template parameter: "T = int". gcc also writes "int N = 4" and, for a type that depends on others,
 * "typename T::kind = int". */
struct parameter {
	struct part name, value;
	bool is_pack; /* gcc's {int, long}, clang's <int, long>: the value is the text in the brackets */
};

struct signature {
	struct part text;   /* without [with ...] */
	struct part before; /* the return type, without specifiers */
	struct part name;   /* qualified */
	struct part behind; /* parameters, const */
	struct parameter parameters[PARAMETERS_MAX];
	size_t count;
};

/* --- last components --- */

static size_t length_without_arguments(const char *text)
{
	size_t length = strlen(text);
	if (length == 0 || text[length - 1] != ']')
		return length;
	for (size_t i = length; i > 1; i--)
		if (text[i - 1] == '[' && text[i - 2] == ' ')
			return i - 2;
	return length;
}

/* Whether a name names a lambda in gcc's form, "main()::<lambda(int)>". */
static bool is_lambda(const char *text, size_t length)
{
	static const char begin[] = "<lambda(";
	const char *last = NULL, *next = text;
	while ((next = strstr(next, begin)) != NULL)
		last = next++;
	return last && length > 0 && text[length - 1] == '>' && !strstr(last, ">::");
}

/* Returns the last component of a name. `plain` has room for strlen(text) bytes; the result may point into it. */
static struct part own_name(const char *text, char *plain)
{
	static const char called[] = "operator()"; /* last component of a lambda's symbol */
	size_t length = length_without_arguments(text), last;
	if (is_lambda(text, length))
		return (struct part){ called, sizeof(called) - 1 };
	size_t bytes = cxx_name_last(text, length, plain, &last);
	return (struct part){ plain + last, bytes };
}

bool signature_is_of(const char *symbol, const char *signature)
{
	char *room = malloc(strlen(symbol) + strlen(signature) + 2);
	if (!room)
		return false;
	struct part a = own_name(symbol, room), b = own_name(signature, room + strlen(symbol) + 1);
	bool is_equal = a.length == b.length && memcmp(a.text, b.text, a.length) == 0;
	free(room);
	return is_equal;
}

/* --- arguments --- */

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static bool is_identifier(struct part part)
{
	for (size_t i = 0; i < part.length; i++)
		if (!is_word(part.text[i]))
			return false;
	return part.length > 0;
}

static struct parameter make_parameter(struct part name, struct part value)
{
	const char *blank = memrchr(name.text, ' ', name.length);
	if (blank) {
		struct part last = { blank + 1, (size_t)(name.text + name.length - blank - 1) };
		name = is_identifier(last) ? last : name;
	}
	bool is_pack = value.length >= 2 && strchr("{<", value.text[0]) && strchr("}>", value.text[value.length - 1]);
	if (is_pack)
		value = (struct part){ value.text + 1, value.length - 2 };
	return (struct parameter){ name, value, is_pack };
}

static void read_arguments(struct signature *signature, const char *text, size_t length)
{
	static const char with[] = "with ";
	bool is_gcc = length >= sizeof(with) - 1 && memcmp(text, with, sizeof(with) - 1) == 0;
	size_t at = is_gcc ? sizeof(with) - 1 : 0;
	while (at < length && signature->count < PARAMETERS_MAX) {
		const char *equal = memmem(text + at, length - at, " = ", 3);
		if (!equal)
			return;
		size_t value = (size_t)(equal - text) + 3;
		size_t bytes = cxx_name_until(text + value, length - value, 0, is_gcc ? ';' : ',');
		signature->parameters[signature->count++] = make_parameter(
			(struct part){ text + at, (size_t)(equal - text) - at }, (struct part){ text + value, bytes });
		at = value + bytes;
		while (at < length && strchr(";, ", text[at]))
			at++;
	}
}

/* Returns the next position at or behind `from` at which `part` has the whole word, or part.length if there is none. */
static size_t find_word(struct part part, struct part word, size_t from)
{
	for (size_t i = from; i + word.length <= part.length; i++)
		if (memcmp(part.text + i, word.text, word.length) == 0 && (i == 0 || !is_word(part.text[i - 1])) &&
		    (i + word.length == part.length || !is_word(part.text[i + word.length])))
			return i;
	return part.length;
}

/* Whether a parameter belongs to the function, not to a class around it. */
static bool is_own(const struct signature *signature, const struct parameter *parameter)
{
	return is_identifier(parameter->name) &&
	       find_word(signature->name, parameter->name, 0) == signature->name.length &&
	       !(memchr(signature->name.text, '<', signature->name.length) &&
		 memmem(signature->name.text, signature->name.length, parameter->value.text, parameter->value.length));
}

/* --- the whole --- */

static struct part without_specifiers(struct part part)
{
	static const char *const specifiers[] = { "static ", "virtual ", "constexpr ", "consteval ", "inline " };
	for (size_t i = 0; i < sizeof(specifiers) / sizeof(specifiers[0]); i++) {
		size_t bytes = strlen(specifiers[i]);
		if (part.length < bytes || memcmp(part.text, specifiers[i], bytes) != 0)
			continue;
		part.text += bytes;
		part.length -= bytes;
		i = (size_t)-1;
	}
	return part;
}

static void read_signature(struct signature *signature, const char *text)
{
	size_t whole = strlen(text), length = length_without_arguments(text);
	struct cxx_name name = cxx_name_parse(text, length);
	*signature = (struct signature){
		.text = { text, length },
		.before = without_specifiers((struct part){ text, name.start }),
		.name = { text + name.start, name.end - name.start },
		.behind = { text + name.end, length - name.end },
	};
	/* clang writes the type's * and & next to the name: "char *name()". */
	while (signature->name.length > 1 && strchr("*&", signature->name.text[0])) {
		signature->name.text++;
		signature->name.length--;
		signature->before.length++;
	}
	if (length + 3 <= whole)
		read_arguments(signature, text + length + 2, whole - length - 3);
}

/* Returns the length of the " ..." behind a pack, or 0 if there is none. */
static size_t dots_length(struct part part)
{
	size_t blanks = 0;
	while (blanks < part.length && part.text[blanks] == ' ')
		blanks++;
	return part.length - blanks >= 3 && memcmp(part.text + blanks, "...", 3) == 0 ? blanks + 3 : 0;
}

/* Appends a parameter's value. For an empty pack, removes the comma before it. */
static void append_value(struct buffer *to, const struct parameter *parameter)
{
	static const char comma[] = ", ";
	if (parameter->value.length == 0 && to->size >= 2 && memcmp(to->bytes + to->size - 2, comma, 2) == 0)
		to->size -= 2;
	buffer_append(to, parameter->value.text, parameter->value.length);
}

static void append_part(struct buffer *to, const struct signature *signature, struct part part)
{
	for (size_t at = 0; at < part.length;) {
		size_t next = part.length;
		const struct parameter *first = NULL;
		for (size_t i = 0; i < signature->count; i++) {
			size_t found = find_word(part, signature->parameters[i].name, at);
			if (found < next) {
				next = found;
				first = &signature->parameters[i];
			}
		}
		buffer_append(to, part.text + at, next - at);
		if (!first)
			return;
		append_value(to, first);
		at = next + first->name.length;
		if (first->is_pack)
			at += dots_length((struct part){ part.text + at, part.length - at });
	}
}

static bool is_main(const struct signature *signature)
{
	return signature->name.length == 4 && memcmp(signature->name.text, "main", 4) == 0;
}

void signature_append(struct buffer *to, const char *text)
{
	struct signature signature;
	read_signature(&signature, text);
	size_t own = 0;
	for (size_t i = 0; i < signature.count; i++)
		own += is_own(&signature, &signature.parameters[i]);
	if (own > 0)
		append_part(to, &signature, signature.before);
	append_part(to, &signature, signature.name);
	for (size_t i = 0, given = 0; i < signature.count; i++) {
		if (!is_own(&signature, &signature.parameters[i]))
			continue;
		buffer_append_string(to, given++ == 0 ? "<" : ", ");
		append_value(to, &signature.parameters[i]);
	}
	if (own > 0)
		buffer_append_byte(to, '>');
	if (!is_main(&signature))
		append_part(to, &signature, signature.behind);
}
