#include "analyze/own_code.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/cxx_name.h"
#include "base/hash_map.h"
#include "base/path.h"

/* --- whose code --- */

static bool begins_with_any(const char *text, const char *const *beginnings)
{
	for (size_t i = 0; beginnings[i]; i++)
		if (strncmp(text, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static bool is_library_file(const char *path)
{
	static const char *const folders[] = { "/usr/include/",       "/usr/lib/",      "/usr/share/",
					       "/usr/src/",           "/lib/",          "/rustc/",
					       "/usr/local/include/", "/usr/local/go/", NULL };
	static const char *const parts[] = { "/include/c++/", "/.cargo/registry/", "/lib/rustlib/", "/go/pkg/mod/" };
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		if (strstr(path, parts[i]))
			return true;
	return begins_with_any(path, folders);
}

static bool is_library_module(const struct profile_module *module, const char *path)
{
	static const char *const folders[] = { "/lib/",       "/lib32/",     "/lib64/", "/usr/lib/",
					       "/usr/lib32/", "/usr/lib64/", NULL };
	if (module->kind == MODULE_KERNEL || module->kind == MODULE_VDSO)
		return true;
	return module->kind == MODULE_FILE && begins_with_any(path, folders) && strstr(path_basename(path), ".so");
}

/* Returns whether code only jumps to a function of another module. */
static bool is_linkage(const char *name, size_t length)
{
	static const char end[] = "@plt";
	size_t end_length = sizeof(end) - 1;
	return length > end_length && strcmp(name + length - end_length, end) == 0;
}

static bool is_library_name(const char *name)
{
	static const char *const beginnings[] = { "std::",           "__gnu_cxx::", "__cxxabiv1::", "operator new",
						  "operator delete", "core::",      "alloc::",      "<core::",
						  "<alloc::",        "<std::",      "runtime.",     NULL };
	size_t length = strlen(name);
	struct cxx_name parts = cxx_name_parse(name, length);
	return name[0] == '[' || is_linkage(name, length) || begins_with_any(name + parts.start, beginnings) ||
	       begins_with_any(name, beginnings);
}

bool own_code_has(const struct view *view, uint32_t index)
{
	const struct profile *profile = view->profile;
	const struct view_label *label = &view->labels[index];
	const struct profile_module *module = label->module == PROFILE_NONE ? NULL : &profile->modules[label->module];
	if (module && is_library_module(module, profile_string(profile, module->path)))
		return false;
	const struct profile_function *function =
		label->function == PROFILE_NONE ? NULL : &profile->functions[label->function];
	if (function && (function->role == ROLE_START || function->role == ROLE_CREATE))
		return false;
	const char *file = function ? profile_string(profile, function->file) : "";
	if (!file[0] && label->frame != PROFILE_NONE)
		file = profile_string(profile, profile->frames[label->frame].file);
	return file[0] ? !is_library_file(file) : !is_library_name(label->text);
}

/* --- the sums --- */

/* The hits of the samples that are charged to one function and taken in another. */
struct pair {
	uint32_t own;  /* label; PROFILE_NONE: no own code */
	uint32_t leaf; /* label */
	uint64_t hits;
};

struct sums {
	struct pair *pairs;
	size_t count, capacity;
	struct hash_map by_labels;
};

static int add_pair(struct sums *sums, uint32_t own, uint32_t leaf, uint64_t hits)
{
	uint64_t key = (uint64_t)own << 32 | leaf;
	uint32_t known = hash_map_get(&sums->by_labels, key);
	if (known != HASH_MAP_NONE) {
		sums->pairs[known].hits += hits;
		return 0;
	}
	if (ARRAY_RESERVE(sums->pairs, sums->capacity, sums->count + 1) < 0 ||
	    hash_map_put(&sums->by_labels, key, (uint32_t)sums->count) < 0)
		return ERROR_MEMORY;
	sums->pairs[sums->count++] = (struct pair){ own, leaf, hits };
	return 0;
}

/* Nodes follow their parents. `charged` [node_count] becomes the label of own code that each node's hits are charged to. */
static int add_nodes(struct sums *sums, const struct view *view, const bool *is_own, uint32_t *charged)
{
	charged[0] = PROFILE_NONE;
	for (uint32_t node = 1; node < view->node_count; node++) {
		uint32_t label = view->label[node];
		charged[node] = is_own[label] ? label : charged[view->parent[node]];
		if (view->hits[node] > 0 && add_pair(sums, charged[node], label, view->hits[node]) < 0)
			return ERROR_MEMORY;
	}
	return 0;
}

static bool is_kernel(const struct view *view, uint32_t label)
{
	uint32_t module = view->labels[label].module;
	return module != PROFILE_NONE && view->profile->modules[module].kind == MODULE_KERNEL;
}

/* Nodes follow their parents. `called` [node_count] becomes the label of the library function through which own code came to each node.
 * `hits` [label_count] are zeros. */
static void sum_kernel_calls(const struct view *view, const bool *is_own, uint32_t *called, uint64_t *hits)
{
	called[0] = PROFILE_NONE;
	for (uint32_t node = 1; node < view->node_count; node++) {
		uint32_t label = view->label[node], parent = view->parent[node];
		bool begins = parent != 0 && is_own[view->label[parent]];
		called[node] = is_own[label] ? PROFILE_NONE : begins ? label : called[parent];
		if (called[node] != PROFILE_NONE && !is_kernel(view, called[node]) && is_kernel(view, label))
			hits[called[node]] += view->hits[node];
	}
}

/* Sets the row of the function with the most hits, the first of several equal functions. */
static int find_kernel_call(struct own_entry *most, const struct view *view, const bool *is_own, uint32_t *called)
{
	uint64_t *hits = calloc(view->label_count + 1, sizeof(*hits));
	if (!hits)
		return ERROR_MEMORY;
	sum_kernel_calls(view, is_own, called, hits);
	*most = (struct own_entry){ .label = PROFILE_NONE, .other = PROFILE_NONE };
	for (uint32_t i = 0; i < view->label_count; i++)
		if (hits[i] > most->hits)
			*most = (struct own_entry){ .label = i, .hits = hits[i], .other = PROFILE_NONE };
	free(hits);
	return 0;
}

/* Adds to the row of `label` the hits that it shares with `other`: a function of the other kind (own or library), or PROFILE_NONE. */
static void add_to_row(struct own_entry *rows, uint32_t label, uint32_t other, uint64_t hits)
{
	struct own_entry *row = &rows[label];
	row->hits += hits;
	bool is_larger = hits > row->other_hits || (hits == row->other_hits && other < row->other);
	if (other != PROFILE_NONE && is_larger) {
		row->other = other;
		row->other_hits = hits;
	}
}

static int compare_entries(const void *left, const void *right)
{
	const struct own_entry *a = left, *b = right;
	if (a->hits != b->hits)
		return a->hits < b->hits ? 1 : -1;
	return (a->label > b->label) - (a->label < b->label);
}

/* Keeps the rows with hits, in their order. Returns their number. */
static size_t select_with_hits(struct own_entry *rows, size_t count)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++)
		if (rows[i].hits > 0)
			rows[kept++] = rows[i];
	qsort(rows, kept, sizeof(*rows), compare_entries);
	return kept;
}

static struct own_entry *new_rows(size_t count)
{
	struct own_entry *rows = calloc(count + 1, sizeof(*rows));
	for (size_t i = 0; i < count && rows; i++)
		rows[i] = (struct own_entry){ .label = (uint32_t)i, .other = PROFILE_NONE };
	return rows;
}

static int fill(struct own_code *own, const struct sums *sums, const struct view *view, const bool *is_own)
{
	own->charged = new_rows(view->label_count);
	own->library = new_rows(view->label_count);
	if (!own->charged || !own->library)
		return ERROR_MEMORY;
	for (size_t i = 0; i < sums->count; i++) {
		const struct pair *pair = &sums->pairs[i];
		bool in_library = !is_own[pair->leaf];
		if (pair->own == PROFILE_NONE)
			own->uncharged += pair->hits;
		else
			add_to_row(own->charged, pair->own, in_library ? pair->leaf : PROFILE_NONE, pair->hits);
		if (in_library)
			add_to_row(own->library, pair->leaf, pair->own, pair->hits);
	}
	own->charged_count = select_with_hits(own->charged, view->label_count);
	own->library_count = select_with_hits(own->library, view->label_count);
	return 0;
}

struct own_code *analyze_own_code(const struct view *view, struct error *error)
{
	struct own_code *own = calloc(1, sizeof(*own));
	bool *is_own = calloc(view->label_count + 1, sizeof(*is_own));
	uint32_t *charged = calloc(view->node_count + 1, sizeof(*charged));
	struct sums sums = { 0 };
	hash_map_init(&sums.by_labels);
	for (uint32_t i = 0; i < view->label_count && is_own; i++)
		is_own[i] = own_code_has(view, i);
	int result = own && is_own && charged ? add_nodes(&sums, view, is_own, charged) : ERROR_MEMORY;
	if (result == 0)
		result = fill(own, &sums, view, is_own);
	if (result == 0)
		result = find_kernel_call(&own->kernel_call, view, is_own, charged);
	hash_map_release(&sums.by_labels);
	free(sums.pairs);
	free(is_own);
	free(charged);
	if (result == 0)
		return own;
	own_code_free(own);
	error_set(error, ERROR_MEMORY, "out of memory");
	return NULL;
}

void own_code_free(struct own_code *own)
{
	if (!own)
		return;
	free(own->charged);
	free(own->library);
	free(own);
}

const struct own_entry *own_code_library(const struct own_code *own, uint32_t label)
{
	for (size_t i = 0; i < own->library_count; i++)
		if (own->library[i].label == label)
			return &own->library[i];
	return NULL;
}
