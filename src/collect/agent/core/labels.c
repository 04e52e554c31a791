/*
 * Labels: each thread has a label set, and each sample has the number of its thread's set. A set is its text,
 * "key=value" lines sorted by key. The process keeps each text once:
 *
 *   thread --present--> set { number, bytes, "tenant=acme\nverb=GET\n" }
 *                        ^
 *   slots[hash of text] -+      published by compare-and-swap, never changed again
 *
 * To set a label, the thread copies the text of its present set with one line changed, and looks the result up.
 * A new set gets a number that is unique in the recording, and is written to the monitor before other threads can
 * find it here. Two threads that create the same set at the same time may both write it; then one of the two numbers
 * is never used.
 */
#include <cpprof/runtime.h>

#include <errno.h>
#include <string.h>

#include "base/compare.h"
#include "collect/agent/core/interface.h"
#include "collect/agent/hooks/hooks.h"

enum {
	TEXT_BYTES = 1000, /* maximum of a set */
	SLOTS = 1 << 16,
	SETS = SLOTS / 2,
	KEPT_BYTES = 8 << 20,
};

struct label_set {
	uint32_t number;
	uint32_t bytes;
	char text[]; /* each line ends with '\n' */
};

/* One for each process; a forked process continues with its copy. */
struct label_store {
	struct label_set *slots[SLOTS];
	uint32_t sets;
	uint64_t used; /* bytes of `kept` */
	char kept[KEPT_BYTES] __attribute__((aligned(8)));
};
_Static_assert(TEXT_BYTES <= (int)CHANNEL_TEXT_BYTES, "a set fits into one record");
_Static_assert((int)CPPROF_LABEL_KEY_MAX + (int)CPPROF_LABEL_VALUE_MAX + 2 <= TEXT_BYTES,
	       "a set has room for any one label");

static struct label_store *label_store;
static _Thread_local const struct label_set *present; /* NULL: no labels */

static struct label_store *get_store(void)
{
	struct label_store *store = __atomic_load_n(&label_store, __ATOMIC_ACQUIRE);
	if (store)
		return store;
	/* The kernel provides the pages that sets use. */
	store = runtime_map(sizeof(*store));
	if (!store)
		return NULL;
	struct label_store *other = NULL;
	if (__atomic_compare_exchange_n(&label_store, &other, store, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		return store;
	runtime_unmap(store, sizeof(*store));
	return other;
}

/* --- the table of sets --- */

static uint64_t hash_text(const char *text, size_t bytes)
{
	uint64_t hash = bytes;
	uint64_t word = 0;
	for (; bytes >= sizeof(word); text += sizeof(word), bytes -= sizeof(word)) {
		memcpy(&word, text, sizeof(word));
		hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
		hash ^= hash >> 29;
	}
	word = 0;
	memcpy(&word, text, bytes);
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 32;
}

/* Returns a new set with a number of its own, which the monitor has received, or NULL if there is no room. */
static struct label_set *make_set(struct label_store *store, const char *text, size_t bytes)
{
	size_t size = (sizeof(struct label_set) + bytes + 7) / 8 * 8;
	if (__atomic_load_n(&store->sets, __ATOMIC_RELAXED) >= SETS ||
	    __atomic_load_n(&store->used, __ATOMIC_RELAXED) + size > KEPT_BYTES)
		return NULL;
	struct runtime_thread *thread = interface_enter();
	if (!thread)
		return NULL;
	struct label_set *set = NULL;
	uint32_t before = __atomic_fetch_add(&store->sets, 1, __ATOMIC_RELAXED);
	uint64_t at = __atomic_fetch_add(&store->used, size, __ATOMIC_RELAXED);
	if (before < SETS && at + size <= KEPT_BYTES) {
		set = (struct label_set *)(void *)(store->kept + at);
		set->number = __atomic_add_fetch(&runtime.channel->label_sets, 1, __ATOMIC_RELAXED);
		set->bytes = (uint32_t)bytes;
		memcpy(set->text, text, bytes);
		runtime_write_event(thread, CHANNEL_LABELS, set->number, 0, text, bytes - 1);
		hooks_labels_declared(set->number, text, bytes - 1);
	}
	runtime_leave(thread);
	return set;
}

/* Returns the set with this text, or NULL if there is no room. */
static const struct label_set *find_set(const char *text, size_t bytes)
{
	struct label_store *store = get_store();
	if (!store)
		return NULL;
	struct label_set *made = NULL;
	for (uint64_t at = hash_text(text, bytes);; at++) { /* ends, because at most half of the slots are taken */
		struct label_set **slot = &store->slots[at % SLOTS];
		struct label_set *there = __atomic_load_n(slot, __ATOMIC_ACQUIRE);
		if (!there) {
			if (!made)
				made = make_set(store, text, bytes);
			if (!made ||
			    __atomic_compare_exchange_n(slot, &there, made, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
				return made;
		}
		if (there->bytes == bytes && memcmp(there->text, text, bytes) == 0)
			return there;
	}
}

void runtime_labels_repeat(void)
{
	for (uint64_t i = 0; label_store && i < SLOTS; i++) {
		const struct label_set *set = label_store->slots[i];
		if (set)
			hooks_labels_declared(set->number, set->text, set->bytes - 1);
	}
}

/* --- texts of sets --- */

struct text {
	char bytes[TEXT_BYTES];
	size_t count;
	unsigned lines;
	bool is_full;
};

static void append(struct text *text, const char *bytes, size_t count)
{
	if (count > sizeof(text->bytes) - text->count) {
		text->is_full = true;
		return;
	}
	memcpy(text->bytes + text->count, bytes, count);
	text->count += count;
}

/* Returns the bytes of a value that are kept: the limit, without a part of a character at the end. */
static size_t value_bytes(const char *value)
{
	size_t bytes = strnlen(value, CPPROF_LABEL_VALUE_MAX + 1);
	if (bytes <= CPPROF_LABEL_VALUE_MAX)
		return bytes;
	bytes = CPPROF_LABEL_VALUE_MAX;
	size_t least = bytes - 3; /* UTF-8: at most three bytes continue a character */
	while (bytes > least && ((unsigned char)value[bytes] & 0xc0) == 0x80)
		bytes--;
	return bytes;
}

static void append_label(struct text *text, const char *key, size_t key_bytes, const char *value)
{
	append(text, key, key_bytes);
	append(text, "=", 1);
	size_t from = text->count;
	append(text, value, value_bytes(value));
	for (size_t i = from; i < text->count; i++)
		if (text->bytes[i] == '\n' || text->bytes[i] == '\r')
			text->bytes[i] = ' ';
	append(text, "\n", 1);
	text->lines++;
}

static int compare_keys(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
	return memcmp(a, b, a_bytes < b_bytes ? a_bytes : b_bytes) ?: COMPARE(a_bytes, b_bytes);
}

/* Writes the present set's text with this label instead of the key's old one. `value` NULL: without the key. */
static void change(struct text *text, const char *key, size_t key_bytes, const char *value)
{
	const char *at = present ? present->text : NULL;
	const char *end = present ? at + present->bytes : NULL;
	while (at < end) {
		const char *line_end = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
		const char *line_key_end = memchr(at, '=', (size_t)(line_end - at));
		int order = compare_keys(at, (size_t)(line_key_end - at), key, key_bytes);
		if (value && order >= 0) {
			append_label(text, key, key_bytes, value);
			value = NULL;
		}
		if (order != 0) {
			append(text, at, (size_t)(line_end - at));
			text->lines++;
		}
		at = line_end;
	}
	if (value)
		append_label(text, key, key_bytes, value);
	if (text->lines > CPPROF_LABEL_KEYS)
		text->is_full = true;
}

/* Returns 0, or -1 if there is no room; nothing has changed then. */
static int set_label(struct runtime_thread *thread, const char *key, size_t key_bytes, const char *value)
{
	struct text text;
	text.count = 0;
	text.lines = 0;
	text.is_full = false;
	change(&text, key, key_bytes, value);
	if (text.is_full)
		return -1;
	const struct label_set *set = text.count ? find_set(text.bytes, text.count) : NULL;
	if (text.count && !set)
		return -1;
	present = set;
	__atomic_store_n(&thread->labels, set ? set->number : 0, __ATOMIC_RELAXED);
	return 0;
}

static bool is_key(const char *key, size_t bytes)
{
	if (bytes == 0 || bytes > CPPROF_LABEL_KEY_MAX)
		return false;
	for (size_t i = 0; i < bytes; i++)
		if (key[i] == '=' || key[i] == '\n' || key[i] == '\r')
			return false;
	return true;
}

int cpprof_label(const char *key, const char *value)
{
	if (!runtime.channel)
		cpprof_runtime_begin();
	if (!runtime.channel)
		return 0;
	int error = errno;
	size_t key_bytes = key ? strnlen(key, CPPROF_LABEL_KEY_MAX + 1) : 0;
	struct runtime_thread *thread = interface_thread();
	int result = thread && is_key(key, key_bytes) ? 0 : -1;
	if (result == 0)
		result = set_label(thread, key, key_bytes, value);
	/* A value that does not fit removes the old one: samples that follow do not belong to it. */
	if (result < 0 && thread && value && is_key(key, key_bytes) && set_label(thread, key, key_bytes, NULL) < 0) {
		present = NULL;
		thread->labels = 0;
	}
	errno = error;
	return result;
}
