#include "store/times.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "base/whole_number.h"
#include "store/store.h"

enum { STORE_SECONDS_PER_DAY = 86400 };

/* Times since 1970 in ns fit into 63 bits up to the year 2262. */
static const int64_t SECONDS_MOST = INT64_MAX / STORE_NS_PER_S - 1;

int64_t store_age_read(const char *text, struct error *error)
{
	static const struct {
		char unit;
		int64_t seconds;
	} units[] = { { 's', 1 }, { 'm', 60 }, { 'h', 3600 }, { 'd', 86400 }, { 'w', 604800 } };
	size_t digits = strspn(text, "0123456789"), unit = 0;
	while (unit < sizeof(units) / sizeof(units[0]) && units[unit].unit != text[digits])
		unit++;
	if (digits == 0 || unit == sizeof(units) / sizeof(units[0]) || text[digits + 1])
		return error_set(error, ERROR_USAGE, "'%s' is no age (90s, 15m, 6h, 30d or 8w)", text);
	int64_t number = 0, seconds;
	for (size_t i = 0; i < digits && number <= SECONDS_MOST; i++)
		number = number * 10 + (text[i] - '0');
	if (number > SECONDS_MOST || __builtin_mul_overflow(number, units[unit].seconds, &seconds) ||
	    seconds > SECONDS_MOST)
		return error_set(error, ERROR_USAGE, "the age '%s' is too large (at most %" PRId64 "d)", text,
				 SECONDS_MOST / STORE_SECONDS_PER_DAY);
	return seconds;
}

/* Reads a date. Returns false if the text is none. */
static bool read_date(const char *text, int64_t *seconds)
{
	static const char *const forms[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d" };
	for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++) {
		struct tm date = { .tm_isdst = -1 };
		const char *end = strptime(text, forms[i], &date);
		if (!end || (*end && strcmp(end, "Z") != 0))
			continue;
		const struct tm given = date;
		*seconds = *end ? timegm(&date) : mktime(&date);
		/* Both move a date that does not exist. The hour also moves where a clock was put forward. */
		if (date.tm_mon != given.tm_mon || date.tm_mday != given.tm_mday || date.tm_sec != given.tm_sec)
			return false;
		return *seconds > -SECONDS_MOST && *seconds < SECONDS_MOST;
	}
	return false;
}

int store_time_read(const char *text, int64_t now_s, int64_t *unix_ns, struct error *error)
{
	uint64_t number;
	int64_t seconds;
	if (strcmp(text, "now") == 0) {
		seconds = now_s;
	} else if (text[0] == '-') {
		int64_t age_s = store_age_read(text + 1, error);
		if (age_s < 0)
			return (int)age_s;
		seconds = now_s - age_s;
	} else if (text[0] == '@' && whole_number_read(text + 1, &number) && number < (uint64_t)SECONDS_MOST) {
		seconds = (int64_t)number;
	} else if (!read_date(text, &seconds)) {
		return error_set(error, ERROR_USAGE,
				 "'%s' is no time (now, -1h, @1800000000, 2026-11-27 or 2026-11-27T08:30)", text);
	}
	*unix_ns = seconds * STORE_NS_PER_S;
	return 0;
}
