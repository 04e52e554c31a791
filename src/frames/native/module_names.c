#include "frames/native/module_names.h"

#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "base/error.h"
#include "frames/naming_answer.h"
#include "frames/native/code_extent.h"
#include "frames/native/die_names.h"
#include "frames/native/go_names.h"
#include "frames/native/names.h"
#include "frames/native/plt.h"
#include "frames/native/roles.h"
#include "frames/native/scopes.h"
#include "frames/native/symbols.h"
#include "profile/module_name.h"
#include "unwind/unwind.h"

struct naming {
	const struct frames_request *request;
	struct naming_answer *answer;
	struct module_file *file;
	size_t count;
	uint64_t *addresses;
	struct symbol_match *matches;
	struct code_extents extents;
	uint32_t *outer; /* function of the outermost frame of each address */
	struct scopes scopes;
	struct go_names go;
	struct hash_map by_origin; /* abstract DIE of a function -> function */
	struct die_parents parents;
	struct buffer name, linkage, note; /* scratch texts of the function being made */
};

static const char *text_of(struct buffer *buffer)
{
	buffer_append_byte(buffer, 0);
	return buffer_error(buffer) ? NULL : (const char *)buffer->bytes;
}

static bool is_haskell(struct module_file *file)
{
	if (!file->haskell_tried)
		file->is_haskell = file->bytes && unwind_is_haskell(file->bytes);
	file->haskell_tried = true;
	return file->is_haskell;
}

/* Appends the displayed name to naming->name. */
static void demangle(struct naming *naming, const char *linkage)
{
	char *demangled = name_demangle(linkage);
	if (!demangled && strstr(linkage, "_info") && is_haskell(naming->file))
		demangled = name_haskell(linkage);
	buffer_append_string(&naming->name, demangled ? demangled : linkage);
	free(demangled);
}

/* --- by symbol --- */

/* Sets naming->linkage to the symbol's name without its version, and naming->name to the displayed name. */
static int set_symbol_texts(struct naming *naming, const char *symbol)
{
	size_t base = name_base_length(symbol);
	buffer_clear(&naming->linkage);
	buffer_append(&naming->linkage, symbol, base);
	const char *text = text_of(&naming->linkage);
	if (!text)
		return ERROR_MEMORY;
	buffer_clear(&naming->name);
	demangle(naming, text);
	buffer_clear(&naming->linkage);
	buffer_append(&naming->linkage, symbol, name_plain_length(symbol));
	return text_of(&naming->name) && text_of(&naming->linkage) ? 0 : ERROR_MEMORY;
}

static const struct symbol *symbol_of(struct naming *naming, size_t index)
{
	const struct symbol_match *match = &naming->matches[index];
	if (match->covering.name)
		return &match->covering;
	if (naming->scopes.addresses[index].scope == SCOPE_NONE &&
	    code_extent_names(&naming->extents, naming->file, match, naming->addresses[index]))
		return &match->nearest;
	return NULL;
}

/* --- by DIE --- */

/* Sets the names of a function that has no symbol. */
static int set_die_texts(struct naming *naming, const struct die_name *die)
{
	buffer_clear(&naming->name);
	buffer_clear(&naming->linkage);
	if (die->linkage) {
		buffer_append_string(&naming->linkage, die->linkage);
		demangle(naming, die->linkage);
	} else {
		int status = die_qualified_name(&naming->parents, die, &naming->name);
		if (status < 0)
			return status;
	}
	return text_of(&naming->name) && text_of(&naming->linkage) ? 0 : ERROR_MEMORY;
}

/* gcc gives a lambda no name. The functions that it makes for it (members, instances of templates) have equal names
 * for all lambdas of equal type names. Their symbols have numbers, and their DIEs different offsets. */
static char *key_of_lambda(struct die_name *die, const char *linkage, const char *shown)
{
	char *key = NULL;
	if (linkage && strstr(shown, "{lambda("))
		return strndup(linkage, name_base_length(linkage));
	if (strcmp(die->name, "operator()") != 0 && !strstr(die->name, "<lambda("))
		return strdup(die->name);
	return asprintf(&key, "%s@%llx", die->name, (unsigned long long)dwarf_dieoffset(&die->origin)) < 0 ? NULL : key;
}

/* Returns a text that identifies a function whether or not its symbol was found, or NULL if the name identifies it.
 * The caller frees it. */
static char *key_of(struct die_name *die, const char *linkage, const char *shown, bool is_static)
{
	if (linkage && name_is_rust(linkage))
		return strndup(linkage, name_base_length(linkage));
	if (is_static && die && !die->linkage && die->name)
		return key_of_lambda(die, linkage, shown);
	return NULL;
}

/* Sets naming->note to "function TAB function around it", or to nothing. */
static int set_note(struct naming *naming, Dwarf_Die *host)
{
	struct die_name die = { 0 };
	if (host && host->addr)
		die_name_read(host, &naming->scopes.lines, &die);
	buffer_clear(&naming->note);
	if (die.name)
		buffer_printf(&naming->note, "%s\t%s", (const char *)naming->name.bytes, die.name);
	return text_of(&naming->note) ? 0 : ERROR_MEMORY;
}

/* `host`: the DIE of the function around a nested one, whose address may be NULL, or NULL. */
static int64_t add_function(struct naming *naming, const struct symbol *symbol, struct die_name *die, Dwarf_Die *host)
{
	const char *linkage = symbol ? symbol->name : die->linkage;
	bool is_static = die ? !die->is_external : symbol->scope != 0;
	int status = symbol ? set_symbol_texts(naming, symbol->name) : set_die_texts(naming, die);
	if (status == 0)
		status = set_note(naming, host);
	if (status < 0)
		return status;
	const char *name = (const char *)naming->name.bytes;
	char *key = key_of(die, linkage, name, is_static);
	struct source_place place = { .file = die ? die->file : NULL, .line = die ? die->line : 0 };
	if (!die)
		go_names_place(&naming->go, symbol->start, &place);
	const struct named_function function = {
		.name = name,
		.linkage = (const char *)naming->linkage.bytes,
		.key = key,
		.file = place.file,
		.line = place.line,
		.note = (const char *)naming->note.bytes,
		.scope = symbol ? symbol->scope : 0,
		.is_static = is_static,
		.role = role_of_name(naming->file, name),
	};
	int64_t number = naming_answer_function(naming->answer, &function);
	free(key);
	return number;
}

/* Returns the function of a scope, found by its abstract DIE, or PROFILE_NONE if it has no name, or a negative
 * error. `symbol` may be NULL. */
static int64_t function_of_scope(struct naming *naming, struct scope *scope, const struct symbol *symbol)
{
	Dwarf_Die origin = die_origin(&scope->die);
	uint64_t key = (uintptr_t)origin.addr;
	uint32_t known = hash_map_get(&naming->by_origin, key);
	if (known != HASH_MAP_NONE && !symbol)
		return known;
	struct die_name die;
	die_name_read(&scope->die, &naming->scopes.lines, &die);
	if (!die.name && !symbol)
		return PROFILE_NONE;
	int64_t number = add_function(naming, symbol, &die, known == HASH_MAP_NONE ? &scope->host : NULL);
	if (number < 0 || known != HASH_MAP_NONE)
		return number;
	int status = hash_map_put(&naming->by_origin, key, (uint32_t)number);
	return status < 0 ? status : number;
}

/* --- without symbol --- */

static int64_t add_nameless(struct naming *naming, const char *name, uint8_t role)
{
	return naming_answer_function(naming->answer, &(struct named_function){ .name = name, .role = role });
}

static int64_t function_of_plt(struct naming *naming, const char *symbol)
{
	static const char at_plt[] = "@plt";
	if (!symbol)
		return add_nameless(naming, "[plt]", ROLE_NONE);
	if (set_symbol_texts(naming, symbol) < 0)
		return ERROR_MEMORY;
	naming->name.size--; /* removes the NUL */
	buffer_append_string(&naming->name, at_plt);
	const char *name = text_of(&naming->name);
	return name ? add_nameless(naming, name, ROLE_NONE) : ERROR_MEMORY;
}

static int64_t function_without_symbol(struct naming *naming, size_t index)
{
	struct module_file *file = naming->file;
	uint64_t address = naming->addresses[index];
	uint64_t start = module_file_function(file, address);
	if (start && start == file->entry)
		return add_nameless(naming, "_start", ROLE_START);
	if (start && start == file->main)
		return add_nameless(naming, "main", ROLE_MAIN);
	/* clone3, unlike clone, is not exported, so it may have no name. */
	if ((file->is_c_library || file->is_static) && module_file_ends_thread(file, address + 1))
		return add_nameless(naming, "clone3", ROLE_START);
	size_t length;
	const struct profile *profile = naming->request->profile;
	const char *module =
		module_name(profile_string(profile, profile->modules[naming->request->module].path), &length);
	buffer_clear(&naming->name);
	buffer_append(&naming->name, module, length);
	start = code_extent_start(&naming->extents, file, &naming->matches[index], address);
	buffer_printf(&naming->name, "+0x%llx", (unsigned long long)start);
	const char *name = text_of(&naming->name);
	return name ? add_nameless(naming, name, ROLE_NONE) : ERROR_MEMORY;
}

/* --- all frames of an address --- */

static int64_t outermost(struct naming *naming, size_t index)
{
	const char *stub;
	uint64_t address = naming->addresses[index];
	const struct symbol *symbol = symbol_of(naming, index);
	uint32_t scope = naming->scopes.addresses[index].scope;
	while (scope != SCOPE_NONE && naming->scopes.scopes[scope].outer != SCOPE_NONE)
		scope = naming->scopes.scopes[scope].outer;
	if (scope == SCOPE_NONE && (!symbol || symbol->size == 0) && plt_find(naming->file, address, &stub))
		return function_of_plt(naming, stub);
	int64_t id = PROFILE_NONE;
	if (scope != SCOPE_NONE)
		id = function_of_scope(naming, &naming->scopes.scopes[scope], symbol);
	else if (symbol)
		id = add_function(naming, symbol, NULL, NULL);
	return id == PROFILE_NONE ? function_without_symbol(naming, index) : id;
}

static int add_frame(struct naming *naming, int64_t function, const struct source_place *place, bool inlined)
{
	if (function < 0)
		return (int)function;
	const struct named_frame frame = { .function = (uint32_t)function,
					   .file = place->file,
					   .line = place->line,
					   .discriminator = place->discriminator,
					   .inlined = inlined };
	return naming_answer_frame(naming->answer, &frame);
}

static int add_frames(struct naming *naming, size_t index)
{
	struct scopes *scopes = &naming->scopes;
	const struct scoped_address *address = &scopes->addresses[index];
	struct source_place place = { address->file, address->line, address->discriminator };
	int status = 0;
	for (uint32_t i = address->scope; i != SCOPE_NONE && status == 0;) {
		struct scope *scope = &scopes->scopes[i];
		if (scope->outer == SCOPE_NONE)
			break;
		int64_t function = scope->is_part ? PROFILE_NONE : function_of_scope(naming, scope, NULL);
		if (function != PROFILE_NONE)
			status = add_frame(naming, function, &place, true);
		if (function != PROFILE_NONE || scope->is_part)
			place = scope_call_place(scopes, scope);
		i = scope->outer;
	}
	if (address->scope == SCOPE_NONE)
		go_names_place(&naming->go, naming->addresses[index], &place);
	return status < 0 ? status : add_frame(naming, naming->outer[index], &place, false);
}

static int naming_init(struct naming *naming)
{
	size_t room = naming->count ? naming->count : 1;
	hash_map_init(&naming->by_origin);
	die_parents_init(&naming->parents);
	buffer_init(&naming->name);
	buffer_init(&naming->linkage);
	buffer_init(&naming->note);
	naming->addresses = calloc(room, sizeof(*naming->addresses));
	naming->matches = calloc(room, sizeof(*naming->matches));
	naming->outer = calloc(room, sizeof(*naming->outer));
	if (!naming->addresses || !naming->matches || !naming->outer)
		return ERROR_MEMORY;
	for (size_t i = 0; i < naming->count; i++)
		naming->addresses[i] = frames_request_address(naming->request, i);
	return 0;
}

static void naming_release(struct naming *naming)
{
	free(naming->addresses);
	free(naming->matches);
	free(naming->outer);
	scopes_release(&naming->scopes);
	hash_map_release(&naming->by_origin);
	die_parents_release(&naming->parents);
	buffer_release(&naming->name);
	buffer_release(&naming->linkage);
	buffer_release(&naming->note);
}

/* Adds outermost functions first, so that a function with a symbol keeps the symbol's name where it is inlined. */
static int add_all(struct naming *naming, struct progress *progress)
{
	for (size_t i = 0; i < naming->count; i++) {
		int64_t function = outermost(naming, i);
		if (function < 0)
			return (int)function;
		naming->outer[i] = (uint32_t)function;
		progress_tick(progress);
	}
	for (size_t i = 0; i < naming->count; i++) {
		int status = add_frames(naming, i);
		if (status < 0)
			return status;
		progress->done++;
		progress_tick(progress);
	}
	return 0;
}

int module_names_add(const struct frames_request *request, struct module_file *file, struct naming_answer *answer)
{
	struct naming naming = { .request = request, .answer = answer, .file = file, .count = request->count };
	struct progress *progress = request->progress;
	int status = naming_init(&naming);
	if (status == 0)
		status = symbols_match(file, naming.addresses, naming.count, naming.matches);
	go_names_open(&naming.go, file);
	if (status == 0)
		go_names_match(&naming.go, naming.addresses, naming.count, naming.matches);
	progress_report(progress);
	if (status == 0)
		status = scopes_find(&naming.scopes, file, naming.addresses, naming.count, progress);
	if (status == 0)
		status = add_all(&naming, progress);
	naming_release(&naming);
	return status;
}
