/* Finds functions by name and reads what-if terms: the names that need a view. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/lookup.h"
#include "base/buffer.h"
#include "base/near_names.h"
#include "base/quote.h"

enum { FUNCTIONS_SHOWN = 5 };
static const double FACTOR_MAX = 1e6;

static bool function_exists(const struct profile *profile, const char *name)
{
	for (size_t i = 0; i < profile->function_count; i++) {
		if (strcmp(profile_string(profile, profile->functions[i].name), name) == 0)
			return true;
	}
	return false;
}

/* Appends the functions of the labels, separated by ", ". Long names are shortened. */
static void append_labels(struct buffer *buffer, const struct view *view, const uint32_t *labels, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const char *text = view->labels[labels[i]].owner;
		size_t length = strlen(text);
		buffer_printf(buffer, "%s%.*s%s", i ? ", " : "", length > 80 ? 77 : (int)length, text,
			      length > 80 ? "..." : "");
	}
	buffer_append_byte(buffer, 0);
}

static const char *kind_of_label(const struct view *view)
{
	return view->options.by == VIEW_MODULE ? "module" : view->options.by == VIEW_GROUP ? "group" : "function";
}

static int label_missing(const struct view *view, const char *name, struct error *error)
{
	const char *what = kind_of_label(view);
	if (view->total == 0)
		return error_set(error, ERROR_NOT_FOUND, "no %s %s: nothing was recorded in this selection", what,
				 QUOTE(name));
	if (view->options.by == VIEW_MODULE && function_exists(view->profile, name))
		return error_set(error, ERROR_USAGE, "%s is a function, not a module (give a module, as '%s')",
				 QUOTE(name), view->labels[view->label[1]].text);
	if (function_exists(view->profile, name))
		return error_set(error, ERROR_NOT_FOUND, "function %s has no hits in this selection", QUOTE(name));
	struct near_names near;
	near_names_init(&near, name);
	for (size_t i = 0; i < view->label_count; i++) {
		const struct view_label *label = &view->labels[i];
		near_names_offer_function(&near, label->text, label->name_length, label->owner);
	}
	return error_set(error, ERROR_NOT_FOUND, "no %s %s%s", what, QUOTE(name), near_names_text(&near));
}

/* The labels belong to several functions. */
static int label_ambiguous(const struct view *view, const char *name, const struct label_set *labels,
			   struct error *error)
{
	uint32_t firsts[FUNCTIONS_SHOWN];
	int64_t count = view_functions(view, labels, firsts, FUNCTIONS_SHOWN);
	if (count < 0)
		return error_set(error, ERROR_MEMORY, "out of memory");
	struct buffer names;
	buffer_init(&names);
	append_labels(&names, view, firsts, count < FUNCTIONS_SHOWN ? (size_t)count : FUNCTIONS_SHOWN);
	int status = error_set(error, ERROR_AMBIGUOUS, "%s fits %lld %ss: %s%s (give one of them)", QUOTE(name),
			       (long long)count, kind_of_label(view),
			       buffer_error(&names) ? "..." : (const char *)names.bytes,
			       count > FUNCTIONS_SHOWN ? ", ..." : "");
	buffer_release(&names);
	return status;
}

static int label_find(const struct view *view, const char *name, struct label_set *labels, struct error *error)
{
	if (!*name)
		return error_set(error, ERROR_USAGE, "missing function name");
	int64_t count = view_find(view, name, labels);
	if (count == 1 || (count > 1 && view_are_mains(view, labels)))
		return 0;
	if (count < 0)
		return error_set(error, ERROR_MEMORY, "out of memory");
	if (count == 0)
		return label_missing(view, name, error);
	int status = label_ambiguous(view, name, labels, error);
	label_set_release(labels);
	return status;
}

/* Removes the backslashes that escape ';', '=' and '\\' in a name. */
static void unescape(char *name)
{
	char *to = name;
	for (const char *from = name; *from; from++) {
		if (from[0] == '\\' && from[1] && strchr(";=\\", from[1]))
			from++;
		*to++ = *from;
	}
	*to = '\0';
}

static int label_find_bytes(const struct view *view, const char *text, size_t length, bool is_step,
			    struct label_set *labels, struct error *error)
{
	size_t name_length;
	text = quote_strip(text, length, &name_length);
	char *name = strndup(text, name_length);
	if (!name)
		return error_set(error, ERROR_MEMORY, "out of memory");
	if (is_step)
		unescape(name);
	int status = label_find(view, name, labels, error);
	free(name);
	return status;
}

int lookup_functions(const struct view *view, const char *name, struct label_set *labels, struct error *error)
{
	*labels = (struct label_set){ 0 };
	return label_find_bytes(view, name, strlen(name), false, labels, error);
}

static int bad_term(const char *term, const char *why, struct error *error)
{
	return error_set(error, ERROR_USAGE, "what-if %s: %s (as in 'main;qsort=0.5')", QUOTE(term), why);
}

static int bad_factor(const char *term, struct error *error)
{
	return bad_term(term, "after '=' comes a factor, from 0 to 1000000", error);
}

/* Reads the factor after the last '=': function names may contain '=' (operator==). */
static int factor_read(const char *term, const char *equals, double *factor, struct error *error)
{
	char *end;
	const char *text = equals + 1;
	if (text[strspn(text, " \t")] == '\0' || strspn(text, "0123456789.eE+-% \t") != strlen(text) || *text == '+')
		return bad_factor(term, error);
	*factor = strtod(text, &end);
	if (end == text || *factor < 0)
		return bad_factor(term, error);
	if (*end == '%') {
		*factor /= 100;
		end++;
	}
	if (end[strspn(end, " \t")] || !(*factor <= FACTOR_MAX))
		return bad_factor(term, error);
	return 0;
}

/* Returns the last unescaped '=', or NULL. */
static const char *find_equals(const char *term)
{
	const char *found = NULL;
	for (const char *at = term; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (*at == '=')
			found = at;
	}
	return found;
}

/* Returns the end of the step that starts at `start`: the next unescaped ';', or `limit`. */
static const char *step_end(const char *start, const char *limit)
{
	while (start < limit && *start != ';')
		start += *start == '\\' && start + 1 < limit ? 2 : 1;
	return start;
}

/* Fills in the steps of the path from `start` to `limit`. The caller releases them, also on failure. */
static int steps_read(struct what_if *path, const struct view *view, const char *start, const char *limit,
		      struct error *error)
{
	size_t length = 1;
	int status = 0;
	for (const char *end = step_end(start, limit); end < limit; end = step_end(end + 1, limit))
		length++;
	struct label_set *steps = calloc(length, sizeof(*steps));
	if (!steps)
		return error_set(error, ERROR_MEMORY, "out of memory");
	path->steps = steps;
	path->length = length;
	for (size_t i = 0; i < length && status == 0; i++) {
		const char *end = step_end(start, limit);
		status = label_find_bytes(view, start, (size_t)(end - start), true, &steps[i], error);
		start = end + 1;
	}
	return status;
}

/* Fills in `path`. The caller releases its steps, also on failure. */
static int term_read(struct what_if *path, const struct view *view, const char *term, struct error *error)
{
	const char *equals = find_equals(term);
	if (!equals)
		return bad_term(term, "a factor is missing", error);
	int status = factor_read(term, equals, &path->factor, error);
	return status ? status : steps_read(path, view, term, equals, error);
}

int lookup_what_if_init(struct lookup_what_if *what_if, const struct view *view, const char *const *terms, size_t count,
			struct error *error)
{
	*what_if = (struct lookup_what_if){ 0 };
	if (!count)
		return error_set(error, ERROR_USAGE, "missing term (as 'main;qsort=0.5')");
	what_if->paths = calloc(count, sizeof(*what_if->paths));
	if (!what_if->paths)
		return error_set(error, ERROR_MEMORY, "out of memory");
	what_if->count = count;
	for (size_t i = 0; i < count; i++) {
		int status = term_read(&what_if->paths[i], view, terms[i], error);
		if (status) {
			lookup_what_if_release(what_if);
			return status;
		}
	}
	return 0;
}

int lookup_path_init(struct lookup_what_if *path, const struct view *view, const char *text, struct error *error)
{
	*path = (struct lookup_what_if){ .paths = calloc(1, sizeof(*path->paths)) };
	if (!path->paths)
		return error_set(error, ERROR_MEMORY, "out of memory");
	path->count = 1;
	path->paths[0].factor = 1;
	int status = steps_read(&path->paths[0], view, text, text + strlen(text), error);
	if (status)
		lookup_what_if_release(path);
	return status;
}

void lookup_what_if_release(struct lookup_what_if *what_if)
{
	for (size_t i = 0; i < what_if->count; i++) {
		struct label_set *steps = (struct label_set *)what_if->paths[i].steps;
		for (size_t k = 0; k < what_if->paths[i].length; k++)
			label_set_release(&steps[k]);
		free(steps);
	}
	free(what_if->paths);
	*what_if = (struct lookup_what_if){ 0 };
}
