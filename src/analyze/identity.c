#include "analyze/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/path.h"

enum { LEVEL_NAME, LEVEL_MODULE, LEVEL_FILE, LEVEL_TEXT, LEVELS };

/* One label of one view. */
struct item {
	const struct view *view;
	uint32_t index, label; /* of the view, and in it */
	uint32_t key;          /* string id in `keys` */
	uint32_t name;         /* string id in `texts` */
	int level;             /* the level at which its key is unique; LEVELS: not found yet */
};

struct matching {
	struct item *items;
	size_t count;
	struct strings keys; /* the digit of a level, followed by the text that is compared at that level */
	struct strings *texts;
	struct buffer scratch;
};

static void append_key(struct buffer *key, const struct view *view, const struct view_label *label, int level)
{
	const struct profile *profile = view->profile;
	if (level == LEVEL_TEXT || label->function == PROFILE_NONE) {
		buffer_append_string(key, label->text);
		return;
	}
	const struct profile_function *function = &profile->functions[label->function];
	const char *file = path_basename(profile_string(profile, function->file));
	bool has_module = level >= LEVEL_MODULE && function->module != PROFILE_NONE;
	buffer_append(key, label->text, label->name_length);
	if (has_module)
		buffer_printf(key, "@%s",
			      path_basename(profile_string(profile, profile->modules[function->module].path)));
	if (level == LEVEL_FILE && *file)
		buffer_printf(key, "%c%s", has_module ? ':' : '@', file);
	buffer_append_string(key, label->text + strlen(label->owner));
}

static int64_t add_scratch(struct matching *matching, struct strings *strings)
{
	if (buffer_error(&matching->scratch))
		return ERROR_MEMORY;
	return strings_add(strings, (const char *)matching->scratch.bytes, matching->scratch.size);
}

/* Sets the item's displayed name: the label's text, or the key of its level if the text is a bare name that is
 * ambiguous in the profiles together. */
static int name_item(struct matching *matching, struct item *item)
{
	const struct view_label *label = &item->view->labels[item->label];
	bool is_bare = strlen(label->owner) == label->name_length;
	buffer_clear(&matching->scratch);
	append_key(&matching->scratch, item->view, label,
		   is_bare && item->level > LEVEL_NAME ? item->level : LEVEL_TEXT);
	int64_t name = add_scratch(matching, matching->texts);
	item->name = name < 0 ? 0 : (uint32_t)name;
	return name < 0 ? (int)name : 0;
}

/* Makes the keys of this level for all items that have no level yet. An item gets this level if at most one label of
 * each view has its key; the last level is for all that are left. */
static int make_keys(struct matching *matching, int level)
{
	for (size_t i = 0; i < matching->count; i++) {
		struct item *item = &matching->items[i];
		if (item->level < LEVELS)
			continue;
		buffer_clear(&matching->scratch);
		buffer_append_byte(&matching->scratch, (uint8_t)('0' + level));
		append_key(&matching->scratch, item->view, &item->view->labels[item->label], level);
		int64_t key = add_scratch(matching, &matching->keys);
		if (key < 0)
			return (int)key;
		item->key = (uint32_t)key;
	}
	bool *is_shared = calloc(matching->keys.count, sizeof(*is_shared));
	uint32_t *last = malloc(matching->keys.count * sizeof(*last)); /* per key: the last view with a label of it */
	if (!is_shared || !last) {
		free(is_shared);
		free(last);
		return ERROR_MEMORY;
	}
	memset(last, 0xff, matching->keys.count * sizeof(*last));
	/* The items of one view follow each other. */
	for (size_t i = 0; i < matching->count; i++) {
		const struct item *item = &matching->items[i];
		if (last[item->key] == item->index)
			is_shared[item->key] = true;
		last[item->key] = item->index;
	}
	int result = 0;
	for (size_t i = 0; i < matching->count && result == 0; i++) {
		struct item *item = &matching->items[i];
		if (item->level < LEVELS || (level < LEVEL_TEXT && is_shared[item->key]))
			continue;
		item->level = level;
		result = name_item(matching, item);
	}
	free(is_shared);
	free(last);
	return result;
}

/* Groups the labels of all views by key, the longest name first in each group. */
static int compare_keys(const void *left, const void *right, void *texts)
{
	const struct item *a = left, *b = right;
	const uint32_t *lengths = ((const struct strings *)texts)->lengths;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (lengths[a->name] != lengths[b->name])
		return lengths[a->name] > lengths[b->name] ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

static int compare_names(const void *left, const void *right, void *texts)
{
	const struct item *a = left, *b = right;
	int order = strcmp(strings_get(texts, a->name), strings_get(texts, b->name));
	return order ? order : (a->key > b->key) - (a->key < b->key);
}

/* Numbers the identities in the order of their names. */
static int number(struct identities *identities, struct matching *matching)
{
	identities->names = malloc((matching->count + 1) * sizeof(*identities->names));
	if (!identities->names)
		return ERROR_MEMORY;
	qsort_r(matching->items, matching->count, sizeof(*matching->items), compare_keys, matching->texts);
	for (size_t i = 1; i < matching->count; i++)
		if (matching->items[i].key == matching->items[i - 1].key)
			matching->items[i].name = matching->items[i - 1].name;
	qsort_r(matching->items, matching->count, sizeof(*matching->items), compare_names, matching->texts);
	for (size_t i = 0; i < matching->count; i++) {
		const struct item *item = &matching->items[i];
		if (i == 0 || item->key != item[-1].key)
			identities->names[identities->count++] = strings_get(matching->texts, item->name);
		identities->of_label[item->index][item->label] = (uint32_t)(identities->count - 1);
	}
	return 0;
}

static int match(struct identities *identities, struct matching *matching, const struct view *const *views)
{
	size_t count = 0;
	for (size_t i = 0; i < identities->view_count; i++)
		count += views[i]->label_count;
	matching->items = malloc((count + 1) * sizeof(*matching->items));
	if (!matching->items || !identities->of_label)
		return ERROR_MEMORY;
	for (uint32_t index = 0; index < identities->view_count; index++) {
		size_t labels = views[index]->label_count;
		identities->of_label[index] = calloc(labels + 1, sizeof(*identities->of_label[index]));
		if (!identities->of_label[index])
			return ERROR_MEMORY;
		for (uint32_t i = 0; i < labels; i++)
			matching->items[matching->count++] =
				(struct item){ .view = views[index], .index = index, .label = i, .level = LEVELS };
	}
	int result = 0;
	for (int level = LEVEL_NAME; level < LEVELS && result == 0; level++)
		result = make_keys(matching, level);
	return result < 0 ? result : number(identities, matching);
}

int identities_init(struct identities *identities, const struct view *const *views, size_t view_count,
		    struct strings *texts)
{
	*identities = (struct identities){ .of_label = calloc(view_count + 1, sizeof(*identities->of_label)),
					   .view_count = view_count };
	struct matching matching = { .texts = texts };
	if (strings_init(&matching.keys) < 0) {
		identities_release(identities);
		return ERROR_MEMORY;
	}
	buffer_init(&matching.scratch);
	int result = match(identities, &matching, views);
	buffer_release(&matching.scratch);
	strings_release(&matching.keys);
	free(matching.items);
	if (result < 0)
		identities_release(identities);
	return result;
}

void identities_release(struct identities *identities)
{
	for (size_t i = 0; identities->of_label && i < identities->view_count; i++)
		free(identities->of_label[i]);
	free(identities->of_label);
	free(identities->names);
	*identities = (struct identities){ 0 };
}
