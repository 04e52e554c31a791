#include "base/short_name.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "base/columns.h"
#include "base/cxx_name.h"
#include "base/short_name_cxx.h"

enum { NAME_MOST = 1 << 16, HASH_DIGITS = 16, COMPONENTS_OF_LAST_TWO = 2 };

static bool begins(const char *text, size_t length, const char *with)
{
	size_t size = strlen(with);
	return length >= size && memcmp(text, with, size) == 0;
}

/* --- clones --- */

/* Endings that compilers append to the name of a part or copy of a function, and the word that readers see instead. */
static const struct {
	const char *suffix, *shown;
} clones[] = {
	{ ".part.", "part" }, { ".constprop.", "constprop" }, { ".isra.", "isra" },
	{ ".cold", "cold" },  { ".lto_priv.", NULL },         { ".llvm.", NULL },
};

enum { CLONES = sizeof(clones) / sizeof(clones[0]) };

static const char demangled_clone[] = " [clone "; /* stands before a suffix in a demangled name, and ']' behind it */

/* Returns the length of the clone's suffix at the beginning of the text, with its number, and sets *row; or 0. */
static size_t clone_suffix(const char *text, size_t length, size_t *row)
{
	bool is_demangled = begins(text, length, demangled_clone);
	size_t before = is_demangled ? strlen(demangled_clone) : 0;
	for (size_t i = 0; i < CLONES; i++) {
		if (!begins(text + before, length - before, clones[i].suffix))
			continue;
		size_t end = before + strlen(clones[i].suffix);
		while (end < length && (isdigit((unsigned char)text[end]) || (text[end] == '.' && end + 1 < length &&
									      isdigit((unsigned char)text[end + 1]))))
			end++;
		if (is_demangled && (end == length || text[end] != ']'))
			return 0;
		*row = i;
		return is_demangled ? end + 1 : end;
	}
	return 0;
}

/* Returns where the first suffix of a clone can begin from byte `from` on, or `length`. Each has a '.', which most names do not. */
static size_t next_clone(const char *name, size_t from, size_t length)
{
	const char *dot = memchr(name + from, '.', length - from);
	if (!dot)
		return length;
	size_t at = (size_t)(dot - name), before = strlen(demangled_clone);
	bool is_demangled = at >= from + before && begins(dot - before, before, demangled_clone);
	return is_demangled ? at - before : at;
}

/* Returns where the suffixes of clones begin that reach to the end of the name, or its length.
 * Sets the bits of the kinds. */
static size_t clones_begin(const char *name, size_t length, unsigned *kinds)
{
	*kinds = 0;
	for (size_t i = next_clone(name, 1, length); i < length;) {
		size_t at = i, row, bytes;
		unsigned found = 0;
		while (at < length && (bytes = clone_suffix(name + at, length - at, &row)) > 0) {
			found |= 1U << row;
			at += bytes;
		}
		if (at == length) {
			*kinds = found;
			return i;
		}
		/* Suffixes inside of this run end where it ends. */
		i = next_clone(name, at > i ? at : i + 1, length);
	}
	return length;
}

/* Appends " [constprop, isra]". */
static void append_clones(struct buffer *to, unsigned kinds)
{
	bool is_first = true;
	for (size_t i = 0; i < CLONES; i++) {
		if (!(kinds & 1U << i) || !clones[i].shown)
			continue;
		buffer_append_string(to, is_first ? " [" : ", ");
		buffer_append_string(to, clones[i].shown);
		is_first = false;
	}
	buffer_append_string(to, is_first ? "" : "]");
}

/* --- Rust --- */

/* Returns the length without the hash "::h0123456789abcdef" at the end. */
static size_t without_hash(const char *name, size_t length)
{
	size_t bytes = strlen("::h") + HASH_DIGITS;
	if (length <= bytes || !begins(name + length - bytes, bytes, "::h"))
		return length;
	for (size_t i = length - HASH_DIGITS; i < length; i++)
		if (!isdigit((unsigned char)name[i]) && (name[i] < 'a' || name[i] > 'f'))
			return length;
	return length - bytes;
}

/* The letters that the older mangling of Rust replaces. */
static const struct {
	const char *escape, *letter;
} escapes[] = {
	{ "$LT$", "<" },  { "$GT$", ">" },  { "$RF$", "&" },  { "$BP$", "*" },  { "$C$", "," },
	{ "$LP$", "(" },  { "$RP$", ")" },  { "$u20$", " " }, { "$u7b$", "{" }, { "$u7d$", "}" },
	{ "$u5b$", "[" }, { "$u5d$", "]" }, { "$u27$", "'" }, { "..", "::" },
};

enum { ESCAPES = sizeof(escapes) / sizeof(escapes[0]) };

static bool has_escapes(const char *name, size_t length)
{
	return memmem(name, length, "$LT$", 4) || memmem(name, length, "$u7b$", 5) || memmem(name, length, "$RF$", 4);
}

static void decode(struct buffer *to, const char *name, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t row = 0;
		if (name[i] == '_' && begins(name + i, length - i, "_$LT$") && (i == 0 || name[i - 1] == ':')) {
			i++; /* a name may not begin with a '$' */
			continue;
		}
		while (row < ESCAPES && !begins(name + i, length - i, escapes[row].escape))
			row++;
		if (row < ESCAPES)
			buffer_append_string(to, escapes[row].letter);
		else
			buffer_append_byte(to, (uint8_t)name[i]);
		i += row < ESCAPES ? strlen(escapes[row].escape) : 1;
	}
}

/* --- Go --- */

/* Whether a name is one of Go, with the path of its package or with type arguments: "github.com/a/b.(*T).Method",
 * "slices.Sort[go.shape.int]". */
static bool is_go(const char *name, size_t length)
{
	const char *slash = memchr(name, '/', length), *bracket = memchr(name, '[', length);
	const char *end = name + length;
	if (memmem(name, length, "::", 2) || !isalnum((unsigned char)name[0]) || memmem(name, length, "operator", 8))
		return false;
	const char *dot = memchr(name, '.', length);
	if (slash && (!bracket || slash < bracket))
		return !memchr(name, ' ', (size_t)(slash - name)) && memchr(slash, '.', (size_t)(end - slash));
	return bracket && dot && dot < bracket && !memchr(name, ' ', (size_t)(bracket - name)) &&
	       (memmem(name, length, "[go.shape.", 10) || memmem(name, length, "[...]", 5) || slash);
}

static bool is_path(char c)
{
	return isalnum((unsigned char)c) || strchr("_-.~%/", c);
}

/* Returns the position behind the path at `at`: behind its last '/', or `at`. */
static size_t behind_path(const char *name, size_t length, size_t at)
{
	size_t behind = at;
	for (size_t i = at; i < length && name[i] && is_path(name[i]); i++)
		if (name[i] == '/')
			behind = i + 1;
	return behind;
}

static void append_go(struct buffer *to, const char *name, size_t length, enum short_name_stage stage)
{
	static const char shape[] = "go.shape.";
	for (size_t i = behind_path(name, length, 0); i < length;) {
		size_t end = name[i] == '[' ? cxx_name_brackets(name, length, i) : 0;
		if (end > i + 3 && stage >= SHORT_NAME_OUTER) {
			buffer_append_string(to, "[" SHORT_NAME_MARK "]");
			i = end;
			continue;
		}
		buffer_append_byte(to, (uint8_t)name[i]);
		bool begins_type = strchr("[],*( ", name[i]);
		i++;
		while (begins_type && begins(name + i, length - i, shape))
			i += strlen(shape);
		if (begins_type)
			i = behind_path(name, length, i);
	}
}

/* --- text of other languages --- */

/* Returns where a place "FILE:LINE" or "FILE:LINE:COLUMN" begins that is the last word of the name and not its first, or 0. */
static size_t place_begin(const char *name, size_t length)
{
	const char *blank = memrchr(name, ' ', length);
	size_t at = length;
	if (!blank || blank == name)
		return 0;
	while (at > 0 && (isdigit((unsigned char)name[at - 1]) || name[at - 1] == ':'))
		at--;
	size_t begin = (size_t)(blank + 1 - name);
	bool is_number = at < length && at > begin && name[at] == ':' && name[length - 1] != ':';
	return is_number && !memmem(name + at, length - at, "::", 2) ? begin : 0;
}

/* Whether a name is none of C++, Rust or Go: "handle_request app.py:12", "garbage collection". A name of C++ has a blank only beside
 * what these characters begin. */
static bool is_text(const char *name, size_t length)
{
	if (place_begin(name, length) > 0)
		return true;
	return memchr(name, ' ', length) && !memchr(name, '(', length) && !memchr(name, '<', length) &&
	       !memmem(name, length, "::", 2) && !memmem(name, length, "operator", strlen("operator"));
}

/* Appends the text. At the stages of the last components, the file of its place is without folders. */
static void append_with_place(struct buffer *to, const char *name, size_t length, enum short_name_stage stage)
{
	size_t place = stage >= SHORT_NAME_LAST_TWO ? place_begin(name, length) : 0;
	const char *slash = place > 0 ? memrchr(name + place, '/', length - place) : NULL;
	size_t file = slash ? (size_t)(slash + 1 - name) : place;
	buffer_append(to, name, place);
	buffer_append(to, name + file, length - file);
}

/* --- the last components --- */

/* Whether what stands at `at` belongs to the component before it: "main::{lambda#1}". */
static bool is_attached(const char *name, size_t length, size_t at)
{
	return at < length && name[at] == '{';
}

/* Returns where the last `count` components of a name begin. */
static size_t last_components(const char *name, size_t length, size_t count)
{
	size_t starts[COMPONENTS_OF_LAST_TWO] = { 0 };
	for (size_t at = 0; at < length; at = cxx_name_component(name, length, at)) {
		if (is_attached(name, length, at))
			continue;
		memmove(starts + 1, starts, sizeof(starts) - sizeof(starts[0]));
		starts[0] = at;
	}
	return starts[count - 1];
}

/* The last component of a Go name is behind its package: "(*T).Method". */
static size_t behind_package(const char *name, size_t length)
{
	const char *dot = memchr(name, '.', length), *bracket = memchr(name, '[', length);
	return dot && (!bracket || dot < bracket) && dot + 1 < name + length ? (size_t)(dot + 1 - name) : 0;
}

static void cut_to_last(struct buffer *to, size_t from, enum short_name_stage stage, bool is_of_go)
{
	const char *name = (const char *)to->bytes + from;
	size_t length = to->size - from, begin = 0;
	if (stage < SHORT_NAME_LAST_TWO || length == 0 || buffer_error(to))
		return;
	if (is_of_go)
		begin = stage == SHORT_NAME_LAST ? behind_package(name, length) : 0;
	else
		begin = last_components(name, length, stage == SHORT_NAME_LAST ? 1 : COMPONENTS_OF_LAST_TWO);
	memmove(to->bytes + from, to->bytes + from + begin, length - begin);
	to->size -= begin;
}

/* --- the rule --- */

static void append_text(struct buffer *to, const char *name, size_t length, enum short_name_stage stage)
{
	enum short_name_stage inner = stage < SHORT_NAME_OUTER ? stage : SHORT_NAME_OUTER;
	unsigned kinds;
	size_t from = to->size, end = without_hash(name, clones_begin(name, length, &kinds));
	bool is_of_go = is_go(name, end), is_other = is_text(name, end);
	struct buffer decoded;
	buffer_init(&decoded);
	if (is_other) {
		append_with_place(to, name, end, stage);
	} else if (is_of_go) {
		append_go(to, name, end, inner);
	} else if (has_escapes(name, end)) {
		decode(&decoded, name, end);
		if (buffer_error(&decoded))
			to->error = decoded.error;
		else
			short_name_cxx(to, (const char *)decoded.bytes, decoded.size, inner);
	} else {
		short_name_cxx(to, name, end, inner);
	}
	buffer_release(&decoded);
	if (!is_other)
		cut_to_last(to, from, stage, is_of_go);
	append_clones(to, kinds);
}

/* Whether no stage changes the name: it is one word, or not the name of a function ("[kernel]"). */
static bool is_plain(const char *name, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && name[i] != '_')
			return name[0] == '[' || name[0] == '/';
	return true;
}

void short_name_append(struct buffer *to, const char *name, size_t length, enum short_name_stage stage)
{
	size_t from = to->size;
	if (stage == SHORT_NAME_FULL || length > NAME_MOST || is_plain(name, length)) {
		buffer_append(to, name, length);
		return;
	}
	append_text(to, name, length, stage);
	size_t size = to->size - from;
	if (buffer_error(to))
		return;
	bool is_longer = size > 0 && text_columns((const char *)to->bytes + from, size) > text_columns(name, length);
	if (size == 0 || is_longer) {
		to->size = from;
		buffer_append(to, name, length);
	}
}

void short_name_fit(struct buffer *to, const char *name, size_t length, size_t columns)
{
	size_t from = to->size;
	for (int stage = SHORT_NAME_BARE; stage < SHORT_NAME_STAGES && !buffer_error(to); stage++) {
		to->size = from;
		short_name_append(to, name, length, (enum short_name_stage)stage);
		if (to->size == from || text_columns((const char *)to->bytes + from, to->size - from) <= columns)
			return;
	}
	short_name_cut(to, from, columns);
}

void short_name_cut(struct buffer *text, size_t from, size_t columns)
{
	const size_t mark = strlen(SHORT_NAME_MARK);
	if (buffer_error(text) || text->size == from)
		return;
	const char *bytes = (const char *)text->bytes + from;
	size_t size = text->size - from;
	if (text_columns(bytes, size) <= columns)
		return;
	if (columns == 0) {
		text->size = from;
		return;
	}
	size_t begin = text_begin(bytes, size, columns / 2), end = text_end(bytes, size, columns - 1 - columns / 2);
	if (begin + mark > end && !buffer_extend(text, mark))
		return;
	memmove(text->bytes + from + begin + mark, text->bytes + from + end, size - end);
	memcpy(text->bytes + from + begin, SHORT_NAME_MARK, mark);
	text->size = from + begin + mark + size - end;
}
