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
#include "base/plural.h"
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
/* Behind a text in the singular, and in front of the number of recordings. */
#define OF_EACH " (in each of "

/* Returns whether the counts of several recordings add up. Others are rates and sizes: a sum keeps the largest one. */
static bool adds_up(const char *code)
{
	static const enum finding_code largest[] = { FINDING_SAMPLES_COSTLY, FINDING_TIME_COARSE, FINDING_WAITS_COARSE,
						     FINDING_UNWIND_ROWS };
	for (size_t i = 0; i < sizeof(largest) / sizeof(largest[0]); i++)
		if (strcmp(finding_codes[largest[i]].name, code) == 0)
			return false;
	return true;
}

/* A text without what a sum has put behind it, and the count that it shows. */
struct counted_text {
	const char *text, *end;
	uint64_t count;
	bool is_of_one;
};

static struct counted_text counted_text_of(const struct profile *profile, const struct profile_finding *finding)
{
	const char *text = profile_string(profile, finding->text);
	const char *of_one = strstr(text, OF_ONE), *of_each = of_one ? NULL : strstr(text, OF_EACH);
	const char *end = of_one ? of_one : of_each;
	return (struct counted_text){ .text = text,
				      .end = end ? end : text + strlen(text),
				      .count = of_each ? 1 : finding->count,
				      .is_of_one = of_one };
}

static size_t number_length(const char *text)
{
	size_t length = strspn(text, "0123456789");
	bool has_fraction = length > 0 && text[length] == '.' && isdigit((unsigned char)text[length + 1]);
	return has_fraction ? length + 1 + strspn(text + length + 1, "0123456789") : length;
}

/* Returns the length of the number, the word or the other character at `text`. */
static size_t token_length(const char *text)
{
	size_t length = number_length(text);
	while (isalpha((unsigned char)text[length]) && !isdigit((unsigned char)*text))
		length++;
	return length ? length : 1;
}

/* Returns whether a number of the text is the count. */
static bool is_count(const char *text, size_t length, uint64_t count)
{
	char digits[24];
	return snprintf(digits, sizeof(digits), "%" PRIu64, count) == (int)length && strncmp(text, digits, length) == 0;
}

static bool is_word(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && strncmp(text, word, length) == 0;
}

/* Returns whether the words are the singular and the plural of one, as in the {one|many} of findings. */
static bool is_plural(const char *one, size_t one_length, const char *many, size_t many_length)
{
	static const char *const words[][2] = {
		{ "was", "were" },       { "is", "are" },    { "has", "have" },
		{ "it", "they" },        { "its", "their" }, { "runs", "run" },
		{ "belongs", "belong" }, { "ends", "end" },  { "library", "libraries" }
	};
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (is_word(one, one_length, words[i][0]) && is_word(many, many_length, words[i][1]))
			return true;
	char noun[32];
	snprintf(noun, sizeof(noun), "%.*s", (int)one_length, one);
	return many_length > one_length && strncmp(one, many, one_length) == 0 && isalpha((unsigned char)*one) &&
	       is_word(many + one_length, many_length - one_length, plural_ending(noun, 2));
}

/* How two texts differ. */
struct likeness {
	bool is_like;    /* in numbers and in the forms of words only */
	bool is_same;    /* ... and in no other number than the count */
	bool has_counts; /* both show their counts */
};

static struct likeness compare_texts(const struct counted_text *one, const struct counted_text *two)
{
	const char *a = one->text, *b = two->text;
	struct likeness likeness = { .is_same = !one->is_of_one && !two->is_of_one };
	while (a < one->end && b < two->end) {
		size_t a_length = token_length(a), b_length = token_length(b);
		bool are_numbers = number_length(a) > 0 && number_length(b) > 0;
		bool are_equal = a_length == b_length && strncmp(a, b, a_length) == 0;
		if (are_numbers && !likeness.has_counts && is_count(a, a_length, one->count) &&
		    is_count(b, b_length, two->count))
			likeness.has_counts = true;
		else if (are_numbers)
			likeness.is_same = likeness.is_same && are_equal;
		else if (!are_equal && !is_plural(a, a_length, b, b_length) && !is_plural(b, b_length, a, a_length))
			break;
		a += a_length;
		b += b_length;
	}
	likeness.is_like = a == one->end && b == two->end;
	return likeness;
}

/* Appends a text with another count, which is its first number that is equal to its own one. */
static void append_counted(struct buffer *out, const struct counted_text *text, uint64_t count)
{
	bool has_count = false;
	for (const char *at = text->text; at < text->end; at += token_length(at)) {
		size_t length = token_length(at);
		if (!has_count && is_count(at, length, text->count)) {
			has_count = true;
			buffer_printf(out, "%" PRIu64, count);
		} else {
			buffer_append(out, at, length);
		}
	}
}

/* Appends the text of two findings that add up. A text in the singular has no plural here: it holds in each of the recordings. */
static void append_sum(struct buffer *out, const struct counted_text *one, const struct counted_text *two, uint64_t sum,
		       const struct likeness *likeness)
{
	const struct counted_text *plural = one->count == 1 ? two : one;
	bool is_summed = likeness->is_same && likeness->has_counts;
	append_counted(out, is_summed ? plural : one, is_summed && plural->count != 1 ? sum : one->count);
	if (!likeness->is_same)
		buffer_append_string(out, OF_ONE);
	else if (is_summed && plural->count == 1)
		buffer_printf(out, OF_EACH "%" PRIu64 " recordings)", sum);
}

/* Appends the text of the finding with the larger count. */
static void append_larger(struct buffer *out, const struct counted_text *one, const struct counted_text *two,
			  const struct likeness *likeness)
{
	const struct counted_text *larger = two->count > one->count ? two : one;
	append_counted(out, larger, larger->count);
	if (!likeness->is_same || one->count != two->count)
		buffer_append_string(out, OF_ONE);
}

/* Adds a finding to one of its kind. Returns 0 or a negative error. */
static int add_alike(struct profile *to, struct profile_finding *own, const struct counted_text *two, uint64_t count,
		     const struct likeness *likeness)
{
	const struct counted_text one = counted_text_of(to, own);
	bool adds = adds_up(profile_string(to, own->code));
	uint64_t sum;
	if (__builtin_add_overflow(own->count, count, &sum))
		sum = UINT64_MAX;
	struct buffer out;
	buffer_init(&out);
	if (adds)
		append_sum(&out, &one, two, sum, likeness);
	else
		append_larger(&out, &one, two, likeness);
	buffer_append_byte(&out, 0);
	int64_t id = buffer_error(&out) < 0 ? buffer_error(&out) : profile_add_string(to, (const char *)out.bytes);
	buffer_release(&out);
	if (id < 0)
		return (int)id;
	own->text = (uint32_t)id;
	own->count = adds ? sum : own->count > count ? own->count : count;
	return 0;
}

/* Adds a finding to one of its kind among the first `end`. Returns 1, 0 if there is none, or a negative error. */
static int sum_finding(struct profile *to, size_t end, const struct profile *from,
		       const struct profile_finding *finding)
{
	const struct counted_text two = counted_text_of(from, finding);
	for (size_t i = 0; i < end; i++) {
		struct profile_finding *own = &to->findings[i];
		const struct counted_text one = counted_text_of(to, own);
		const struct likeness likeness = compare_texts(&one, &two);
		if (own->severity != finding->severity || !likeness.is_like ||
		    strcmp(profile_string(to, own->code), profile_string(from, finding->code)) != 0)
			continue;
		int status = add_alike(to, own, &two, finding->count, &likeness);
		return status < 0 ? status : 1;
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
