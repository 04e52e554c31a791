#include "collect/source/instrument/selection.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "collect/source/instrument/selection_rules.h"

struct selection *selection_new(void)
{
	struct selection *selection = calloc(1, sizeof(*selection));
	if (selection)
		selection->level = selection->finest = PROBE_LEVEL_FUNCTION;
	return selection;
}

static void release_rule(struct selection_rule *rule, bool has_pattern)
{
	if (has_pattern)
		selection_pattern_release(&rule->pattern);
	free(rule->group);
	free(rule->why);
}

static void release_exception(struct selection_exception *exception)
{
	free(exception->file);
	free(exception->hook_mistake);
}

void selection_free(struct selection *selection)
{
	if (!selection)
		return;
	for (size_t i = 0; i < selection->rule_count; i++)
		release_rule(&selection->rules[i], !selection->rules[i].of_all);
	for (size_t i = 0; i < selection->exception_count; i++)
		release_exception(&selection->exceptions[i]);
	free(selection->exceptions);
	free(selection->rules);
	free(selection);
}

int selection_level(const struct selection *selection)
{
	return selection->finest;
}

bool selection_needs_linker_names(const struct selection *selection)
{
	return selection->has_mangled;
}

int selection_wrong(const struct selection_reading *reading, const char *format, ...)
{
	char what[256];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	if (!reading->name)
		return error_set(reading->error, ERROR_FORMAT, "%s", what);
	return error_set(reading->error, ERROR_FORMAT, "%s:%zu: %s", reading->name, reading->line, what);
}

int selection_take(const struct selection_reading *reading, struct selection_rule *rule, const char *pattern,
		   enum pattern_kind kind)
{
	struct selection *selection = reading->selection;
	struct error error = { 0 };
	rule->of_all = !pattern;
	bool leaves_out = rule->verb == SELECTION_EXCLUDE;
	if (leaves_out && reading->name && asprintf(&rule->why, "excluded by %s:%zu", reading->name, reading->line) < 0)
		rule->why = NULL;
	else if (leaves_out && !reading->name)
		rule->why = strdup("excluded on the command line");
	int code = leaves_out && !rule->why ? ERROR_MEMORY : 0;
	if (code == 0 && pattern)
		code = selection_pattern_init(&rule->pattern, pattern, kind, &error);
	bool has_pattern = code == 0 && pattern;
	if (code == 0)
		code = ARRAY_RESERVE(selection->rules, selection->rule_capacity, selection->rule_count + 1);
	if (code < 0) {
		release_rule(rule, has_pattern);
		return code == ERROR_FORMAT ? selection_wrong(reading, "%s", error.message)
					    : error_set(reading->error, code, "out of memory");
	}
	if (rule->verb == SELECTION_LEVEL && rule->level > selection->finest)
		selection->finest = rule->level;
	selection->has_mangled |= rule->of_mangled;
	selection->rules[selection->rule_count++] = *rule;
	return 0;
}

static int add_exception(struct selection *selection, const char *file, uint32_t line, const char *hook_mistake)
{
	int code = ARRAY_RESERVE(selection->exceptions, selection->exception_capacity, selection->exception_count + 1);
	if (code < 0)
		return ERROR_MEMORY;
	struct selection_exception exception = { .file = strdup(file),
						 .line = line,
						 .hook_mistake = hook_mistake ? strdup(hook_mistake) : NULL };
	if (!exception.file || (hook_mistake && !exception.hook_mistake)) {
		release_exception(&exception);
		return ERROR_MEMORY;
	}
	selection->exceptions[selection->exception_count++] = exception;
	return 0;
}

int selection_except(struct selection *selection, const char *file, uint32_t line)
{
	return add_exception(selection, file, line, NULL);
}

int selection_except_hook(struct selection *selection, const char *file, uint32_t line, const char *mistake)
{
	return add_exception(selection, file, line, mistake);
}

/* --- decisions --- */

/* Returns the exception of the probe point, or with `of_hook` of its hook; NULL if there is none. */
static const struct selection_exception *exception_of(const struct selection *selection,
						      const struct source_point *point, bool of_hook)
{
	for (size_t i = 0; i < selection->exception_count; i++) {
		const struct selection_exception *exception = &selection->exceptions[i];
		if (exception->line == point->line && strcmp(exception->file, point->file) == 0 &&
		    of_hook == (exception->hook_mistake != NULL))
			return exception;
	}
	return NULL;
}

static void except_hook(const struct selection *selection, struct source_point *point)
{
	const struct selection_exception *exception = point->hook ? exception_of(selection, point, true) : NULL;
	if (!exception)
		return;
	point->hook = NULL;
	point->mistake = exception->hook_mistake;
}

/* The probe point to decide about. */
struct subject {
	const struct source_point *point;
	char name[1024]; /* of the function that contains it: without a loop's ": loop at 12" */
};

static void find_function(struct subject *subject, const struct source_point *point)
{
	subject->point = point;
	const char *end = point->kind == PROBE_FUNCTION ? NULL : strstr(point->name, ": ");
	snprintf(subject->name, sizeof(subject->name), "%.*s",
		 end ? (int)(end - point->name) : (int)strlen(point->name), point->name);
}

static bool rule_fits(const struct selection_rule *rule, const struct subject *subject)
{
	const struct source_point *point = subject->point;
	if (rule->of_all)
		return true;
	if (rule->of_files)
		return point->file && selection_pattern_fits_file(&rule->pattern, point->file);
	if (rule->of_mangled && point->is_cxx)
		return selection_pattern_fits_linker_name(&rule->pattern, point);
	return selection_pattern_fits_function(&rule->pattern, subject->name, point);
}

/* Applies includes, then excludes. Rules for files and functions form one list or, with `apart`, two lists, both of
 * which must include the probe point. Returns NULL if it is included, otherwise the reason. */
static const char *by_lists(const struct selection *selection, const struct subject *subject,
			    enum selection_dialect dialect, bool apart)
{
	bool has_includes[2] = { false, false }, is_included[2] = { false, false };
	for (size_t i = 0; i < selection->rule_count; i++) {
		const struct selection_rule *rule = &selection->rules[i];
		if (rule->dialect != dialect || rule->verb > SELECTION_EXCLUDE)
			continue;
		size_t which = apart && rule->of_files;
		bool is_fit = rule_fits(rule, subject);
		if (rule->verb == SELECTION_EXCLUDE && is_fit)
			return rule->why;
		has_includes[which] |= rule->verb == SELECTION_INCLUDE;
		is_included[which] |= rule->verb == SELECTION_INCLUDE && is_fit;
	}
	bool is_in = (!has_includes[0] || is_included[0]) && (!has_includes[1] || is_included[1]);
	return is_in ? NULL : "not included by any rule";
}

/* The last matching rule decides, separately for files and for functions. */
static const char *by_last(const struct selection *selection, const struct subject *subject)
{
	const char *why[2] = { NULL, NULL };
	for (size_t i = 0; i < selection->rule_count; i++) {
		const struct selection_rule *rule = &selection->rules[i];
		if (rule->dialect == SELECTION_SCOREP && rule->verb <= SELECTION_EXCLUDE && rule_fits(rule, subject))
			why[rule->of_files] = rule->why;
	}
	return why[0] ? why[0] : why[1];
}

/* Whether a rule has the function's whole name: such a rule includes a function of any size. */
static bool is_named(const struct selection *selection, const struct subject *subject)
{
	for (size_t i = 0; i < selection->rule_count; i++) {
		const struct selection_rule *rule = &selection->rules[i];
		if (rule->verb == SELECTION_INCLUDE && !rule->of_files && !rule->of_all && rule->pattern.is_plain &&
		    rule_fits(rule, subject))
			return true;
	}
	return false;
}

static const char *by_size(const struct selection *selection, const struct subject *subject)
{
	const struct source_point *point = subject->point;
	if (point->kind != PROBE_FUNCTION || is_named(selection, subject))
		return NULL;
	if (point->is_always_inline && !selection->always_inline)
		return "always_inline (the line 'always-inline on' includes such)";
	if (point->is_inline && point->statements <= 1 && !selection->tiny)
		return "tiny: inline, of one statement at most (the line 'tiny on' includes such)";
	if (point->statements < selection->statements)
		return "fewer statements than the selection asks for";
	return NULL;
}

/* Sets the group, and returns the finest level for this probe point. */
static int apply(const struct selection *selection, const struct subject *subject, struct source_point *point)
{
	int level = selection->level;
	for (size_t i = 0; i < selection->rule_count; i++) {
		const struct selection_rule *rule = &selection->rules[i];
		if (rule->verb <= SELECTION_EXCLUDE || !rule_fits(rule, subject))
			continue;
		if (rule->verb == SELECTION_GROUP)
			point->group = rule->group;
		else
			level = rule->level;
	}
	return level;
}

void selection_decide(const struct selection *selection, struct source_point *point)
{
	if (point->skipped)
		return;
	struct subject subject;
	find_function(&subject, point);
	int level = apply(selection, &subject, point);
	except_hook(selection, point);
	if (exception_of(selection, point, false))
		point->skipped = "the compiler does not take it with an object in it";
	else if (point->is_header && !selection->headers)
		point->skipped = "in a header";
	else if (point->kind != PROBE_REGION && point->level > level)
		point->skipped = "finer than the selected level";
	if (!point->skipped)
		point->skipped = by_lists(selection, &subject, SELECTION_OWN, false);
	if (!point->skipped)
		point->skipped = by_lists(selection, &subject, SELECTION_TAU, true);
	if (!point->skipped)
		point->skipped = by_last(selection, &subject);
	if (!point->skipped)
		point->skipped = by_size(selection, &subject);
}
