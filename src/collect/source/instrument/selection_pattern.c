/* Patterns of selections. Each becomes one extended regular expression. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cxx_name.h"
#include "collect/source/instrument/selection_expression.h"
#include "collect/source/instrument/selection_rules.h"

enum { SUBJECT_BYTES = 4096 };

/* Removes blanks, so that "f(int, char *)" becomes "f(int,char*)"; a blank between two words stays ("unsigned int").
 * "f(void)" becomes "f()". */
static void squeeze(char *out, size_t bytes, const char *text)
{
	size_t used = 0;
	for (; *text && used + 1 < bytes; text++) {
		bool is_blank = *text == ' ' || *text == '\t';
		bool parts_words = used && (isalnum((unsigned char)out[used - 1]) || out[used - 1] == '_') &&
				   (isalnum((unsigned char)text[1]) || text[1] == '_');
		if (!is_blank)
			out[used++] = *text;
		else if (parts_words)
			out[used++] = ' ';
	}
	out[used] = 0;
	if (used > 6 && strcmp(out + used - 6, "(void)") == 0)
		memcpy(out + used - 6, "()", sizeof("()"));
}

static void append_literal(struct buffer *expression, char letter)
{
	if (strchr("\\^$.|?*+()[]{}", letter))
		buffer_append_byte(expression, '\\');
	buffer_append_byte(expression, (uint8_t)letter);
}

/* Appends "[a-z]" unchanged, or "[!a]" as "[^a]". Returns the length of the set in the pattern, or 0 if there is no
 * ']'. */
static size_t append_set(struct buffer *expression, const char *text)
{
	size_t at = 1;
	if (text[at] == '!' || text[at] == '^')
		at++;
	if (text[at] == ']')
		at++;
	size_t end = at + strcspn(text + at, "]");
	if (!text[end])
		return 0;
	buffer_append_byte(expression, '[');
	if (text[1] == '!')
		buffer_append_byte(expression, '^');
	size_t from = text[1] == '!' ? 2 : 1;
	buffer_append(expression, text + from, end + 1 - from);
	return end + 1;
}

/* Appends the expression "<...>", which extends to the text's last '>', because an expression may contain types. The
 * '<' of "C<int>::f" does not begin an expression, because it follows a name. Returns the length of the expression
 * in the pattern, or 0 if there is none. */
static size_t append_expression(struct buffer *expression, const char *text)
{
	const char *end = strrchr(text, '>');
	if (!end || end == text + 1)
		return 0;
	buffer_append_string(expression, ".*(");
	buffer_append(expression, text + 1, (size_t)(end - text - 1));
	buffer_append_string(expression, ").*");
	return (size_t)(end - text) + 1;
}

static void append_pattern(struct buffer *expression, struct selection_pattern *pattern, const char *text,
			   enum pattern_kind kind)
{
	for (size_t at = 0; text[at];) {
		size_t length = 0;
		bool begins = at == 0 || text[at - 1] == '/' || text[at - 1] == ':';
		if (kind == PATTERN_OWN && text[at] == '<' && begins)
			length = append_expression(expression, text + at);
		else if (kind != PATTERN_TAU && text[at] == '[')
			length = append_set(expression, text + at);
		else if ((kind == PATTERN_TAU) ? text[at] == '#' : text[at] == '*') {
			buffer_append_string(expression, ".*");
			length = 1;
		} else if (kind != PATTERN_TAU && text[at] == '?') {
			buffer_append_byte(expression, '.');
			length = 1;
		}
		pattern->is_plain = pattern->is_plain && length == 0;
		if (length == 0) {
			at += kind != PATTERN_TAU && text[at] == '\\' && text[at + 1];
			append_literal(expression, text[at]);
			length = 1;
		}
		at += length;
	}
}

static int compile(struct selection_pattern *pattern, const char *expression, const char *text, struct error *error)
{
	char what[128];
	const char *excess = selection_expression_excess(expression);
	if (excess)
		return error_set(error, ERROR_FORMAT, "'%s': %s", text, excess);
	int number = regcomp(&pattern->expression, expression, REG_EXTENDED | REG_NOSUB);
	if (number == 0)
		return 0;
	regerror(number, &pattern->expression, what, sizeof(what));
	return error_set(error, ERROR_FORMAT, "'%s': %s", text, what);
}

/* A '*' in a signature may be a pointer's or a wildcard: ".*" matches both. */
int selection_pattern_init(struct selection_pattern *pattern, const char *text, enum pattern_kind kind,
			   struct error *error)
{
	*pattern = (struct selection_pattern){ .is_plain = true };
	char squeezed[SUBJECT_BYTES];
	bool has_expression = kind == PATTERN_OWN && strchr(text, '<') && (text[0] == '<' || strstr(text, "::<"));
	pattern->is_of_signature = strchr(text, '(') && !has_expression;
	if (pattern->is_of_signature) {
		squeeze(squeezed, sizeof(squeezed), text);
		text = squeezed;
	}
	struct buffer expression;
	buffer_init(&expression);
	buffer_append_string(&expression, "^(");
	append_pattern(&expression, pattern, text, kind);
	buffer_append(&expression, ")$", sizeof(")$"));
	int code = buffer_error(&expression);
	if (code == 0)
		code = compile(pattern, (char *)expression.bytes, text, error);
	else
		error_set(error, code, "out of memory");
	buffer_release(&expression);
	return code;
}

void selection_pattern_release(struct selection_pattern *pattern)
{
	regfree(&pattern->expression);
}

static bool fits(const struct selection_pattern *pattern, const char *subject)
{
	return regexec(&pattern->expression, subject, 0, NULL, 0) == 0;
}

/* Matches the whole path, and each end of it behind a '/': "src/a.c" matches "../src/a.c" and "/home/me/src/a.c". */
bool selection_pattern_fits_file(const struct selection_pattern *pattern, const char *path)
{
	for (const char *end = path; end; end = strchr(end, '/'), end = end ? end + 1 : NULL)
		if (fits(pattern, end))
			return true;
	return false;
}

/* Returns "f" of "ns::C<a::b>::f", or the whole name if it has no scopes. */
static const char *unqualified(const char *name)
{
	size_t length = strlen(name), start = 0;
	for (size_t next = 0; next < length; next = cxx_name_component(name, length, next))
		start = next;
	return name + start;
}

bool selection_pattern_fits_function(const struct selection_pattern *pattern, const char *name, const char *signature)
{
	const char *last = unqualified(name);
	if (!pattern->is_of_signature)
		return fits(pattern, name) || (last != name && fits(pattern, last));
	const char *parameters = signature ? strchr(signature, '(') : NULL;
	if (signature && strncmp(signature, "operator()", 10) == 0)
		parameters = signature + 10;
	if (!parameters)
		return false;
	char whole[SUBJECT_BYTES], squeezed[SUBJECT_BYTES];
	snprintf(whole, sizeof(whole), "%s%s", name, parameters);
	squeeze(squeezed, sizeof(squeezed), whole);
	if (fits(pattern, squeezed))
		return true;
	snprintf(whole, sizeof(whole), "%s%s", last, parameters);
	squeeze(squeezed, sizeof(squeezed), whole);
	return last != name && fits(pattern, squeezed);
}
