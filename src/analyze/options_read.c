#include "analyze/options_read.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/quote.h"
#include "base/whole_number.h"
#include "base/words.h"

static const char *const by_names[] = {
	[VIEW_FUNCTION] = "function", [VIEW_CALLSITE] = "callsite", [VIEW_LINE] = "line",
	[VIEW_MODULE] = "module",     [VIEW_GROUP] = "group",
};
enum { BY_COUNT = sizeof(by_names) / sizeof(*by_names) };

/* Reads a plain decimal number that is not negative, and sets *end behind it. strtod alone would also accept "nan",
 * "inf", "0x1" and "-1". */
static bool number_read(const char *text, double *number, const char **end)
{
	size_t digits = strspn(text, "0123456789.");
	if (!digits || (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')))
		return false;
	char *stop;
	*number = strtod(text, &stop);
	*end = stop;
	return stop != text && isfinite(*number);
}

/* Reads "0.5" or "50%". */
static bool fraction_read(const char *text, double *fraction)
{
	const char *end;
	double number;
	if (!number_read(text, &number, &end))
		return false;
	if (*end == '%') {
		number /= 100;
		end++;
	}
	*fraction = number;
	return *end == '\0';
}

int options_read_threshold(const char *text, double *threshold, struct error *error)
{
	double fraction;
	if (!fraction_read(text, &fraction) || fraction > 1)
		return error_set(error, ERROR_USAGE, "threshold %s is not a fraction from 0 to 1 (as 0.01 or 1%%)",
				 QUOTE(text));
	*threshold = fraction;
	return 0;
}

int options_read_limit(const char *text, size_t *limit, struct error *error)
{
	uint64_t count;
	if (!whole_number_read(text, &count))
		return error_set(error, ERROR_USAGE, "limit %s is not a number of entries (0: all)", QUOTE(text));
	*limit = (size_t)count;
	return 0;
}

/* Returns the number of the first word that begins with `text`, or ERROR_USAGE. `what` names the kind of word. */
static int read_word(const char *text, word_at *words, const char *what, struct error *error)
{
	for (size_t i = 0; words(i); i++)
		if (*text && strncmp(words(i), text, strlen(text)) == 0)
			return (int)i;
	char list[128];
	return error_set(error, ERROR_USAGE, "unknown %s %s (%s)", what, QUOTE(text),
			 words_list(words, list, sizeof(list)));
}

int options_read_by(const char *text, enum view_by *by, struct error *error)
{
	int found = read_word(text, view_by_word, "kind of frame", error);
	if (found >= 0)
		*by = (enum view_by)found;
	return found < 0 ? found : 0;
}

int options_read_kernel(const char *text, enum view_kernel *kernel, struct error *error)
{
	int found = read_word(text, view_kernel_word, "way to show the kernel", error);
	if (found >= 0)
		*kernel = (enum view_kernel)found;
	return found < 0 ? found : 0;
}

const char *view_kernel_word(size_t kernel)
{
	static const char *const names[] = {
		[VIEW_KERNEL_SHOW] = "show", [VIEW_KERNEL_HIDE] = "hide", [VIEW_KERNEL_ONLY] = "only"
	};
	return kernel < sizeof(names) / sizeof(names[0]) ? names[kernel] : NULL;
}

const char *view_by_name(enum view_by by)
{
	return (size_t)by < BY_COUNT ? by_names[by] : "?";
}

const char *view_by_word(size_t by)
{
	return by < BY_COUNT ? by_names[by] : NULL;
}

int options_read_switch(const char *text, bool *on, struct error *error)
{
	static const char *const words[][2] = { { "off", "on" }, { "no", "yes" }, { "0", "1" } };
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		for (int value = 0; value < 2; value++) {
			if (strcmp(text, words[i][value]) == 0) {
				*on = value;
				return 0;
			}
		}
	}
	return error_set(error, ERROR_USAGE, "%s is not a switch (on or off)", QUOTE(text));
}

int options_read_seconds(const char *text, uint64_t *ns, struct error *error)
{
	static const struct {
		const char *suffix;
		double ns;
	} units[] = { { "", 1e9 }, { "s", 1e9 }, { "ms", 1e6 }, { "us", 1e3 }, { "ns", 1 } };
	const char *end;
	double number;
	if (number_read(text, &number, &end)) {
		for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
			if (strcmp(end, units[i].suffix) == 0 && number * units[i].ns < 9e18) {
				*ns = (uint64_t)llround(number * units[i].ns);
				return 0;
			}
		}
	}
	return error_set(error, ERROR_USAGE, "%s is not a time in seconds (as 1.5 or 200ms)", QUOTE(text));
}

int options_read_time(const char *from, const char *to, struct view_options *options, struct error *error)
{
	uint64_t from_ns = 0;
	uint64_t to_ns = 0;
	bool ends = to && *to;
	int status = from && *from ? options_read_seconds(from, &from_ns, error) : 0;
	if (status == 0 && ends)
		status = options_read_seconds(to, &to_ns, error);
	if (status)
		return status;
	if (ends && to_ns <= from_ns)
		return error_set(error, ERROR_USAGE,
				 "the time range from %g s to %g s is empty (its end comes after its start)",
				 (double)from_ns / 1e9, (double)to_ns / 1e9);
	options->from_ns = from_ns;
	options->to_ns = to_ns;
	return 0;
}
