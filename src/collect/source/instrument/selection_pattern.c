/* Patterns of selections. Each becomes one extended regular expression. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/cxx_name.h"
#include "collect/source/instrument/selection_expression.h"
#include "collect/source/instrument/selection_rules.h"

enum { SUBJECT_BYTES = 4096 };

static bool is_of_word(char letter, bool is_of_tau)
{
	return isalnum((unsigned char)letter) || letter == '_' || (is_of_tau && letter == '#');
}

/* Removes blanks, so that "f(int, char *)" becomes "f(int,char*)"; a blank between two words stays ("unsigned int").
 * "f(void)" becomes "f()". For TAU, whose '#' may stand for a part of a type, '#' is a part of a word, and a '*' or
 * '&' gets a blank before it: "int*f(char*)" becomes "int *f(char *)". */
static void squeeze(char *out, size_t bytes, const char *text, bool is_of_tau)
{
	size_t used = 0;
	for (; *text && used + 2 < bytes; text++) {
		bool is_blank = *text == ' ' || *text == '\t';
		bool is_behind_word = used && is_of_word(out[used - 1], is_of_tau);
		if (is_of_tau && (*text == '*' || *text == '&') && (is_behind_word || (used && out[used - 1] == '>')))
			out[used++] = ' ';
		if (!is_blank)
			out[used++] = *text;
		else if (is_behind_word && is_of_word(text[1], is_of_tau))
			out[used++] = ' ';
	}
	out[used] = 0;
	if (used > 6 && strcmp(out + used - 6, "(void)") == 0)
		memcpy(out + used - 6, "()", sizeof("()"));
}

/* Returns the length of the type before a name: of "int *" in "int *ns::sort(int *, int)". */
static size_t type_length(const char *text)
{
	struct cxx_name name = cxx_name_parse(text, strlen(text));
	size_t start = name.start;
	for (size_t at = name.start; at < name.end && strncmp(text + at, "operator", 8) != 0;) {
		if (text[at] == '<') {
			at = cxx_name_brackets(text, name.end, at);
			continue;
		}
		if (text[at] == '*' || text[at] == '&')
			start = at + 1;
		at++;
	}
	return start;
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

/* Finds "<EXPRESSION>", which begins the pattern or follows a '/' or ':', and extends to the text's last '>', because
 * an expression may contain types. The '<' of "C<int>::f" does not begin an expression, because it follows a name.
 * Returns its offset and sets *end to the offset of the '>', or SIZE_MAX if there is none. */
static size_t find_expression(const char *text, size_t *end)
{
	const char *last = strrchr(text, '>');
	*end = last ? (size_t)(last - text) : 0;
	for (size_t at = 0; at + 1 < *end; at++)
		if (text[at] == '<' && (at == 0 || text[at - 1] == '/' || text[at - 1] == ':'))
			return at;
	return SIZE_MAX;
}

/* Appends `length` bytes of a pattern without an expression. */
static void append_pattern(struct buffer *expression, struct selection_pattern *pattern, const char *text,
			   size_t length, enum pattern_kind kind)
{
	for (size_t at = 0; at < length;) {
		size_t taken = 0;
		if (kind != PATTERN_TAU && text[at] == '[')
			taken = append_set(expression, text + at);
		else if ((kind == PATTERN_TAU) ? text[at] == '#' : text[at] == '*') {
			buffer_append_string(expression, ".*");
			taken = 1;
		} else if (kind != PATTERN_TAU && text[at] == '?') {
			buffer_append_byte(expression, '.');
			taken = 1;
		}
		pattern->is_plain = pattern->is_plain && taken == 0;
		if (taken == 0) {
			at += kind != PATTERN_TAU && text[at] == '\\' && text[at + 1];
			append_literal(expression, text[at]);
			taken = 1;
		}
		at += taken;
	}
}

/* `text` is the user's pattern, for the error. */
static int compile(regex_t *compiled, struct buffer *expression, const char *text, struct error *error)
{
	char what[128];
	buffer_append_byte(expression, 0);
	if (buffer_error(expression))
		return error_set(error, buffer_error(expression), "out of memory");
	const char *excess = selection_expression_excess((char *)expression->bytes);
	if (excess)
		return error_set(error, ERROR_FORMAT, "'%s': %s", text, excess);
	int number = regcomp(compiled, (char *)expression->bytes, REG_EXTENDED | REG_NOSUB);
	if (number == 0)
		return 0;
	regerror(number, compiled, what, sizeof(what));
	return error_set(error, ERROR_FORMAT, "'%s': %s", text, what);
}

/* Compiles a part of the user's pattern `text` that matches a whole subject. */
static int compile_whole(struct selection_pattern *pattern, regex_t *compiled, const char *part, size_t length,
			 const char *text, enum pattern_kind kind, struct error *error)
{
	struct buffer expression;
	buffer_init(&expression);
	buffer_append_string(&expression, "^(");
	append_pattern(&expression, pattern, part, length, kind);
	buffer_append_string(&expression, ")$");
	int code = compile(compiled, &expression, text, error);
	buffer_release(&expression);
	return code;
}

static int compile_found(regex_t *compiled, const char *part, size_t length, const char *text, struct error *error)
{
	struct buffer expression;
	buffer_init(&expression);
	buffer_append(&expression, part, length);
	int code = compile(compiled, &expression, text, error);
	buffer_release(&expression);
	return code;
}

/* "BEFORE<EXPRESSION>BEHIND": `start` is the offset of the '<', and `end` the offset of the '>'. */
static int compile_split(struct selection_pattern *pattern, const char *text, size_t start, size_t end,
			 struct error *error)
{
	pattern->is_plain = false;
	int code = compile_whole(pattern, &pattern->before, text, start, text, PATTERN_OWN, error);
	if (code < 0)
		return code;
	const char *behind = text + end + 1;
	code = compile_whole(pattern, &pattern->behind, behind, strlen(behind), text, PATTERN_OWN, error);
	if (code == 0) {
		code = compile_found(&pattern->expression, text + start + 1, end - start - 1, text, error);
		if (code < 0)
			regfree(&pattern->behind);
	}
	if (code < 0)
		regfree(&pattern->before);
	pattern->is_split = code == 0;
	return code;
}

/* A '*' in a signature may be a pointer's or a wildcard: ".*" matches both. */
int selection_pattern_init(struct selection_pattern *pattern, const char *text, enum pattern_kind kind,
			   struct error *error)
{
	*pattern = (struct selection_pattern){ .is_plain = true, .is_of_tau = kind == PATTERN_TAU };
	char squeezed[SUBJECT_BYTES];
	size_t end, start = kind == PATTERN_OWN ? find_expression(text, &end) : SIZE_MAX;
	if (start != SIZE_MAX)
		return compile_split(pattern, text, start, end, error);
	pattern->is_of_signature = strchr(text, '(') != NULL;
	pattern->has_type = pattern->is_of_tau && type_length(text) > 0;
	if (pattern->is_of_signature || pattern->is_of_tau) {
		squeeze(squeezed, sizeof(squeezed), text, pattern->is_of_tau);
		text = squeezed;
	}
	return compile_whole(pattern, &pattern->expression, text, strlen(text), text, kind, error);
}

void selection_pattern_release(struct selection_pattern *pattern)
{
	regfree(&pattern->expression);
	if (!pattern->is_split)
		return;
	regfree(&pattern->before);
	regfree(&pattern->behind);
}

/* --- matching --- */

/* Matches a part of a subject; '^' and '$' are its ends. */
static bool fits_part(const regex_t *expression, const char *subject, size_t start, size_t end)
{
	regmatch_t part = { .rm_so = 0, .rm_eo = (regoff_t)(end - start) };
	return regexec(expression, subject + start, 0, &part, REG_STARTEND) == 0;
}

/* Tries each place where the expression may begin and end. */
static bool fits_split(const struct selection_pattern *pattern, const char *subject)
{
	size_t length = strlen(subject);
	for (size_t start = 0; start <= length; start++) {
		bool may_begin = start == 0 || subject[start - 1] == '/' || subject[start - 1] == ':';
		if (!may_begin || !fits_part(&pattern->before, subject, 0, start))
			continue;
		for (size_t end = length + 1; end-- > start;)
			if (fits_part(&pattern->behind, subject, end, length) &&
			    fits_part(&pattern->expression, subject, start, end))
				return true;
	}
	return false;
}

static bool fits(const struct selection_pattern *pattern, const char *subject)
{
	if (pattern->is_split)
		return fits_split(pattern, subject);
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

/* Returns "(int, char)" of "f(int, char)", or NULL if it is not known. */
static const char *parameters_of(const struct source_point *function)
{
	const char *signature = function->signature;
	if (signature && strncmp(signature, "operator()", 10) == 0)
		return signature + 10;
	return signature ? strchr(signature, '(') : NULL;
}

/* Matches "TYPE NAME PARAMETERS", all of which may be "". */
static bool fits_text(const struct selection_pattern *pattern, const char *type, const char *name,
		      const char *parameters)
{
	char whole[SUBJECT_BYTES], squeezed[SUBJECT_BYTES];
	snprintf(whole, sizeof(whole), "%s%s%s%s", type, *type ? " " : "", name, parameters);
	squeeze(squeezed, sizeof(squeezed), whole, pattern->is_of_tau);
	return fits(pattern, squeezed);
}

/* TAU's names have their type and parameters: "int *ns::sort(int *, int)". Without a wildcard a pattern may omit
 * them. */
static bool fits_tau(const struct selection_pattern *pattern, const char *name, const struct source_point *function)
{
	const char *parameters = parameters_of(function);
	for (size_t i = 0; i < 2; i++) {
		const char *type = function->results[i];
		if (type && parameters && fits_text(pattern, type, name, parameters))
			return true;
		if (type && pattern->has_type && !pattern->is_of_signature && fits_text(pattern, type, name, ""))
			return true;
	}
	if (pattern->has_type)
		return false;
	return fits_text(pattern, "", name, pattern->is_of_signature && parameters ? parameters : "");
}

static bool fits_name(const struct selection_pattern *pattern, const char *name, const struct source_point *function)
{
	if (pattern->is_of_tau)
		return fits_tau(pattern, name, function);
	if (!pattern->is_of_signature)
		return fits(pattern, name);
	const char *parameters = parameters_of(function);
	return parameters && fits_text(pattern, "", name, parameters);
}

bool selection_pattern_fits_function(const struct selection_pattern *pattern, const char *name,
				     const struct source_point *function)
{
	const char *last = unqualified(name);
	return fits_name(pattern, name, function) || (last != name && fits_name(pattern, last, function));
}

bool selection_pattern_fits_linker_name(const struct selection_pattern *pattern, const struct source_point *function)
{
	for (const char *const *name = function->linker_names; name && *name; name++)
		if (fits(pattern, *name))
			return true;
	return false;
}
