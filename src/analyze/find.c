/* Labels that a user may mean by a name. */
#include <stdlib.h>
#include <string.h>

#include "analyze/cxx_name.h"
#include "analyze/view.h"

enum match { MATCH_NONE, MATCH_WHOLE, MATCH_NAME, MATCH_COMPONENT };

struct text {
	const char *bytes;
	size_t size;
};

static bool equal(struct text a, struct text b)
{
	return a.size == b.size && memcmp(a.bytes, b.bytes, a.size) == 0;
}

static bool ends_with(struct text text, struct text end)
{
	return text.size >= end.size && memcmp(text.bytes + text.size - end.size, end.bytes, end.size) == 0;
}

/* Whether `wanted` is what stands from a component on: "Klass::f" of "ns::Klass::f". */
static bool is_last_components(struct text name, struct text wanted)
{
	if (!ends_with(name, wanted))
		return false;
	size_t at = 0;
	while (at < name.size - wanted.size)
		at = cxx_name_component(name.bytes, name.size, at);
	return at == name.size - wanted.size;
}

/* What gcc appends to the parts and copies of a function that it made. */
static bool is_clone_of(struct text name, struct text wanted)
{
	static const char *const clones[] = { ".part.", ".constprop.", ".isra.", ".cold", ".lto_priv." };
	if (name.size <= wanted.size || memcmp(name.bytes, wanted.bytes, wanted.size) != 0)
		return false;
	for (size_t i = 0; i < sizeof(clones) / sizeof(*clones); i++)
		if (strncmp(name.bytes + wanted.size, clones[i], strlen(clones[i])) == 0)
			return true;
	return false;
}

/* `scratch` has room for the name. */
static enum match match_name(struct text name, struct text wanted, char *scratch)
{
	if (equal(name, wanted))
		return MATCH_NAME;
	struct cxx_name parts = cxx_name_parse(name.bytes, name.size);
	struct text qualified = { name.bytes + parts.start, parts.end - parts.start };
	struct text parameters = { name.bytes + parts.start, name.size - parts.start };
	struct text plain = { scratch, cxx_name_plain(qualified.bytes, qualified.size, scratch) };
	if (equal(qualified, wanted) || equal(parameters, wanted) || equal(plain, wanted))
		return MATCH_NAME;
	if (is_last_components(qualified, wanted) || is_last_components(parameters, wanted) ||
	    is_last_components(plain, wanted) || is_clone_of(qualified, wanted))
		return MATCH_COMPONENT;
	return MATCH_NONE;
}

/* A label is a name and, perhaps, a suffix: "@liba.so", "@file.c:88", ":88" or
 * several of these. What was asked for may leave off all or the last of them. */
static enum match match_label(const struct view_label *label, struct text wanted, char *scratch)
{
	struct text whole = { label->text, strlen(label->text) };
	if (equal(whole, wanted))
		return MATCH_WHOLE;
	struct text name = { whole.bytes, label->name_length };
	enum match best = match_name(name, wanted, scratch);
	for (size_t end = name.size + 1; end <= whole.size; end++) {
		if (end < whole.size && whole.bytes[end] != '@' && whole.bytes[end] != ':')
			continue;
		struct text suffix = { whole.bytes + name.size, end - name.size };
		if (suffix.size >= wanted.size || !ends_with(wanted, suffix))
			continue;
		struct text rest = { wanted.bytes, wanted.size - suffix.size };
		enum match match = match_name(name, rest, scratch);
		if (match != MATCH_NONE && (best == MATCH_NONE || match < best))
			best = match;
	}
	return best;
}

/* Room for the longest name; NULL: no memory. */
static char *new_scratch(const struct view *view)
{
	size_t longest = 0;
	for (size_t i = 0; i < view->label_count; i++)
		if (view->labels[i].name_length > longest)
			longest = view->labels[i].name_length;
	return malloc(longest + 1);
}

size_t view_find(const struct view *view, const char *name, uint32_t *found, size_t limit)
{
	struct text wanted = { name, strlen(name) };
	char *scratch = new_scratch(view);
	if (!scratch || wanted.size == 0) {
		free(scratch);
		return 0;
	}
	enum match best = MATCH_NONE;
	size_t count = 0;
	for (uint32_t i = 0; i < view->label_count; i++) {
		enum match match = match_label(&view->labels[i], wanted, scratch);
		if (match == MATCH_NONE || (best != MATCH_NONE && match > best))
			continue;
		if (match != best)
			count = 0;
		best = match;
		if (count < limit)
			found[count] = i;
		count++;
	}
	free(scratch);
	return count;
}
