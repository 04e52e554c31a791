#include "explore/selection.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buffer.h"
#include "explore/quote.h"

enum { LIST_MAX = 8 }; /* names in one sentence */

static const char *const by_names[] = {
	[VIEW_FUNCTION] = "function",
	[VIEW_CALLSITE] = "callsite",
	[VIEW_LINE] = "line",
	[VIEW_MODULE] = "module",
};
enum { BY_COUNT = sizeof(by_names) / sizeof(*by_names) };

/* A plain decimal number, not negative, with `*end` behind it. strtod alone
 * would also take "nan", "inf", "0x1" and "-1". */
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

/* "0.5" or "50%". */
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

int selection_threshold(const char *text, double *threshold, struct error *error)
{
	double fraction;
	if (!fraction_read(text, &fraction) || fraction > 1)
		return error_set(error, ERROR_USAGE, "threshold %s is not a fraction from 0 to 1, as 0.01 or 1%%",
				 QUOTE(text));
	*threshold = fraction;
	return 0;
}

/* A whole number that fits in 63 bits. */
static bool count_read(const char *text, uint64_t *count)
{
	size_t digits = strspn(text, "0123456789");
	if (!digits || text[digits] || digits > 18)
		return false;
	*count = strtoull(text, NULL, 10);
	return true;
}

int selection_limit(const char *text, size_t *limit, struct error *error)
{
	uint64_t count;
	if (!count_read(text, &count))
		return error_set(error, ERROR_USAGE, "limit %s is not a number of entries (0: all)", QUOTE(text));
	*limit = (size_t)count;
	return 0;
}

int selection_by(const char *text, enum view_by *by, struct error *error)
{
	for (size_t i = 0; i < BY_COUNT; i++) {
		if (*text && strncmp(by_names[i], text, strlen(text)) == 0) {
			*by = (enum view_by)i;
			return 0;
		}
	}
	return error_set(error, ERROR_USAGE, "frames are shown by function, callsite, line or module, not by %s",
			 QUOTE(text));
}

const char *selection_by_name(enum view_by by)
{
	return (size_t)by < BY_COUNT ? by_names[by] : "?";
}

int selection_switch(const char *text, bool *on, struct error *error)
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
	return error_set(error, ERROR_USAGE, "%s is neither on nor off", QUOTE(text));
}

int selection_seconds(const char *text, uint64_t *ns, struct error *error)
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
	return error_set(error, ERROR_USAGE, "%s is not a time in seconds, as 1.5 or 200ms", QUOTE(text));
}

int selection_time(const char *from, const char *to, struct view_options *options, struct error *error)
{
	uint64_t from_ns = 0;
	uint64_t to_ns = 0;
	bool ends = to && *to;
	int status = from && *from ? selection_seconds(from, &from_ns, error) : 0;
	if (status == 0 && ends)
		status = selection_seconds(to, &to_ns, error);
	if (status)
		return status;
	if (ends && to_ns <= from_ns)
		return error_set(error, ERROR_USAGE, "the time range from %g s to %g s is empty", (double)from_ns / 1e9,
				 (double)to_ns / 1e9);
	options->from_ns = from_ns;
	options->to_ns = to_ns;
	return 0;
}

/* "a, b, c and 7 more": names are appended one by one. */
struct list {
	struct buffer text;
	size_t count;
};

static void list_add(struct list *list, const char *name)
{
	if (list->count++ < LIST_MAX)
		buffer_printf(&list->text, "%s%s", list->count > 1 ? ", " : "", name);
}

static const char *list_text(struct list *list)
{
	if (list->count > LIST_MAX)
		buffer_printf(&list->text, " and %zu more", list->count - LIST_MAX);
	buffer_append_byte(&list->text, 0);
	return buffer_error(&list->text) ? "..." : (const char *)list->text.bytes;
}

int selection_resource(const struct profile *profile, const char *text, uint32_t *resource, struct error *error)
{
	size_t length = strlen(text);
	struct list all = { 0 };
	struct list fitting = { 0 };
	uint32_t found = PROFILE_NONE;
	bool exact = false;
	for (uint32_t i = 0; i < profile->resource_count && !exact; i++) {
		const char *name = profile_string(profile, profile->resources[i].name);
		const char *title = profile_string(profile, profile->resources[i].title);
		exact = strcmp(name, text) == 0 || (length && strcasecmp(title, text) == 0);
		if (exact || (length && strncmp(name, text, length) == 0)) {
			found = i;
			list_add(&fitting, name);
		}
		list_add(&all, name);
	}
	int status = 0;
	if (exact || fitting.count == 1)
		*resource = found;
	else if (fitting.count)
		status = error_set(error, ERROR_AMBIGUOUS, "resource %s may be %s", QUOTE(text), list_text(&fitting));
	else if (!all.count)
		status = error_set(error, ERROR_NOT_FOUND, "the profile has no resources");
	else
		status = error_set(error, ERROR_NOT_FOUND, "no resource %s in this profile; it has %s", QUOTE(text),
				   list_text(&all));
	buffer_release(&all.text);
	buffer_release(&fitting.text);
	return status;
}

/* Threads and processes are looked up alike: a table of (number, name) rows. */
struct row_table {
	const char *what;        /* "thread" */
	const char *what_plural; /* "threads" */
	const char *number_name; /* "TID" */
	size_t count;
	void (*row)(const struct profile *profile, uint32_t index, uint32_t *number, const char **name);
};

static void thread_row(const struct profile *profile, uint32_t index, uint32_t *number, const char **name)
{
	*number = profile->threads[index].tid;
	*name = profile_string(profile, profile->threads[index].name);
}

static void process_row(const struct profile *profile, uint32_t index, uint32_t *number, const char **name)
{
	*number = profile->processes[index].pid;
	*name = profile_string(profile, profile->processes[index].name);
}

/* The rows of that number, or else of that name, into the list. */
static uint32_t rows_fitting(const struct profile *profile, const struct row_table *table, const char *text,
			     bool by_number, uint64_t wanted, struct list *fitting)
{
	uint32_t found = PROFILE_NONE;
	for (uint32_t i = 0; i < table->count; i++) {
		uint32_t number;
		const char *name;
		table->row(profile, i, &number, &name);
		if (by_number ? number != wanted : strcmp(name, text) != 0)
			continue;
		found = i;
		char shown[96];
		snprintf(shown, sizeof(shown), "#%u (%s %u)", i + 1, table->number_name, number);
		list_add(fitting, shown);
	}
	return found;
}

static int row_missing(const struct profile *profile, const struct row_table *table, const char *text,
		       struct error *error)
{
	if (!table->count)
		return error_set(error, ERROR_NOT_FOUND, "the profile knows no %s", table->what_plural);
	struct list all = { 0 };
	for (uint32_t i = 0; i < table->count; i++) {
		uint32_t number;
		const char *name;
		char shown[96];
		table->row(profile, i, &number, &name);
		snprintf(shown, sizeof(shown), "%u (%s)", number, name);
		list_add(&all, shown);
	}
	int status = error_set(error, ERROR_NOT_FOUND, "no %s %s; there %s %s", table->what, QUOTE(text),
			       all.count == 1 ? "is" : "are", list_text(&all));
	buffer_release(&all.text);
	return status;
}

static int row_find(const struct profile *profile, const struct row_table *table, const char *text, uint32_t *index,
		    struct error *error)
{
	uint64_t number;
	if (strcmp(text, "all") == 0) {
		*index = VIEW_ANY;
		return 0;
	}
	if (text[0] == '#' && count_read(text + 1, &number)) {
		if (number < 1 || number > table->count)
			return error_set(error, ERROR_NOT_FOUND, "no %s %s; the profile has %zu", table->what,
					 QUOTE(text), table->count);
		*index = (uint32_t)number - 1;
		return 0;
	}
	struct list fitting = { 0 };
	uint32_t found = PROFILE_NONE;
	if (count_read(text, &number))
		found = rows_fitting(profile, table, text, true, number, &fitting);
	if (found == PROFILE_NONE)
		found = rows_fitting(profile, table, text, false, 0, &fitting);
	int status = 0;
	if (fitting.count == 1)
		*index = found;
	else if (fitting.count)
		status = error_set(error, ERROR_AMBIGUOUS, "%s fits %zu %s: %s", QUOTE(text), fitting.count,
				   table->what_plural, list_text(&fitting));
	else
		status = row_missing(profile, table, text, error);
	buffer_release(&fitting.text);
	return status;
}

int selection_thread(const struct profile *profile, const char *text, uint32_t *thread, struct error *error)
{
	struct row_table table = { "thread", "threads", "TID", profile->thread_count, thread_row };
	return row_find(profile, &table, text, thread, error);
}

int selection_process(const struct profile *profile, const char *text, uint32_t *process, struct error *error)
{
	struct row_table table = { "process", "processes", "PID", profile->process_count, process_row };
	return row_find(profile, &table, text, process, error);
}
