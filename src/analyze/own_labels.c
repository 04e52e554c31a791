#include "analyze/own_labels.h"

#include <stdlib.h>
#include <string.h>

#include "base/cxx_name.h"
#include "base/path.h"

static bool begins_with_any(const char *text, const char *const *beginnings)
{
	for (size_t i = 0; beginnings[i]; i++)
		if (strncmp(text, beginnings[i], strlen(beginnings[i])) == 0)
			return true;
	return false;
}

static bool is_library_file(const char *path)
{
	static const char *const folders[] = {
		"/usr/include/",       "/usr/lib/",      "/usr/share/", "/usr/src/", "/lib/", "/rustc/",
		"/usr/local/include/", "/usr/local/go/", "node:",       "<frozen ",  NULL
	};
	static const char *const parts[] = { "/include/c++/", "/.cargo/registry/", "/lib/rustlib/",
					     "/go/pkg/mod/",  "/lib/python",       "/node_modules/" };
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
	/* Imported profiles have modules of names. */
	bool has_path = module->kind == MODULE_FILE || module->kind == MODULE_NAMES;
	return has_path && begins_with_any(path, folders) && strstr(path_basename(path), ".so");
}

/* Returns whether code only jumps to a function of another module. */
static bool is_linkage(const char *name, size_t length)
{
	static const char end[] = "@plt";
	size_t end_length = sizeof(end) - 1;
	return length > end_length && strcmp(name + length - end_length, end) == 0;
}

/* Returns whether a name is of the library of a language whose source files are stated without their folders. */
static bool is_java_library(const char *name)
{
	static const char *const beginnings[] = { "java.", "javax.", "jdk.", "sun.", NULL };
	return begins_with_any(name + cxx_name_parse(name, strlen(name)).start, beginnings);
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

/* --- interpreters, and the runtimes of generated code --- */

/* Bits of a node, and of the module of its code. */
enum {
	ABOVE_LANGUAGE = 1, /* a function below the node is interpreted or generated */
	RUNS_LANGUAGE = 2,  /* a child of the node is such a function */
	INTERPRETS = 4,     /* a child of the node is interpreted */
	IS_INSTALLED = 8,   /* of a module: it is above such functions, and in a folder of the system */
	HAS_SOURCE =
		16, /* of a module: some of its generated functions have a source file, so the others are the runtime's */
};

/* Returns whether a location is in a function of a language that is interpreted, or compiled at run time. */
static bool is_of_language(const struct profile *profile, const struct profile_location *location)
{
	if (location->first_frame == PROFILE_NONE || location->frame_count == 0)
		return false;
	const struct profile_frame *frame = &profile->frames[location->first_frame];
	bool has_name = profile_string(profile, profile->functions[frame->function].name)[0] != '[';
	return frame->kind == FRAME_INTERPRETER || (frame->kind == FRAME_JIT && has_name);
}

static bool is_in_system(const char *path)
{
	static const char *const folders[] = { "/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/opt/", NULL };
	return begins_with_any(path, folders);
}

/* Returns the bits that a module gets from one of the nodes of its code. */
static uint8_t bits_of_code(const struct profile *profile, const struct profile_module *module, uint8_t node_bits)
{
	const char *path = profile_string(profile, module->path);
	if (module->kind != MODULE_FILE && (module->kind != MODULE_NAMES || path[0] == '['))
		return 0;
	bool is_installed = (node_bits & ABOVE_LANGUAGE) && is_in_system(path);
	return (node_bits & (RUNS_LANGUAGE | INTERPRETS)) | (is_installed ? IS_INSTALLED : 0);
}

/* Sets the bits of each module. Parents precede their children. `of_node` [node_count] are zeros. */
static void find_runtimes(const struct profile *profile, uint8_t *of_module, uint8_t *of_node)
{
	for (size_t i = profile->node_count; i-- > 1;) {
		const struct profile_node *node = &profile->nodes[i];
		const struct profile_location *location = &profile->locations[node->location];
		uint8_t *module = &of_module[location->module];
		if (!is_of_language(profile, location)) {
			*module |= bits_of_code(profile, &profile->modules[location->module], of_node[i]);
			of_node[node->parent] |= of_node[i] & ABOVE_LANGUAGE;
			continue;
		}
		const struct profile_frame *frame = &profile->frames[location->first_frame];
		bool is_interpreted = frame->kind == FRAME_INTERPRETER,
		     has_file = profile_string(profile, frame->file)[0];
		of_node[node->parent] |= ABOVE_LANGUAGE | RUNS_LANGUAGE | (is_interpreted ? INTERPRETS : 0);
		*module |= has_file ? HAS_SOURCE : 0;
	}
}

/* --- the labels --- */

static bool is_own(const struct view *view, const uint8_t *of_module, const struct view_label *label)
{
	const struct profile *profile = view->profile;
	const struct profile_module *module = label->module == PROFILE_NONE ? NULL : &profile->modules[label->module];
	const struct profile_frame *frame = label->frame == PROFILE_NONE ? NULL : &profile->frames[label->frame];
	const struct profile_function *function =
		label->function == PROFILE_NONE ? NULL : &profile->functions[label->function];
	uint8_t runtime = module ? of_module[label->module] : 0;
	bool is_native = !frame || frame->kind == FRAME_NATIVE, is_generated = frame && frame->kind == FRAME_JIT;
	if ((module && is_library_module(module, profile_string(profile, module->path))) ||
	    (function && (function->role == ROLE_START || function->role == ROLE_CREATE)) ||
	    (is_native && (runtime & (INTERPRETS | IS_INSTALLED))) || is_java_library(label->text))
		return false;
	const char *file = function ? profile_string(profile, function->file) : "";
	if (!file[0] && frame)
		file = profile_string(profile, frame->file);
	if (file[0])
		return !is_library_file(file);
	return !is_library_name(label->text) && !(is_native && (runtime & RUNS_LANGUAGE)) &&
	       !(is_generated && (runtime & HAS_SOURCE));
}

bool *own_labels_find(const struct view *view)
{
	const struct profile *profile = view->profile;
	bool *found = calloc(view->label_count + 1, sizeof(*found));
	uint8_t *of_module = calloc(profile->module_count + 1, sizeof(*of_module));
	uint8_t *of_node = calloc(profile->node_count + 1, sizeof(*of_node));
	if (found && of_module && of_node) {
		find_runtimes(profile, of_module, of_node);
		for (size_t i = 0; i < view->label_count; i++)
			found[i] = is_own(view, of_module, &view->labels[i]);
	} else {
		free(found);
		found = NULL;
	}
	free(of_module);
	free(of_node);
	return found;
}
