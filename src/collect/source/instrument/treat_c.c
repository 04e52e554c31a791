/* The restrictions of C, and those that C++ has, too. */
#include <string.h>

#include "collect/source/instrument/source_points.h"

/* Attributes of functions that must not contain an object. */
static const struct {
	const char *name, *why;
} forbidden[] = {
	{ "naked", "naked: it has no frame for an object" },
	{ "interrupt", "interrupt: it may run anywhere" },
	{ "no_instrument_function", "it has the attribute no_instrument_function" },
};

/* Attributes of functions that are compiled by other rules than the rest of the file: other functions cannot be
 * inlined into them. */
static const char *const rules[] = { "target",
				     "target_clones",
				     "optimize",
				     "no_sanitize",
				     "no_sanitize_address",
				     "no_sanitize_thread",
				     "no_sanitize_undefined",
				     "no_address_safety_analysis" };

/* Returns whether the function selects another one during linking, before any call is possible: the file contains
 * __attribute__((ifunc("name"))). */
static bool is_resolver(const struct source_points_function *function)
{
	const struct source_points_file *file = function->file;
	if (!file->has_resolvers)
		return false;
	const char *name = function->item->point.name, *end = file->text + file->size;
	size_t length = strlen(name);
	for (const char *at = file->text; (at = memmem(at, (size_t)(end - at), "ifunc", 5)); at += 5) {
		const char *quote = at + 5 + strspn(at + 5, "_ \t(");
		if (*quote == '"' && strncmp(quote + 1, name, length) == 0 && quote[length + 1] == '"')
			return true;
	}
	return false;
}

void treat_c(const struct source_points_function *function)
{
	struct source_point *point = &function->item->point;
	for (size_t i = 0; i < sizeof(forbidden) / sizeof(forbidden[0]); i++) {
		if (source_points_has_attribute(function, forbidden[i].name)) {
			point->skipped = forbidden[i].why;
			return;
		}
	}
	for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++)
		if (source_points_has_attribute(function, rules[i]))
			function->item->variant = "ASIDE_";
	if (is_resolver(function))
		point->skipped = "it resolves an ifunc: that runs before anything may be called";
	else if (source_points_has_word(function->file, function->open, point->end, "musttail"))
		point->skipped = "musttail: the call must be a jump, and no object can live until after it";
}
