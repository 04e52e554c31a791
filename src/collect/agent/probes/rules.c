/*
 * The rules: which probe points are on. Rules apply in the order in which they came. A probe point is on if the last
 * rule that matches it switches it on, or if no rule matches, and if its level is not above the last `level` rule.
 * The code calls no function of the C library that could take a lock.
 */
#include <string.h>

#include "collect/agent/probes/registry.h"

static struct probes_rule rules[PROBES_RULES_MAX];
static uint32_t rule_count;
static uint64_t level = CPPROF_LEVEL_BLOCK;

/* --- patterns --- */

/* `*` matches any text, `?` any character; all other characters match themselves. */
static bool matches(const char *pattern, const char *text, size_t bytes)
{
	const char *end = text + bytes, *star = NULL, *from = text;
	while (text < end) {
		if (*pattern == '*') {
			star = ++pattern;
			from = text;
		} else if (*pattern == *text || *pattern == '?') {
			pattern++;
			text++;
		} else if (star) {
			pattern = star;
			text = ++from;
		} else {
			return false;
		}
	}
	while (*pattern == '*')
		pattern++;
	return *pattern == 0;
}

/* Matches the whole text, or the part behind any `separator`. */
static bool matches_tail(const char *pattern, const char *text, size_t bytes, const char *separator)
{
	size_t skipped = strlen(separator);
	for (size_t at = 0; at < bytes; at++)
		if ((at == 0 || (at >= skipped && memcmp(text + at - skipped, separator, skipped) == 0)) &&
		    matches(pattern, text + at, bytes - at))
			return true;
	return bytes == 0 && matches(pattern, text, 0);
}

/* "int space::C<int>::work(int)" -> "space::C<int>::work": the part before the first parenthesis and behind the last
 * space that are not in angle brackets. */
static const char *qualified_name(const char *signature, size_t *bytes)
{
	size_t start = 0, at = 0;
	int depth = 0;
	for (; signature[at] && (signature[at] != '(' || depth > 0); at++) {
		if (strncmp(signature + at, "operator", sizeof("operator") - 1) == 0)
			break;
		depth += signature[at] == '<';
		depth -= signature[at] == '>' && depth > 0;
		if (depth == 0 && (signature[at] == ' ' || signature[at] == '*' || signature[at] == '&'))
			start = at + 1;
	}
	if (signature[at] && signature[at] != '(') { /* "operator()(" */
		at += sizeof("operator") - 1;
		at += strncmp(signature + at, "()", 2) == 0 ? 2 : strcspn(signature + at, "(");
	}
	*bytes = at - start;
	return signature + start;
}

/* Matches the signature of the function, or of the function that contains the probe point. */
static bool matches_signature(const char *pattern, const char *signature)
{
	size_t bytes;
	const char *qualified = qualified_name(signature, &bytes);
	return matches(pattern, signature, strlen(signature)) ||
	       (bytes > 0 && matches_tail(pattern, qualified, bytes, "::"));
}

/* Matches "work: row", as lists and reports show it. */
static bool matches_within(const char *pattern, const struct tally_probe *record)
{
	static const char separator[] = ": ";
	const char *name = record->texts;
	if (probe_is_function(record->kind))
		return false;
	for (const char *at = strstr(pattern, separator); at; at = strstr(at + 1, separator)) {
		char function[PROBES_PATTERN_MAX];
		size_t bytes = (size_t)(at - pattern);
		if (bytes >= sizeof(function) || !matches(at + sizeof(separator) - 1, name, strlen(name)))
			continue;
		memcpy(function, pattern, bytes);
		function[bytes] = 0;
		if (matches_signature(function, record->texts + record->signature))
			return true;
	}
	return false;
}

bool probes_pattern_matches(const char *pattern, const struct tally_probe *record)
{
	static const char file_word[] = "file:", group_word[] = "group:";
	const char *name = record->texts, *signature = record->texts + record->signature;
	if (strncmp(pattern, file_word, sizeof(file_word) - 1) == 0) {
		const char *file = record->texts + record->file;
		return matches_tail(pattern + sizeof(file_word) - 1, file, strlen(file), "/");
	}
	if (strncmp(pattern, group_word, sizeof(group_word) - 1) == 0) {
		const char *group = record->texts + record->group;
		return matches(pattern + sizeof(group_word) - 1, group, strlen(group));
	}
	return matches_tail(pattern, name, strlen(name), "::") || matches_signature(pattern, signature) ||
	       matches_within(pattern, record);
}

bool probes_rule_matches(const struct probes_rule *rule, const struct tally_probe *record)
{
	switch (rule->kind) {
	case PROBES_TURN:
		return probes_pattern_matches(rule->pattern, record);
	case PROBES_GROUP:
		return matches(rule->pattern, record->texts + record->group, strlen(record->texts + record->group));
	case PROBES_LEVEL:
		return true;
	default:
		return false;
	}
}

/* --- the list --- */

bool probes_is_on(const struct tally_probe *record)
{
	bool on = true;
	for (uint32_t i = 0; i < rule_count; i++)
		if (probes_rule_matches(&rules[i], record))
			on = rules[i].on;
	return on && record->level <= level;
}

static bool is_about_the_same(const struct probes_rule *a, const struct probes_rule *b)
{
	return a->kind == b->kind && strcmp(a->pattern, b->pattern) == 0;
}

/* Removes rules that a new one replaces: one with the same pattern, or all if the pattern is `*`. */
static void remove_replaced(const struct probes_rule *rule)
{
	bool is_about_all = rule->kind == PROBES_TURN && strcmp(rule->pattern, "*") == 0;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < rule_count; i++)
		if (!is_about_all && !is_about_the_same(&rules[i], rule)) {
			if (kept != i)
				rules[kept] = rules[i];
			kept++;
		}
	rule_count = kept;
}

bool probes_rule_add(const struct probes_rule *rule)
{
	if (rule->kind == PROBES_LEVEL)
		level = rule->number;
	if (rule->kind != PROBES_TURN && rule->kind != PROBES_GROUP)
		return true;
	remove_replaced(rule);
	if (rule_count == PROBES_RULES_MAX)
		return false;
	rules[rule_count++] = *rule;
	return true;
}

/* --- a line --- */

struct words {
	const char *at, *end;
};

static bool is_space(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r';
}

/* Returns the next word and its length in *bytes; 0: there is none. */
static const char *next_word(struct words *words, size_t *bytes)
{
	while (words->at < words->end && is_space(*words->at))
		words->at++;
	const char *word = words->at;
	while (words->at < words->end && !is_space(*words->at))
		words->at++;
	*bytes = (size_t)(words->at - word);
	return word;
}

/* Returns the rest of the line without spaces at its end: patterns may contain spaces, as signatures do. */
static const char *rest_of(struct words *words, size_t *bytes)
{
	const char *rest = next_word(words, bytes);
	const char *end = words->end;
	while (end > rest && is_space(end[-1]))
		end--;
	words->at = words->end;
	*bytes = (size_t)(end - rest);
	return rest;
}

static bool is_word(const char *word, size_t bytes, const char *wanted)
{
	return bytes == strlen(wanted) && memcmp(word, wanted, bytes) == 0;
}

static bool take_number(struct words *words, uint64_t *number)
{
	enum { DECIMAL = 10, DIGITS_MAX = 18 };
	size_t bytes;
	const char *word = next_word(words, &bytes);
	*number = 0;
	for (size_t i = 0; i < bytes; i++) {
		if (word[i] < '0' || word[i] > '9')
			return false;
		*number = *number * DECIMAL + (uint64_t)(word[i] - '0');
	}
	return bytes > 0 && bytes <= DIGITS_MAX;
}

static const char *take_pattern(struct probes_rule *rule, const char *pattern, size_t bytes)
{
	if (bytes == 0)
		return "a pattern is missing, such as 'parse_*', 'C::work' or 'file:io.c'";
	if (bytes >= sizeof(rule->pattern))
		return "the pattern is too long";
	if (memchr(pattern, 0, bytes))
		return "there is a NUL in it";
	memcpy(rule->pattern, pattern, bytes);
	rule->pattern[bytes] = 0;
	return NULL;
}

static const char *read_group(struct probes_rule *rule, struct words *words)
{
	size_t name_bytes, bytes;
	const char *name = next_word(words, &name_bytes), *state = next_word(words, &bytes);
	rule->kind = PROBES_GROUP;
	rule->on = is_word(state, bytes, "on");
	if (!rule->on && !is_word(state, bytes, "off"))
		return "expected 'group NAME on' or 'group NAME off'";
	return take_pattern(rule, name, name_bytes);
}

static const char *read_level(struct probes_rule *rule, struct words *words)
{
	rule->kind = PROBES_LEVEL;
	if (!take_number(words, &rule->number) || rule->number > CPPROF_LEVEL_BLOCK)
		return "a level is a number from 0 (nothing) over 1 (functions), 2 (loops and regions), 3 (calls) to 4 "
		       "(blocks)";
	return NULL;
}

static const char *read_throttle(struct probes_rule *rule, struct words *words)
{
	struct words ahead = *words;
	size_t bytes;
	const char *word = next_word(&ahead, &bytes);
	rule->kind = PROBES_THROTTLE;
	if (is_word(word, bytes, "off")) {
		*words = ahead;
		return NULL;
	}
	if (!take_number(words, &rule->number) || !take_number(words, &rule->ns) || !rule->number || !rule->ns)
		return "expected 'throttle CALLS NS', as in 'throttle 100000 1000', or 'throttle off'";
	return NULL;
}

/* As in a filter file: a comment begins with a '#' at the start of the line or behind a blank. (Names contain it:
 * {lambda()#1}.) */
static size_t bytes_before_comment(const char *line, size_t bytes)
{
	size_t at = 0;
	while (at < bytes && !(line[at] == '#' && (at == 0 || is_space(line[at - 1]))))
		at++;
	return at;
}

const char *probes_rule_read(struct probes_rule *rule, const char *line, size_t bytes)
{
	struct words words = { line, line + bytes_before_comment(line, bytes) };
	size_t word_bytes;
	const char *word = next_word(&words, &word_bytes), *refusal = NULL;
	memset(rule, 0, sizeof(*rule));
	if (word_bytes == 0)
		return NULL;
	if (is_word(word, word_bytes, "on") || is_word(word, word_bytes, "off")) {
		rule->kind = PROBES_TURN;
		rule->on = is_word(word, word_bytes, "on");
		word = rest_of(&words, &word_bytes);
		refusal = take_pattern(rule, word, word_bytes);
	} else if (is_word(word, word_bytes, "group")) {
		refusal = read_group(rule, &words);
	} else if (is_word(word, word_bytes, "level")) {
		refusal = read_level(rule, &words);
	} else if (is_word(word, word_bytes, "throttle")) {
		refusal = read_throttle(rule, &words);
	} else {
		return "a rule begins with on, off, group, level or throttle";
	}
	(void)next_word(&words, &word_bytes);
	return !refusal && word_bytes > 0 ? "there is more on the line than the rule needs" : refusal;
}
