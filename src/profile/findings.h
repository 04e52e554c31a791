/*
 * Findings report the quality of a profile: what was lost, estimated or impossible. Backends, the monitor and the
 * readers of files add them to the profile; the closing line of a recording and `info` print them:
 *
 *   finding = severity, code, count, text
 *
 * A finding's text is one clause, complete without the meaning of its code ("12 threads were not recorded: limit
 * 2048").
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

/* The first consumer that prints a finding; `info` and JSON print all findings. */
enum finding_output {
	FINDING_IN_CLOSING,   /* the one line that ends a recording, and the last lines of a trace */
	FINDING_IN_RECORDING, /* that line only: what a trace costs and leaves out was requested by its intervals */
	FINDING_IN_READING,   /* a warning that each command prints when it reads the file */
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

/* Returns the row with that name, or NULL if this version of cpprof does not have it. */
const struct finding_code_row *finding_code_find(const char *name);

/* Returns "note", "warning" or "error", or "" if the number is none of them. */
const char *finding_severity_name(unsigned severity);

/* Whether a trace prints a finding: errors, warnings and what its code's output says. */
bool finding_is_traced(const struct profile *profile, const struct profile_finding *finding);

/*
 * Adds a finding with the severity of its code. The format is printf's. Before its conversions are applied, '#'
 * becomes the count, and {one|many} becomes the first text if the count is 1 and the second otherwise:
 *
 *   finding_add(profile, FINDING_THREADS_NOT_RECORDED, count,
 *               "{# thread was|# threads were} not recorded: limit %u", 2048);
 *
 * If an earlier finding has the same code and, except for its count, the same text, the two become one, with the sum
 * of the counts. If that fails, the finding is not added, and profile->findings_error keeps the first error
 * (ERROR_MEMORY, ERROR_LIMIT): so a caller adds all its findings and checks once.
 */
void finding_add(struct profile *profile, enum finding_code code, uint64_t count, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

/* Reports why the profile has a part of a run only, if one of its resources has each event: its amounts would be exact for the whole run. */
void finding_add_part(struct profile *profile, const char *reason);

/* Adds the findings of another profile, but for those without a count that are there already. Returns 0 or a negative error. */
int findings_copy(struct profile *to, const struct profile *from);

/* Adds the findings of another recording to those of a sum: findings of a code whose texts differ in numbers, and in singular and plural, become one, with
 * the sum of the counts, or the largest one if they are rates or sizes. Where other numbers differ, the text is that of one recording, and states so.
 * Returns 0 or a negative error. */
int findings_sum(struct profile *to, const struct profile *from);

/* Removes the findings of a code whose text contains `text` (not NULL). */
void findings_remove(struct profile *profile, enum finding_code code, const char *text);

/* Returns the first finding of a code, or NULL if there is none. */
const struct profile_finding *finding_find(const struct profile *profile, enum finding_code code);

/* Visits all findings, the most severe first; findings of one severity in the order in which they were added. Start
 * with a zeroed walk. Returns the next finding, or NULL if there are no more. */
struct finding_walk {
	unsigned passed; /* severities that are done */
	size_t next;     /* index in profile->findings */
};
const struct profile_finding *finding_next(const struct profile *profile, struct finding_walk *walk);

/*
 * Selects the findings of the closing line: the most severe findings with FINDING_IN_CLOSING or
 * FINDING_IN_RECORDING, one finding of each code, at most
 * FINDINGS_CLOSING_MAX. Returns their number. Sets *more to the number of all other errors and warnings.
 */
enum { FINDINGS_CLOSING_MAX = 4 };
size_t findings_closing(const struct profile *profile, const struct profile_finding *closing[FINDINGS_CLOSING_MAX],
			size_t *more);

/* Converts the "warning" notes of files of format 1.3 and older to findings. Returns 0, ERROR_MEMORY or ERROR_LIMIT. */
int findings_convert_notes(struct profile *profile);

#endif
