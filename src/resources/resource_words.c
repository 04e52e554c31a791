/* Parses the user's texts for resources into requests. */
#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/near_names.h"
#include "resources/resource_parameters.h"
#include "resources/resources.h"

enum { NS_PER_US = 1000, NS_PER_MS = 1000 * 1000, NS_PER_S = 1000 * 1000 * 1000 };
enum { KIB = 1024, MIB = 1024 * 1024, GIB = 1024 * 1024 * 1024 };

/* For clocks: with a shorter interval, sampling would take most of the target's time (and perf's timers have a
 * minimum of 10 us). Waits need no such limit, because each can be sampled only when it ends: one gtick is allowed. */
static const uint64_t CLOCK_MIN_NS = 20 * NS_PER_US;
/* A longer interval gives almost no samples. */
static const uint64_t TIME_MAX_NS = 60 * (uint64_t)NS_PER_S;
static const uint64_t COUNT_MAX = UINT64_C(1000000000000);
/* Each overflow of a hardware counter is an interrupt, so hardware events have a minimum too. */
static const uint64_t HARDWARE_MIN = 1000;

static const struct resource_row *find_row(const char *name, size_t length)
{
	for (const struct resource_row *row = resource_rows; row->name; row++)
		if (strlen(row->name) == length && memcmp(row->name, name, length) == 0)
			return row;
	return NULL;
}

static int unknown_name(const char *name, struct error *error)
{
	struct near_names near;
	near_names_init(&near, name);
	for (const struct resource_row *row = resource_rows; row->name; row++)
		near_names_offer(&near, row->name);
	const char *list = near_names_text(&near);
	return error_set(error, ERROR_USAGE, "unknown resource '%s'%s", name,
			 list[0] ? list : " ('cpprof resources' lists them)");
}

/* --- intervals --- */

enum unit_kind { UNIT_TIME, UNIT_COUNT, UNIT_BYTES };

static const struct {
	const char *unit;
	enum unit_kind kind;
	double factor; /* in ns for times, otherwise in gticks */
} units[] = {
	{ "ns", UNIT_TIME, 1 },         { "us", UNIT_TIME, NS_PER_US }, { "\u00b5s", UNIT_TIME, NS_PER_US },
	{ "ms", UNIT_TIME, NS_PER_MS }, { "s", UNIT_TIME, NS_PER_S },   { "", UNIT_COUNT, 1 },
	{ "k", UNIT_COUNT, 1e3 },       { "K", UNIT_COUNT, 1e3 },       { "M", UNIT_COUNT, 1e6 },
	{ "G", UNIT_COUNT, 1e9 },       { "KiB", UNIT_BYTES, KIB },     { "MiB", UNIT_BYTES, MIB },
	{ "GiB", UNIT_BYTES, GIB },
};
enum { UNITS = sizeof(units) / sizeof(units[0]) };

/* Returns whether the counter adds up values that the program or the user chooses. */
static bool takes_a_value(enum counter counter)
{
	return counter == COUNTER_UPROBE || counter == COUNTER_TRACEPOINT || counter == COUNTER_USDT ||
	       counter == COUNTER_OWN;
}

/* Returns whether the amounts are bytes, or may be. */
static bool takes_bytes(const struct resource_row *row)
{
	return strcmp(row->gtick, "byte") == 0 || takes_a_value(row->counter);
}

/* Returns the number at the start of `words`, or -1 if there is none, and sets *unit to the text behind it. strtod
 * alone would also accept "inf", hexadecimal numbers and signs. */
static double read_number(const char *words, const char **unit)
{
	bool is_number = isdigit((unsigned char)words[0]) && words[1] != 'x' && words[1] != 'X';
	char *end = NULL;
	double number = is_number ? strtod(words, &end) : -1;
	*unit = end ? end : words;
	return number;
}

/* Returns the value of a unit (ns for times, otherwise gticks), or 0 if the resource has no such unit. */
static double unit_gticks(const struct resource_row *row, const char *unit)
{
	for (size_t i = 0; i < UNITS; i++) {
		bool fits = row->is_time
				    ? units[i].kind == UNIT_TIME
				    : units[i].kind == UNIT_COUNT || (units[i].kind == UNIT_BYTES && takes_bytes(row));
		if (fits && strcmp(units[i].unit, unit) == 0)
			return units[i].factor;
	}
	return 0;
}

static const char *interval_form(const struct resource_row *row)
{
	if (row->is_time)
		return "a time with its unit, as 1ms, 500us or 0.1s";
	return takes_bytes(row) ? "a whole number, as 4096, 64KiB or 1M" : "a whole number, as 10, 5k or 1M";
}

/* Checks the range of an interval, which is in ns for times, otherwise in gticks. */
static int check_range(const struct resource_row *row, const char *words, double interval, struct error *error)
{
	if (row->is_time) {
		uint64_t least = resource_is_clock(row) || row->counter == COUNTER_REAL ? CLOCK_MIN_NS : NS_PER_US;
		if (interval >= (double)least && interval <= (double)TIME_MAX_NS)
			return 0;
		return error_set(error, ERROR_USAGE, "interval %s of %s is out of range (%lluus to 60s)", words,
				 row->name, (unsigned long long)least / NS_PER_US);
	}
	uint64_t least = row->is_hardware ? HARDWARE_MIN : 1;
	if (interval >= (double)least && interval <= (double)COUNT_MAX)
		return 0;
	return error_set(error, ERROR_USAGE, "interval %s of %s is out of range (%llu to 1000G)", words, row->name,
			 (unsigned long long)least);
}

int resource_parse_interval(const struct resource_row *row, const char *words, uint64_t *interval, struct error *error)
{
	const char *unit;
	double number = read_number(words, &unit);
	double factor = number < 0 ? 0 : unit_gticks(row, unit);
	if (factor == 0)
		return error_set(error, ERROR_USAGE, "'%s' is not an interval of %s (%s)", words, row->name,
				 interval_form(row));
	/* A number such as 1.001 has no exact binary form, so the last bits of the product may be wrong. */
	double product = number * factor;
	double whole = round(product);
	if (!row->is_time && fabs(product - whole) > 2 * DBL_EPSILON * product)
		return error_set(error, ERROR_USAGE, "'%s' is not an interval of %s (%s)", words, row->name,
				 interval_form(row));
	int result = check_range(row, words, row->is_time ? product : whole, error);
	if (result < 0)
		return result;
	*interval = row->is_time ? (uint64_t)round(product / row->gtick_ns) : (uint64_t)whole;
	return 0;
}

/* Returns the end of the name: the slash of the interval, or the end of the text. */
static const char *name_end(const struct resource_row *row, const char *words)
{
	const char *end = words + strlen(words);
	if (!row->parameters_hold_slashes) {
		const char *slash = strchr(words, '/');
		return slash ? slash : end;
	}
	/* Paths and C++'s operator/ contain slashes too. The text behind the last slash is the interval if it has the
	 * form of one, with the unit of any resource. */
	const char *slash = strrchr(words, '/');
	const char *unit;
	if (!slash || read_number(slash + 1, &unit) < 0)
		return end;
	for (size_t i = 0; i < UNITS; i++)
		if (strcmp(units[i].unit, unit) == 0)
			return slash;
	return end;
}

/* --- requests --- */

/* Parses the text behind the first colon of the request's name. */
static int parse_parameters(struct resource_request *request, struct error *error)
{
	const struct resource_row *row = request->row;
	const char *colon = strchr(request->name, ':');
	if (!row->parameters)
		return colon ? error_set(error, ERROR_USAGE, "resource %s has no parameters (%s or %s/INTERVAL)",
					 row->name, row->name, row->name)
			     : 0;
	if (colon)
		return row->parse(colon + 1, request, error);
	return row->parameters_optional ? 0 : resource_wrong_form(request, error);
}

int resource_parse(const char *words, struct resource_request *request, struct error *error)
{
	size_t row_length = strcspn(words, ":/");
	const struct resource_row *row = find_row(words, row_length);
	if (!row) {
		char name[64];
		snprintf(name, sizeof(name), "%.*s", (int)row_length, words);
		return unknown_name(name, error);
	}
	const char *end = name_end(row, words);
	size_t length = (size_t)(end - words);
	*request = (struct resource_request){ .row = row,
					      .counter = row->counter,
					      .interval = row->default_interval,
					      .default_interval = !*end,
					      .gtick = row->gtick,
					      .target.syscall = RESOURCE_ALL_SYSCALLS };
	if (length >= sizeof(request->name))
		return error_set(error, ERROR_USAGE, "resource name %.40s... has %zu bytes (limit %zu)", words, length,
				 sizeof(request->name) - 1);
	memcpy(request->name, words, length);
	int result = parse_parameters(request, error);
	if (result < 0)
		return result;
	bool has_parameters = length > row_length;
	snprintf(request->title, sizeof(request->title), "%s%s%s", row->title, has_parameters ? ": " : "",
		 has_parameters ? request->name + row_length + 1 : "");
	return *end ? resource_parse_interval(row, end + 1, &request->interval, error) : 0;
}
