#include "profile/nameless.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/module_name.h"

/* From this share on, a module is hot. */
static const double hot_share = 0.05;

bool nameless_is(const struct profile *profile, uint32_t function)
{
	static const char infix[] = "+0x";
	if (function == PROFILE_NONE)
		return false;
	const struct profile_function *row = &profile->functions[function];
	if (row->module == PROFILE_NONE || profile->modules[row->module].kind != MODULE_FILE ||
	    profile_string(profile, row->linkage)[0] || row->role == ROLE_MAIN)
		return false;
	size_t length;
	const char *module = module_name(profile_string(profile, profile->modules[row->module].path), &length);
	const char *name = profile_string(profile, row->name);
	if (strncmp(name, module, length) != 0 || strncmp(name + length, infix, strlen(infix)) != 0)
		return false;
	const char *digits = name + length + strlen(infix);
	return digits[0] && digits[strspn(digits, "0123456789abcdef")] == 0;
}

/* --- hot modules --- */

static bool is_nameless_location(const struct profile *profile, size_t location)
{
	const struct profile_location *row = &profile->locations[location];
	if (row->first_frame == PROFILE_NONE || row->frame_count == 0)
		return false;
	return nameless_is(profile, profile->frames[row->first_frame + row->frame_count - 1].function);
}

static void offer(struct nameless_module *best, const struct nameless_module *offered)
{
	if (offered->share > best->share)
		*best = *offered;
}

/* Sets the share of each module in the resource of which it has the largest. */
static void find_shares(const struct profile *profile, const struct leaf_hits *leaf_hits, uint64_t *hits,
			struct nameless_module *modules)
{
	for (size_t resource = 0; resource < leaf_hits->count; resource++) {
		const struct leaf_hits_row *row = &leaf_hits->rows[resource];
		memset(hits, 0, profile->module_count * sizeof(*hits));
		for (size_t i = 0; i < row->count && i < profile->location_count; i++)
			if (row->hits[i] > 0 && is_nameless_location(profile, i))
				hits[profile->locations[i].module] += row->hits[i];
		for (size_t i = 0; i < profile->module_count; i++) {
			const struct nameless_module offered = { (uint32_t)i, (uint32_t)resource, hits[i],
								 row->all ? (double)hits[i] / (double)row->all : 0 };
			offer(&modules[i], &offered);
		}
	}
}

static int by_share(const void *left, const void *right)
{
	const struct nameless_module *a = left, *b = right;
	if (a->share != b->share)
		return a->share < b->share ? 1 : -1;
	return a->module < b->module ? -1 : a->module > b->module;
}

int64_t nameless_find_hot(const struct profile *profile, const struct leaf_hits *leaf_hits,
			  struct nameless_module *found, size_t most)
{
	uint64_t *hits = calloc(profile->module_count + 1, sizeof(*hits));
	struct nameless_module *modules = calloc(profile->module_count + 1, sizeof(*modules));
	size_t count = 0;
	bool has_memory = hits && modules;
	if (has_memory) {
		find_shares(profile, leaf_hits, hits, modules);
		qsort(modules, profile->module_count, sizeof(*modules), by_share);
		while (count < most && count < profile->module_count && modules[count].share >= hot_share) {
			found[count] = modules[count];
			count++;
		}
	}
	free(hits);
	free(modules);
	return has_memory ? (int64_t)count : ERROR_MEMORY;
}

/* --- remedies --- */

static bool is_of_system(const char *path)
{
	static const char *const folders[] = { "/usr/", "/lib/", "/lib32/", "/lib64/", "/libx32/", "/bin/", "/sbin/" };
	if (strncmp(path, "/usr/local/", strlen("/usr/local/")) == 0)
		return false;
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		if (strncmp(path, folders[i], strlen(folders[i])) == 0)
			return true;
	return false;
}

void nameless_append_source(const char *path, const struct nameless_source *source, struct buffer *text)
{
	if (source && source->failure)
		buffer_append_string(text, source->failure);
	else if (source && source->is_haskell)
		buffer_append_string(text, "GHC gives local functions none; its own profiling (ghc -prof) attributes "
					   "costs by source");
	else if (source ? source->is_own : !is_of_system(path))
		buffer_append_string(text, "compile it with -g, and do not strip it");
	else if (!source)
		buffer_printf(
			text,
			"install its package of debug symbols ('find-dbgsym-packages %s' of debian-goodies prints "
			"the name), or set DEBUGINFOD_URLS",
			path);
	else if (source->package && source->server)
		buffer_printf(text, "install %s, or set DEBUGINFOD_URLS=%s", source->package, source->server);
	else if (source->package)
		buffer_printf(text, "install %s", source->package);
	else if (source->server)
		buffer_printf(text, "set DEBUGINFOD_URLS=%s", source->server);
	else
		buffer_append_string(text, "install its debug symbols");
}

/* Returns the remedy that was noted for a path, or NULL. */
static const char *noted(const struct profile *profile, const char *path)
{
	size_t length = strlen(path);
	for (size_t i = 0; i < profile->note_count; i++) {
		const char *value = profile_string(profile, profile->notes[i].value);
		if (strcmp(profile_string(profile, profile->notes[i].key), PROFILE_NOTE_REMEDY) == 0 &&
		    strncmp(value, path, length) == 0 && value[length] == '\t')
			return value + length + 1;
	}
	return NULL;
}

int nameless_note_remedy(struct profile *profile, const char *path, const struct nameless_source *source)
{
	struct buffer text;
	if (noted(profile, path))
		return 0;
	buffer_init(&text);
	buffer_printf(&text, "%s\t", path);
	nameless_append_source(path, source, &text);
	buffer_append_byte(&text, 0);
	int64_t id = buffer_error(&text) ? ERROR_MEMORY
					 : profile_add_note(profile, PROFILE_NOTE_REMEDY, (const char *)text.bytes);
	buffer_release(&text);
	return id < 0 ? (int)id : 0;
}

void nameless_append_remedy(const struct profile *profile, const char *path, struct buffer *text)
{
	const char *remedy = noted(profile, path);
	if (remedy)
		buffer_append_string(text, remedy);
	else
		nameless_append_source(path, NULL, text);
}

void nameless_remove_remedies(struct profile *profile)
{
	size_t kept = 0;
	for (size_t i = 0; i < profile->note_count; i++)
		if (strcmp(profile_string(profile, profile->notes[i].key), PROFILE_NOTE_REMEDY) != 0)
			profile->notes[kept++] = profile->notes[i];
	profile->note_count = kept;
}
