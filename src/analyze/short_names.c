#include "analyze/short_names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/columns.h"
#include "base/hash_map.h"

enum { NUMBER_BYTES = 16 };

/* The texts of all names at one stage. */
struct stage {
	bool is_made;
	uint64_t *hashes; /* [count]: of the texts */
	/* [count]: from 1, among the names with this text, in the order of the set. Names that are equal at any stage are equal at the
	 * last one, whose numbers are shown. */
	uint32_t *numbers;
	struct hash_map by_hash; /* hash -> number of names with it */
};

struct short_names {
	struct short_names_item *items; /* owned */
	size_t count;
	bool are_functions;
	struct stage stages[SHORT_NAME_STAGES];
	struct buffer scratch;
};

struct short_names *short_names_new(const struct short_names_item *items, size_t count)
{
	struct short_names *names = calloc(1, sizeof(*names));
	struct short_names_item *copy = calloc(count + 1, sizeof(*copy));
	if (!names || !copy) {
		free(names);
		free(copy);
		return NULL;
	}
	if (count > 0)
		memcpy(copy, items, count * sizeof(*copy));
	names->items = copy;
	names->count = count;
	names->are_functions = true;
	buffer_init(&names->scratch);
	for (size_t i = 0; i < SHORT_NAME_STAGES; i++)
		hash_map_init(&names->stages[i].by_hash);
	return names;
}

struct short_names *short_names_of_view(const struct view *view)
{
	struct short_names_item *items = calloc(view->label_count + 1, sizeof(*items));
	for (size_t i = 0; i < view->label_count && items; i++)
		items[i] = (struct short_names_item){ view->labels[i].text, view->labels[i].name_length };
	struct short_names *names = items ? short_names_new(items, view->label_count) : NULL;
	free(items);
	if (names)
		names->are_functions = view->options.by != VIEW_MODULE && view->options.by != VIEW_GROUP;
	return names;
}

void short_names_free(struct short_names *names)
{
	if (!names)
		return;
	for (size_t i = 0; i < SHORT_NAME_STAGES; i++) {
		free(names->stages[i].hashes);
		free(names->stages[i].numbers);
		hash_map_release(&names->stages[i].by_hash);
	}
	buffer_release(&names->scratch);
	free(names->items);
	free(names);
}

static void append_stage(const struct short_names *names, size_t index, enum short_name_stage stage, struct buffer *to)
{
	const struct short_names_item *item = &names->items[index];
	short_name_append(to, item->text, item->name_length, stage);
	buffer_append_string(to, item->text + item->name_length);
}

/* Puts the text of a stage into the scratch buffer. Returns 0 or ERROR_MEMORY. */
static int scratch_stage(struct short_names *names, size_t index, enum short_name_stage stage)
{
	buffer_clear(&names->scratch);
	append_stage(names, index, stage, &names->scratch);
	return buffer_error(&names->scratch);
}

/* Computes a stage of all names. Returns 0 or ERROR_MEMORY. */
static int make_stage(struct short_names *names, enum short_name_stage stage)
{
	struct stage *made = &names->stages[stage];
	if (made->is_made)
		return 0;
	if (!made->hashes)
		made->hashes = calloc(names->count + 1, sizeof(*made->hashes));
	if (!made->numbers)
		made->numbers = calloc(names->count + 1, sizeof(*made->numbers));
	if (!made->hashes || !made->numbers)
		return ERROR_MEMORY;
	hash_map_clear(&made->by_hash);
	for (size_t i = 0; i < names->count; i++) {
		if (scratch_stage(names, i, stage) < 0)
			return ERROR_MEMORY;
		uint64_t hash = hash_bytes(names->scratch.bytes, names->scratch.size);
		uint32_t before = hash_map_get(&made->by_hash, hash);
		made->hashes[i] = hash;
		made->numbers[i] = before == HASH_MAP_NONE ? 1 : before + 1;
		if (hash_map_put(&made->by_hash, hash, made->numbers[i]) < 0)
			return ERROR_MEMORY;
	}
	made->is_made = true;
	return 0;
}

static bool is_shared(const struct short_names *names, size_t index, enum short_name_stage stage)
{
	const struct stage *made = &names->stages[stage];
	return hash_map_get(&made->by_hash, made->hashes[index]) > 1;
}

/* The stages in the order in which they are tried. */
static const enum short_name_stage tried[] = { SHORT_NAME_BARE, SHORT_NAME_INNER, SHORT_NAME_OUTER, SHORT_NAME_LAST_TWO,
					       SHORT_NAME_LAST, SHORT_NAME_USUAL, SHORT_NAME_FULL };

/* Writes "#2" for a name whose stage is shared, and "" for another. Returns its length. */
static size_t write_number(const struct short_names *names, size_t index, enum short_name_stage stage, char *number,
			   size_t bytes)
{
	number[0] = '\0';
	return is_shared(names, index, stage)
		       ? (size_t)snprintf(number, bytes, "#%u", names->stages[SHORT_NAME_LAST].numbers[index])
		       : 0;
}

/* Puts the first stage that fits and is not shared into the scratch buffer. Returns 1, 0 if there is none, or ERROR_MEMORY. Sets
 * *fitting to the first stage that fits with its number, or SHORT_NAME_STAGES. */
static int choose_stage(struct short_names *names, size_t index, size_t columns, enum short_name_stage *fitting)
{
	*fitting = SHORT_NAME_STAGES;
	if (make_stage(names, SHORT_NAME_LAST) < 0)
		return ERROR_MEMORY;
	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]); i++) {
		if (scratch_stage(names, index, tried[i]) < 0 || make_stage(names, tried[i]) < 0 ||
		    scratch_stage(names, index, tried[i]) < 0)
			return ERROR_MEMORY;
		char number[NUMBER_BYTES];
		size_t used = text_columns((const char *)names->scratch.bytes, names->scratch.size);
		if (used + write_number(names, index, tried[i], number, sizeof(number)) > columns)
			continue;
		*fitting = *fitting == SHORT_NAME_STAGES ? tried[i] : *fitting;
		if (!is_shared(names, index, tried[i]))
			return 1;
	}
	return 0;
}

/* Appends the text of a stage and its number: "f<…>#2". A text that does not fit is cut, its number is not. */
static int append_numbered(struct short_names *names, size_t index, enum short_name_stage stage, size_t columns,
			   struct buffer *to)
{
	char number[NUMBER_BYTES];
	size_t from = to->size, length = write_number(names, index, stage, number, sizeof(number));
	append_stage(names, index, stage, to);
	if (length >= columns)
		length = 0;
	number[length] = '\0';
	short_name_cut(to, from, columns - length);
	buffer_append_string(to, number);
	return buffer_error(to);
}

void short_names_append(struct short_names *names, size_t index, size_t columns, struct buffer *to)
{
	enum short_name_stage fitting;
	size_t from = to->size;
	if (!names->are_functions) {
		buffer_append_string(to, names->items[index].text);
		short_name_cut(to, from, columns);
		return;
	}
	int found = choose_stage(names, index, columns, &fitting);
	if (found > 0)
		buffer_append(to, names->scratch.bytes, names->scratch.size);
	else if (found < 0 || append_numbered(names, index, fitting < SHORT_NAME_STAGES ? fitting : SHORT_NAME_LAST,
					      columns, to) < 0)
		to->error = ERROR_MEMORY;
}

/* --- finding --- */

/* Copies `text` with "…" for "...". */
static void with_marks(struct buffer *to, const char *text)
{
	while (*text) {
		bool is_dots = strncmp(text, "...", 3) == 0 && strncmp(text, "...]", 4) != 0;
		if (is_dots)
			buffer_append_string(to, SHORT_NAME_MARK);
		else
			buffer_append_byte(to, (uint8_t)*text);
		text += is_dots ? 3 : 1;
	}
}

/* Splits "f<…>#2" into the length of "f<…>" and 2; the number is 0 if there is none. */
static size_t split_number(const char *text, size_t size, uint32_t *number)
{
	size_t at = size;
	*number = 0;
	while (at > 0 && text[at - 1] >= '0' && text[at - 1] <= '9' && size - at < 6)
		at--;
	if (at == size || at < 2 || text[at - 1] != '#')
		return size;
	for (size_t i = at; i < size; i++)
		*number = *number * 10 + (uint32_t)(text[i] - '0');
	return at - 1;
}

/* Finds the names whose stage has this text; with a number that is not 0, the name that has this number among several. Returns their number or ERROR_MEMORY. */
static int64_t find_stage(struct short_names *names, enum short_name_stage stage, const char *text, size_t size,
			  uint32_t number, uint32_t *found)
{
	int64_t count = 0;
	if (make_stage(names, stage) < 0 || make_stage(names, SHORT_NAME_LAST) < 0)
		return ERROR_MEMORY;
	const uint32_t *numbers = names->stages[SHORT_NAME_LAST].numbers;
	const struct stage *made = &names->stages[stage];
	uint64_t hash = hash_bytes(text, size);
	for (size_t i = 0; i < names->count; i++)
		if (made->hashes[i] == hash && (number == 0 || (numbers[i] == number && is_shared(names, i, stage))))
			found[count++] = (uint32_t)i;
	return count;
}

int64_t short_names_find(struct short_names *names, const char *text, uint32_t *found)
{
	struct buffer wanted;
	uint32_t number;
	int64_t count = 0;
	if (!names->are_functions)
		return 0;
	buffer_init(&wanted);
	with_marks(&wanted, text);
	const char *bytes = (const char *)wanted.bytes;
	size_t size = wanted.size, plain = split_number(bytes, size, &number);
	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]) && count == 0 && size > 0; i++)
		count = find_stage(names, tried[i], bytes, size, 0, found);
	for (size_t i = 0; i < sizeof(tried) / sizeof(tried[0]) && count == 0 && number > 0; i++)
		count = find_stage(names, tried[i], bytes, plain, number, found);
	if (buffer_error(&wanted))
		count = ERROR_MEMORY;
	buffer_release(&wanted);
	return count;
}
