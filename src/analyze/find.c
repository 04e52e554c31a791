/* Sets of labels, and the labels that a name from the user may mean. */
#include <stdlib.h>
#include <string.h>

#include "analyze/build.h"
#include "analyze/short_names.h"
#include "analyze/view.h"
#include "base/cxx_name.h"
#include "base/hash_map.h"

enum match { MATCH_NONE, MATCH_OWNER, MATCH_WHOLE, MATCH_NAME, MATCH_COMPONENT };

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

static bool is_last_components(struct text name, struct text wanted)
{
	return cxx_name_ends_with(name.bytes, name.size, wanted.bytes, wanted.size);
}

/* Suffixes that gcc appends to the names of function parts and copies that it makes. */
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

/* A label is a name and an optional suffix: "@liba.so", "@file.c:88", ":88" or several of these. The wanted name may
 * leave off the whole suffix or its last parts. */
static enum match match_label(const struct view_label *label, struct text wanted, char *scratch)
{
	struct text whole = { label->text, strlen(label->text) };
	struct text owner = { label->owner, strlen(label->owner) };
	if (equal(owner, wanted))
		return MATCH_OWNER;
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

/* Returns room for the longest name, or NULL if memory is exhausted. */
static char *new_scratch(const struct view *view)
{
	size_t longest = 0;
	for (size_t i = 0; i < view->label_count; i++)
		if (view->labels[i].name_length > longest)
			longest = view->labels[i].name_length;
	return malloc(longest + 1);
}

void label_set_release(struct label_set *set)
{
	free(set->labels);
	free(set->name);
	*set = (struct label_set){ 0 };
}

int label_set_check(const struct view *view, const struct label_set *set, struct error *error)
{
	uint32_t last = set->count > 0 ? set->labels[set->count - 1] : 0;
	if (set->count > 0 && last >= view->label_count)
		return error_set(error, ERROR_NOT_FOUND, "the view has no label number %u", last);
	return 0;
}

int64_t view_functions(const struct view *view, const struct label_set *set, uint32_t *firsts, size_t limit)
{
	struct hash_map owners;
	hash_map_init(&owners);
	int result = 0;
	for (size_t i = 0; i < set->count && result == 0; i++) {
		uint64_t owner = (uintptr_t)view->labels[set->labels[i]].owner;
		if (hash_map_get(&owners, owner) != HASH_MAP_NONE)
			continue;
		if (owners.count < limit)
			firsts[owners.count] = set->labels[i];
		result = hash_map_put(&owners, owner, set->labels[i]);
	}
	int64_t count = (int64_t)owners.count;
	hash_map_release(&owners);
	return result < 0 ? result : count;
}

/* Returns a name for some labels of one function: the function's name if these are all its labels, or else their
 * common beginning, up to the start of a suffix. */
static char *common_name(const struct view *view, const struct label_set *set)
{
	const struct view_label *first = &view->labels[set->labels[0]];
	const char *last = view->labels[set->labels[set->count - 1]].text;
	size_t owned = 0, owner = strlen(first->owner), length = 0;
	for (size_t i = 0; i < view->label_count; i++)
		owned += view->labels[i].owner == first->owner;
	if (owned == set->count)
		return strdup(first->owner);
	while (first->text[length] && first->text[length] == last[length])
		length++;
	while (length > owner && first->text[length] && first->text[length] != '@' && first->text[length] != ':')
		length--;
	return strndup(first->text, length);
}

/* Stores the labels of the best kind of match in `found`, which has room for all labels. */
static void find_labels(const struct view *view, const char *name, char *scratch, struct label_set *found)
{
	struct text wanted = { name, strlen(name) };
	enum match best = MATCH_NONE;
	for (uint32_t i = 0; i < view->label_count && wanted.size > 0; i++) {
		enum match match = match_label(&view->labels[i], wanted, scratch);
		if (match == MATCH_NONE || (best != MATCH_NONE && match > best))
			continue;
		if (match != best)
			found->count = 0;
		best = match;
		found->labels[found->count++] = i;
	}
}

/* Reduces labels of several functions to the labels of functions that have hits in the selection. Keeps all if none has. */
static int select_with_hits(const struct view *view, struct label_set *found)
{
	struct hash_map owners;
	hash_map_init(&owners);
	int result = 0;
	for (size_t i = 1; i < view->node_count && result == 0; i++)
		if (view->weight[i] > 0 && label_set_has(found, view->label[i]))
			result = hash_map_put(&owners, (uintptr_t)view->labels[view->label[i]].owner, 0);
	size_t kept = 0;
	for (size_t i = 0; i < found->count && result == 0 && owners.count > 0; i++)
		if (hash_map_get(&owners, (uintptr_t)view->labels[found->labels[i]].owner) != HASH_MAP_NONE)
			found->labels[kept++] = found->labels[i];
	if (kept > 0)
		found->count = kept;
	hash_map_release(&owners);
	return result;
}

/* Finds the labels that are shown as `name` where names are short. Returns 0 or ERROR_MEMORY. */
static int find_shown(const struct view *view, const char *name, struct label_set *found)
{
	struct short_names *names = short_names_of_view(view);
	int64_t count = names ? short_names_find(names, name, found->labels) : ERROR_MEMORY;
	short_names_free(names);
	found->count = count > 0 ? (size_t)count : 0;
	return count < 0 ? (int)count : 0;
}

bool view_are_mains(const struct view *view, const struct label_set *set)
{
	for (size_t i = 0; i < set->count; i++) {
		uint32_t function = view->labels[set->labels[i]].function;
		if (function == PROFILE_NONE || view->profile->functions[function].role != ROLE_MAIN)
			return false;
	}
	return set->count > 0;
}

int64_t view_find(const struct view *view, const char *name, struct label_set *found)
{
	*found = (struct label_set){ .labels = malloc((view->label_count + 1) * sizeof(*found->labels)) };
	char *scratch = new_scratch(view);
	int64_t count = ERROR_MEMORY;
	if (found->labels && scratch) {
		find_labels(view, name, scratch, found);
		int status = found->count == 0 ? find_shown(view, name, found) : 0;
		count = status < 0 ? status : view_functions(view, found, NULL, 0);
		if (count > 1)
			count = select_with_hits(view, found) < 0 ? ERROR_MEMORY : view_functions(view, found, NULL, 0);
	}
	if (count > 0 && !(found->name = count == 1 ? common_name(view, found) : strdup(name)))
		count = ERROR_MEMORY;
	if (count <= 0)
		label_set_release(found);
	free(scratch);
	return count;
}
