#include "frames/missing_names.h"

#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/error.h"
#include "elf/elf_file.h"
#include "frames/debug_package.h"
#include "frames/jail/download.h"
#include "profile/file_users.h"
#include "profile/findings.h"
#include "profile/generated_code.h"
#include "profile/module_name.h"
#include "profile/nameless.h"
#include "unwind/unwind.h"

enum { MODULES_MOST = 3 };

/* Whether the file at the module's path is the recorded file: in a container, the path leads to another file. Sets is_haskell
 * for a file of GHC that was not stripped. */
static bool is_here(const struct profile *profile, const struct profile_module *module, struct nameless_source *source)
{
	const char *path = profile_string(profile, module->path);
	int fd = file_users_open_once(profile, path);
	struct elf_file *file = fd >= 0 ? elf_file_open_any(fd, path, NULL) : NULL;
	bool is_like = file && module->build_id_bytes > 0 &&
		       elf_file_has_build_id(file, module->build_id, module->build_id_bytes);
	source->is_haskell = is_like && elf_file_section(file, ".symtab").bytes && unwind_is_haskell(file);
	elf_file_free(file);
	if (fd >= 0)
		close(fd);
	return is_like;
}

/* Notes the remedy for a module, if the databases of this system can have one. */
static int note_remedy(struct profile *profile, const struct profile_module *module)
{
	const char *path = profile_string(profile, module->path);
	struct debug_package package;
	struct nameless_source source = { .package = NULL };
	if (!is_here(profile, module, &source))
		return 0;
	debug_package_find("", path, &package);
	source.package = package.name[0] ? package.name : NULL;
	source.server = download_has_servers() ? NULL : package.server;
	source.is_own = package.is_searched && !package.name[0];
	return nameless_note_remedy(profile, path, &source);
}

static int add_one(struct profile *profile, const struct nameless_module *hot)
{
	const double percent = 100;
	const struct profile_module *module = &profile->modules[hot->module];
	int status = note_remedy(profile, module);
	if (status < 0)
		return status;
	size_t length;
	const char *path = profile_string(profile, module->path), *name = module_name(path, &length);
	struct buffer remedy;
	buffer_init(&remedy);
	nameless_append_remedy(profile, path, &remedy);
	buffer_append_byte(&remedy, 0);
	if (buffer_error(&remedy))
		status = ERROR_MEMORY;
	else
		finding_add(profile, FINDING_NAMES_MISSING, hot->hits,
			    "%.0f %% of %s in %.*s, without names of functions: %s", percent * hot->share,
			    profile_string(profile, profile->resources[hot->resource].name), (int)length, name,
			    (const char *)remedy.bytes);
	buffer_release(&remedy);
	return status < 0 ? status : profile->findings_error;
}

/* --- generated code --- */

enum { HOT_PERCENT = 5 };

struct largest_use {
	uint64_t hits;
	double percent;
	const char *resource;
};

/* Returns whether a location is chosen. `which`: of find_use. */
typedef bool is_location(const struct profile *profile, uint32_t location, const void *which);

/* Finds the resource of which the chosen locations themselves use the largest part. */
static struct largest_use find_use(const struct profile *profile, const struct leaf_hits *leaf_hits,
				   is_location *is_chosen, const void *which)
{
	static const double percent = 100;
	struct largest_use largest = { 0 };
	for (size_t resource = 0; resource < leaf_hits->count; resource++) {
		const struct leaf_hits_row *row = &leaf_hits->rows[resource];
		uint64_t hits = 0;
		for (size_t i = 0; i < row->count && i < profile->location_count; i++)
			hits += row->hits[i] > 0 && is_chosen(profile, (uint32_t)i, which) ? row->hits[i] : 0;
		double share = row->all ? percent * (double)hits / (double)row->all : 0;
		if (share > largest.percent)
			largest = (struct largest_use){ hits, share,
							profile_string(profile, profile->resources[resource].name) };
	}
	return largest;
}

/* HotSpot's interpreter is generated code of this name in maps and dumps. */
static bool is_java_interpreter(const struct profile *profile, uint32_t location, const void *which)
{
	(void)which;
	const struct profile_location *at = &profile->locations[location];
	return profile->modules[at->module].kind == MODULE_ANON && at->first_frame != PROFILE_NONE &&
	       at->frame_count > 0 &&
	       strcmp(profile_string(profile, profile->functions[profile->frames[at->first_frame].function].name),
		      "Interpreter") == 0;
}

static bool is_nameless(const struct profile *profile, uint32_t location, const void *which)
{
	(void)which;
	return generated_code_is_nameless(profile, location);
}

/* Only a core of SBCL is generated code with a path. */
static bool has_lisp_core(const struct profile *profile)
{
	for (size_t i = 0; i < profile->module_count; i++)
		if (profile->modules[i].kind == MODULE_ANON &&
		    strcmp(profile_string(profile, profile->modules[i].path), GENERATED_CODE_NAMELESS) != 0)
			return true;
	return false;
}

/* --- interpreters --- */

/* The interpreters whose functions no backend shows, and the beginnings of the names of their programs and, after "lib", libraries. */
static const struct interpreter_files {
	const char *language, *files[3];
} interpreters[] = {
	{ "Perl", { "perl" } },         { "PHP", { "php", "php-fpm", "php-cgi" } }, { "Ruby", { "ruby" } },
	{ "Lua", { "lua", "luajit" } }, { "Tcl", { "tcl", "tclsh", "wish" } },      { "R", { "R" } },
};
enum { INTERPRETERS = sizeof(interpreters) / sizeof(interpreters[0]), FILES = 3 };

/* Returns whether a name is NAME with a version, if any: perl, php8.2, ruby-3.1.so.3.1. */
static bool is_version_of(const char *name, const char *file)
{
	static const char digits[] = "0123456789", ends[] = "0123456789. ";
	size_t bytes = strlen(file);
	if (strncmp(name, file, bytes) != 0)
		return false;
	name += bytes;
	return strchr(ends, *name) || (*name == '-' && name[1] && strchr(digits, name[1]));
}

/* Returns whether a location is in a file of the interpreter `which`. */
static bool is_of_interpreter(const struct profile *profile, uint32_t location, const void *which)
{
	static const char library[] = "lib";
	const struct interpreter_files *interpreter = which;
	const struct profile_module *module = &profile->modules[profile->locations[location].module];
	size_t length, prefix = sizeof(library) - 1;
	const char *name = module_name(profile_string(profile, module->path), &length);
	bool is_its = false;
	name += strncmp(name, library, prefix) == 0 ? prefix : 0;
	for (size_t i = 0; i < FILES && interpreter->files[i]; i++)
		is_its = is_its || is_version_of(name, interpreter->files[i]);
	return is_its && module->kind == MODULE_FILE;
}

static void add_interpreters(struct profile *profile, const struct leaf_hits *leaf_hits)
{
	struct largest_use largest = { 0 };
	const char *language = NULL;
	for (size_t i = 0; i < INTERPRETERS; i++) {
		struct largest_use use = find_use(profile, leaf_hits, is_of_interpreter, &interpreters[i]);
		if (use.percent <= largest.percent)
			continue;
		largest = use;
		language = interpreters[i].language;
	}
	if (largest.percent >= HOT_PERCENT)
		finding_add(profile, FINDING_INTERPRETER_NOT_SHOWN, 0,
			    "%.0f %% of %s in an interpreter whose functions are not shown: %s", largest.percent,
			    largest.resource, language);
}

static void add_generated(struct profile *profile, const struct leaf_hits *leaf_hits)
{
	struct largest_use use = find_use(profile, leaf_hits, is_java_interpreter, NULL);
	if (use.percent >= HOT_PERCENT)
		finding_add(profile, FINDING_INTERPRETER_NOT_SHOWN, 0,
			    "%.0f %% of %s in Java methods that were interpreted, without names (java -Xcomp compiles "
			    "them)",
			    use.percent, use.resource);
	use = has_lisp_core(profile) ? find_use(profile, leaf_hits, is_nameless, NULL) : (struct largest_use){ 0 };
	if (use.percent >= HOT_PERCENT)
		finding_add(profile, FINDING_GENERATED_NAMELESS, use.hits,
			    "%.0f %% of %s in compiled Lisp without names (sbcl --load perf-map.lisp, of share/cpprof)",
			    use.percent, use.resource);
}

int missing_names_add(struct profile *profile, const struct leaf_hits *leaf_hits)
{
	struct nameless_module hot[MODULES_MOST];
	int64_t count = nameless_find_hot(profile, leaf_hits, hot, MODULES_MOST);
	int status = count < 0 ? (int)count : 0;
	for (int64_t i = 0; i < count && status == 0; i++)
		status = add_one(profile, &hot[i]);
	add_generated(profile, leaf_hits);
	add_interpreters(profile, leaf_hits);
	return status < 0 ? status : profile->findings_error;
}

int missing_names_add_all(struct profile *profile)
{
	struct leaf_hits leaf_hits = { 0 };
	int status = leaf_hits_add(&leaf_hits, profile);
	if (status == 0)
		status = missing_names_add(profile, &leaf_hits);
	leaf_hits_release(&leaf_hits);
	return status;
}
