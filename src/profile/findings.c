#include "profile/findings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/error.h"
#include "profile/profile.h"

#define X(constant, name_, severity_, output_, unit_, meaning_)   \
	[FINDING_##constant] = { .name = (name_),                 \
				 .severity = FINDING_##severity_, \
				 .output = FINDING_IN_##output_,  \
				 .unit = (unit_),                 \
				 .meaning = (meaning_) },
const struct finding_code_row finding_codes[FINDING_CODE_COUNT] = { FINDING_CODES(X) };
#undef X

const struct finding_code_row *finding_code_find(const char *name)
{
	for (size_t i = 0; i < FINDING_CODE_COUNT; i++)
		if (strcmp(finding_codes[i].name, name) == 0)
			return &finding_codes[i];
	return NULL;
}

const char *finding_severity_name(unsigned severity)
{
	static const char *const names[FINDING_SEVERITIES] = { "note", "warning", "error" };
	return severity < FINDING_SEVERITIES ? names[severity] : "";
}

bool finding_is_traced(const struct profile *profile, const struct profile_finding *finding)
{
	const struct finding_code_row *row = finding_code_find(profile_string(profile, finding->code));
	if (row && (row->output == FINDING_IN_CLOSING || row->output == FINDING_IN_RECORDING))
		return row->output == FINDING_IN_CLOSING;
	return finding->severity > FINDING_NOTE;
}

/* --- texts --- */

/* Replaces '#' and {one|many}; the rest of the format is printf's. */
static void expand(struct buffer *out, const char *format, uint64_t count)
{
	bool is_kept = true;
	for (const char *at = format; *at; at++) {
		if (*at == '{')
			is_kept = count == 1;
		else if (*at == '|')
			is_kept = count != 1;
		else if (*at == '}')
			is_kept = true;
		else if (!is_kept)
			continue;
		else if (*at == '#')
			buffer_printf(out, "%" PRIu64, count);
		else
			buffer_append_byte(out, (uint8_t)*at);
	}
	buffer_append_byte(out, 0);
}

/* Appends the text and a NUL. Returns 0 or ERROR_MEMORY. */
__attribute__((format(printf, 3, 0))) static int render(struct buffer *text, uint64_t count, const char *format,
							va_list arguments)
{
	struct buffer expanded;
	buffer_init(&expanded);
	expand(&expanded, format, count);
	int error = buffer_error(&expanded);
	if (error == 0)
		buffer_vprintf(text, (const char *)expanded.bytes, arguments);
	buffer_append_byte(text, 0);
	buffer_release(&expanded);
	return error < 0 ? error : buffer_error(text);
}

/* --- the list --- */

static int append(struct profile *profile, uint32_t code, uint8_t severity, uint64_t count, uint32_t text)
{
	if (profile->finding_count >= PROFILE_NONE)
		return ERROR_LIMIT;
	if (ARRAY_RESERVE(profile->findings, profile->finding_capacity, profile->finding_count + 1) < 0)
		return ERROR_MEMORY;
	profile->findings[profile->finding_count++] =
		(struct profile_finding){ .code = code, .text = text, .severity = severity, .count = count };
	return 0;
}

/* Whether the new finding has the same text as an earlier one, but for its count: formatted with the earlier
 * finding's count, the texts are equal. Returns 1, 0 or ERROR_MEMORY. */
__attribute__((format(printf, 3, 0))) static int is_equal(const struct profile *profile,
							  const struct profile_finding *earlier, const char *format,
							  va_list arguments)
{
	struct buffer text;
	va_list copy;
	buffer_init(&text);
	va_copy(copy, arguments);
	int error = render(&text, earlier->count, format, copy);
	va_end(copy);
	bool equal = error == 0 && strcmp((const char *)text.bytes, profile_string(profile, earlier->text)) == 0;
	buffer_release(&text);
	return error < 0 ? error : equal;
}

/* Returns the index of the finding to which this one is added, the number of findings if there is none, or
 * ERROR_MEMORY. */
__attribute__((format(printf, 3, 0))) static int64_t find_equal(const struct profile *profile, uint32_t code,
								const char *format, va_list arguments)
{
	for (size_t i = 0; i < profile->finding_count; i++) {
		if (profile->findings[i].code != code)
			continue;
		int equal = is_equal(profile, &profile->findings[i], format, arguments);
		if (equal != 0)
			return equal < 0 ? equal : (int64_t)i;
	}
	return (int64_t)profile->finding_count;
}

__attribute__((format(printf, 4, 0))) static int add(struct profile *profile, enum finding_code code, uint64_t count,
						     const char *format, va_list arguments)
{
	int64_t code_id = profile_add_string(profile, finding_codes[code].name);
	int64_t found = code_id < 0 ? code_id : find_equal(profile, (uint32_t)code_id, format, arguments);
	if (found < 0)
		return (int)found;
	size_t at = (size_t)found;
	bool is_new = at == profile->finding_count;
	count += is_new ? 0 : profile->findings[at].count;
	struct buffer text;
	buffer_init(&text);
	int64_t text_id = render(&text, count, format, arguments);
	if (text_id == 0)
		text_id = profile_add_string(profile, (const char *)text.bytes);
	buffer_release(&text);
	if (text_id < 0)
		return (int)text_id;
	if (is_new)
		return append(profile, (uint32_t)code_id, finding_codes[code].severity, count, (uint32_t)text_id);
	profile->findings[at].count = count;
	profile->findings[at].text = (uint32_t)text_id;
	return 0;
}

void finding_add(struct profile *profile, enum finding_code code, uint64_t count, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int result = add(profile, code, count, format, arguments);
	va_end(arguments);
	if (result < 0 && profile->findings_error == 0)
		profile->findings_error = result;
}

void finding_add_part(struct profile *profile, const char *reason)
{
	bool has_each = false;
	for (size_t i = 0; i < profile->resource_count; i++) {
		const struct profile_resource *resource = &profile->resources[i];
		has_each |= resource->kind == RESOURCE_EXACT ||
			    (resource->kind == RESOURCE_SAMPLED && resource->interval == 1);
	}
	if (has_each)
		finding_add(profile, FINDING_PART_OF_RUN, 0, "%s", reason);
}

static bool has_finding(const struct profile *profile, uint32_t code, uint32_t text)
{
	for (size_t i = 0; i < profile->finding_count; i++)
		if (profile->findings[i].code == code && profile->findings[i].text == text)
			return true;
	return false;
}

int findings_copy(struct profile *to, const struct profile *from)
{
	int status = 0;
	for (size_t i = 0; i < from->finding_count && status == 0; i++) {
		const struct profile_finding *finding = &from->findings[i];
		int64_t code = profile_add_string(to, profile_string(from, finding->code));
		int64_t text = code < 0 ? code : profile_add_string(to, profile_string(from, finding->text));
		if (text >= 0 && finding->count == 0 && has_finding(to, (uint32_t)code, (uint32_t)text))
			continue;
		status = text < 0 ? (int)text
				  : append(to, (uint32_t)code, finding->severity, finding->count, (uint32_t)text);
	}
	return status;
}

/* --- the findings of a sum --- */

/* Behind a text whose numbers are not those of the sum. */
#define OF_ONE " (in one of several recordings)"

static size_t number_length(const char *text)
{
	size_t length = strspn(text, "0123456789");
	bool has_fraction = length > 0 && text[length] == '.' && isdigit((unsigned char)text[length + 1]);
	return has_fraction ? length + 1 + strspn(text + length + 1, "0123456789") : length;
}

/* Returns whether a number of the text is the count. */
static bool is_count(const char *text, size_t length, uint64_t count)
{
	char digits[24];
	return snprintf(digits, sizeof(digits), "%" PRIu64, count) == (int)length && strncmp(text, digits, length) == 0;
}

/* Returns whether the texts are equal but for their numbers. Sets *is_same if only their counts differ. */
static bool is_like(const char *a, uint64_t a_count, const char *b, uint64_t b_count, bool *is_same)
{
	*is_same = true;
	while (*a && *b) {
		size_t a_length = number_length(a), b_length = number_length(b);
		bool are_equal = a_length == b_length && strncmp(a, b, a_length) == 0;
		if ((a_length == 0) != (b_length == 0) || (a_length == 0 && *a != *b))
			break;
		if (!are_equal && !(is_count(a, a_length, a_count) && is_count(b, b_length, b_count)))
			*is_same = false;
		a += a_length ? a_length : 1;
		b += b_length ? b_length : 1;
	}
	bool is_of_one = strcmp(a, OF_ONE) == 0;
	*is_same = *is_same && !is_of_one;
	return !*b && (!*a || is_of_one);
}

/* Returns the string of a text with another count, or a negative error. */
static int64_t add_counted(struct profile *profile, const char *text, uint64_t count, uint64_t sum, bool is_same)
{
	struct buffer out;
	buffer_init(&out);
	for (size_t length; *text && strcmp(text, OF_ONE) != 0; text += length ? length : 1) {
		length = number_length(text);
		if (length > 0 && is_count(text, length, count))
			buffer_printf(&out, "%" PRIu64, sum);
		else
			buffer_append(&out, text, length ? length : 1);
	}
	if (!is_same)
		buffer_append_string(&out, OF_ONE);
	buffer_append_byte(&out, 0);
	int64_t id = buffer_error(&out) < 0 ? buffer_error(&out) : profile_add_string(profile, (const char *)out.bytes);
	buffer_release(&out);
	return id;
}

/* Adds a finding to one of its kind among the first `end`. Returns 1, 0 if there is none, or a negative error. */
static int sum_finding(struct profile *to, size_t end, const struct profile *from,
		       const struct profile_finding *finding)
{
	const char *code = profile_string(from, finding->code), *text = profile_string(from, finding->text);
	for (size_t i = 0; i < end; i++) {
		struct profile_finding *own = &to->findings[i];
		const char *own_text = profile_string(to, own->text);
		bool is_same;
		if (own->severity != finding->severity || strcmp(profile_string(to, own->code), code) != 0 ||
		    !is_like(own_text, own->count, text, finding->count, &is_same))
			continue;
		uint64_t sum;
		if (__builtin_add_overflow(own->count, finding->count, &sum))
			sum = UINT64_MAX;
		int64_t id = add_counted(to, own_text, own->count, is_same ? sum : own->count, is_same);
		if (id < 0)
			return (int)id;
		own->text = (uint32_t)id;
		own->count = sum;
		return 1;
	}
	return 0;
}

int findings_sum(struct profile *to, const struct profile *from)
{
	int status = 0;
	size_t end = to->finding_count;
	for (size_t i = 0; i < from->finding_count && status >= 0; i++) {
		const struct profile_finding *finding = &from->findings[i];
		status = sum_finding(to, end, from, finding);
		int64_t code = status == 0 ? profile_add_string(to, profile_string(from, finding->code)) : 0;
		int64_t text = status == 0 ? profile_add_string(to, profile_string(from, finding->text)) : 0;
		if (code < 0 || text < 0)
			return code < 0 ? (int)code : (int)text;
		if (status == 0)
			status = append(to, (uint32_t)code, finding->severity, finding->count, (uint32_t)text);
	}
	return status < 0 ? status : 0;
}

void findings_remove(struct profile *profile, enum finding_code code, const char *text)
{
	size_t kept = 0;
	for (size_t i = 0; i < profile->finding_count; i++) {
		const struct profile_finding *finding = &profile->findings[i];
		bool is_meant = strcmp(profile_string(profile, finding->code), finding_codes[code].name) == 0 &&
				strstr(profile_string(profile, finding->text), text);
		if (!is_meant)
			profile->findings[kept++] = *finding;
	}
	profile->finding_count = kept;
}

const struct profile_finding *finding_find(const struct profile *profile, enum finding_code code)
{
	for (size_t i = 0; i < profile->finding_count; i++)
		if (strcmp(profile_string(profile, profile->findings[i].code), finding_codes[code].name) == 0)
			return &profile->findings[i];
	return NULL;
}

const struct profile_finding *finding_next(const struct profile *profile, struct finding_walk *walk)
{
	for (; walk->passed < FINDING_SEVERITIES; walk->passed++, walk->next = 0)
		while (walk->next < profile->finding_count) {
			const struct profile_finding *finding = &profile->findings[walk->next++];
			if (finding->severity == FINDING_ERROR - walk->passed)
				return finding;
		}
	return NULL;
}

/* --- the closing line --- */

static bool has_code(const struct profile_finding *const *findings, size_t count, uint32_t code)
{
	for (size_t i = 0; i < count; i++)
		if (findings[i]->code == code)
			return true;
	return false;
}

size_t findings_closing(const struct profile *profile, const struct profile_finding *closing[FINDINGS_CLOSING_MAX],
			size_t *more)
{
	size_t count = 0;
	struct finding_walk walk = { 0 };
	*more = 0;
	for (const struct profile_finding *finding; (finding = finding_next(profile, &walk));) {
		const struct finding_code_row *row = finding_code_find(profile_string(profile, finding->code));
		bool is_closing = row && (row->output == FINDING_IN_CLOSING || row->output == FINDING_IN_RECORDING);
		if (is_closing && count < FINDINGS_CLOSING_MAX && !has_code(closing, count, finding->code))
			closing[count++] = finding;
		else
			*more += finding->severity != FINDING_NOTE;
	}
	return count;
}

/* --- older files --- */

int findings_convert_notes(struct profile *profile)
{
	const char *key = finding_codes[FINDING_OLD_WARNING].name;
	size_t kept = 0;
	for (size_t i = 0; i < profile->note_count; i++) {
		const struct profile_note note = profile->notes[i];
		bool is_finding = strcmp(profile_string(profile, note.key), key) == 0;
		int result = is_finding ? append(profile, note.key, FINDING_WARNING, 0, note.value) : 0;
		if (result < 0)
			return result;
		if (!is_finding)
			profile->notes[kept++] = note;
	}
	profile->note_count = kept;
	return 0;
}
