/*
 * Findings: what the reader of a profile must know about its quality. Backends,
 * the monitor and the readers of files add them to the profile, the closing line
 * of a recording and `info` print them:
 *
 *   finding = severity, code, count, text
 *
 * A finding's text is one clause, complete without the meaning of its code
 * ("12 threads were not recorded: limit 2048").
 */
#ifndef PROFILE_FINDINGS_H
#define PROFILE_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profile/finding_codes.h"

struct profile;
struct profile_finding;

enum finding_severity { FINDING_NOTE, FINDING_WARNING, FINDING_ERROR };
enum { FINDING_SEVERITIES = FINDING_ERROR + 1 };

/* The first consumer that prints a finding; `info` and JSON have all of them. */
enum finding_output {
	FINDING_IN_CLOSING, /* the one line that ends a recording */
	FINDING_IN_READING, /* a warning of each command that reads the file */
	FINDING_IN_INFO,
};

#define X(constant, name, severity, output, unit, meaning) FINDING_##constant,
enum finding_code { FINDING_CODES(X) FINDING_CODE_COUNT };
#undef X

struct finding_code_row {
	const char *name;
	uint8_t severity; /* enum finding_severity */
	uint8_t output;   /* enum finding_output */
	const char *unit;
	const char *meaning;
};

/* By enum finding_code. */
extern const struct finding_code_row finding_codes[FINDING_CODE_COUNT];

/* The row of a code's name; NULL if this version does not have the code. */
const struct finding_code_row *finding_code_find(const char *name);

/* "note", "warning" or "error". */
const char *finding_severity_name(unsigned severity);

/*
 * Adds a finding with the severity of its code. The format is printf's; before
 * its conversions, '#' becomes the count and {one|many} the first word if the
 * count is 1, else the second:
 *
 *   finding_add(profile, FINDING_THREADS_NOT_RECORDED, count,
 *               "{# thread was|# threads were} not recorded: limit %u", 2048);
 *
 * If an earlier finding has the same code and, but for its count, the same
 * text, the two become one, with the sum of the counts. The first failure
 * (ERROR_MEMORY, ERROR_LIMIT) is kept in profile->findings_error, and nothing is
 * added. So a caller adds all it has and checks once.
 */
void finding_add(struct profile *profile, enum finding_code code, uint64_t count, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* The first finding of a code, or NULL. */
const struct profile_finding *finding_find(const struct profile *profile, enum finding_code code);

/* Visits all findings, the most severe first; those of one severity in the order
 * in which they were added. Start with a zeroed walk; NULL: there are no more. */
struct finding_walk {
	unsigned passed; /* severities */
	size_t next;     /* index in profile->findings */
};
const struct profile_finding *finding_next(const struct profile *profile, struct finding_walk *walk);

/*
 * The findings of the closing line: those whose code has FINDING_IN_CLOSING, the
 * most severe first, one of each code, at most FINDINGS_CLOSING_MAX. Returns how
 * many they are. *more: errors and warnings that are not among them.
 */
enum { FINDINGS_CLOSING_MAX = 4 };
size_t findings_closing(const struct profile *profile, const struct profile_finding *closing[FINDINGS_CLOSING_MAX],
			size_t *more);

/* Makes findings of the "warning" notes that files of format 1.3 and older have.
 * 0, ERROR_MEMORY or ERROR_LIMIT. */
int findings_convert_notes(struct profile *profile);

#endif
