#include "analyze/identity.h"

#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "base/path.h"

enum { LEVEL_NAME, LEVEL_MODULE, LEVEL_FILE, LEVEL_TEXT, LEVELS };

/* One label of one side. */
struct item {
	const struct view *view;
	uint32_t side, label;
	uint32_t key;  /* string id in `keys` */
	uint32_t name; /* string id in `texts` */
	int level;     /* the level at which its key is unique; LEVELS: not found yet */
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
 * ambiguous in the two profiles together. */
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
 * each side has its key; the last level is for all that are left. */
static int settle(struct matching *matching, int level)
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
	uint32_t *uses = calloc(matching->keys.count * IDENTITY_SIDES, sizeof(*uses));
	if (!uses)
		return ERROR_MEMORY;
	for (size_t i = 0; i < matching->count; i++)
		uses[matching->items[i].key * (size_t)IDENTITY_SIDES + matching->items[i].side]++;
	int result = 0;
	for (size_t i = 0; i < matching->count && result == 0; i++) {
		struct item *item = &matching->items[i];
		const uint32_t *use = &uses[item->key * (size_t)IDENTITY_SIDES];
		if (item->level < LEVELS || (level < LEVEL_TEXT && (use[0] > 1 || use[1] > 1)))
			continue;
		item->level = level;
		result = name_item(matching, item);
	}
	free(uses);
	return result;
}

/* Groups the labels of both sides by key, the longest name first in each group. */
static int compare_keys(const void *left, const void *right, void *texts)
{
	const struct item *a = left, *b = right;
	const uint32_t *lengths = ((const struct strings *)texts)->lengths;
	if (a->key != b->key)
		return a->key < b->key ? -1 : 1;
	if (lengths[a->name] != lengths[b->name])
		return lengths[a->name] > lengths[b->name] ? -1 : 1;
	return (int)a->side - (int)b->side;
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
		identities->of_label[item->side][item->label] = (uint32_t)(identities->count - 1);
	}
	return 0;
}

static int match(struct identities *identities, struct matching *matching, const struct view *const views[])
{
	matching->items = malloc((views[0]->label_count + views[1]->label_count + 1) * sizeof(*matching->items));
	if (!matching->items)
		return ERROR_MEMORY;
	for (uint32_t side = 0; side < IDENTITY_SIDES; side++) {
		size_t count = views[side]->label_count;
		identities->of_label[side] = calloc(count + 1, sizeof(*identities->of_label[side]));
		if (!identities->of_label[side])
			return ERROR_MEMORY;
		for (uint32_t i = 0; i < count; i++)
			matching->items[matching->count++] =
				(struct item){ .view = views[side], .side = side, .label = i, .level = LEVELS };
	}
	int result = 0;
	for (int level = LEVEL_NAME; level < LEVELS && result == 0; level++)
		result = settle(matching, level);
	return result < 0 ? result : number(identities, matching);
}

int identities_init(struct identities *identities, const struct view *const views[IDENTITY_SIDES],
		    struct strings *texts)
{
	*identities = (struct identities){ 0 };
	struct matching matching = { .texts = texts };
	if (strings_init(&matching.keys) < 0)
		return ERROR_MEMORY;
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
	for (int side = 0; side < IDENTITY_SIDES; side++)
		free(identities->of_label[side]);
	free(identities->names);
	*identities = (struct identities){ 0 };
}
