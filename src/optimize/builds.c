#include "optimize/builds.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/path.h"
#include "collect/source/compile/build.h"
#include "collect/source/compile/scratch.h"

static const struct optimize_kind kinds[] = {
	{ "clang",
	  "clang++",
	  "-g -fdebug-info-for-profiling",
	  "-fprofile-sample-use=/dev/null",
	  "-fprofile-sample-use=",
	  " -Wno-unused-command-line-argument",
	  { "llvm-profile", "llvm-profile-contexts", "llvm-profile-flat" } },
	{ "gcc", "g++", "-g", "-fno-auto-profile", "-fauto-profile=", "", { "gcc-profile" } },
};
static const struct optimize_kind own_kind = { .flags = "-g", .use = "", .more = "" };
enum { KIND_COUNT = sizeof(kinds) / sizeof(kinds[0]) };

/* The variables have the rest of PATH, the log, and the profile. They are not in the text, so that no name needs
 * quotes. The flags are last, so that they win. */
static const char wrapper[] = "#!/bin/sh\n"
			      "echo \"$*\" >>\"$CPPROF_OPTIMIZE_LOG\"\n"
			      "PATH=$CPPROF_OPTIMIZE_PATH\n"
			      "export PATH\n"
			      "exec %s \"$@\" %s ${CPPROF_OPTIMIZE_PROFILE:+\"%s$CPPROF_OPTIMIZE_PROFILE\"}%s\n";

static int run(struct word_list *words, const struct process_streams *streams, int *status, struct error *error)
{
	if (words->error)
		return error_memory(error);
	*status = process_run(words->items, streams);
	return *status < 0 ? error_set_errno(error, "cannot run '%s'", words->items[0]) : 0;
}

/* --- the folder --- */

static int write_wrapper(const struct optimize_folder *folder, const char *name, const char *compiler,
			 struct error *error)
{
	char path[PATH_MAX + 96];
	snprintf(path, sizeof(path), "%s/bin/%s", folder->path, name);
	FILE *file = fopen(path, "we");
	if (!file)
		return error_set_errno(error, "cannot write '%s'", path);
	fprintf(file, wrapper, compiler, folder->kind->flags, folder->kind->use, folder->kind->more);
	bool failed = ferror(file);
	if (fclose(file) || failed || chmod(path, 0755))
		return error_set_errno(error, "cannot write '%s'", path);
	return 0;
}

static int write_wrappers(const struct optimize_folder *folder, struct error *error)
{
	const struct {
		const char *name, *compiler;
	} rows[] = {
		{ "cc", folder->compiler },
		{ "gcc", folder->compiler },
		{ "clang", folder->compiler },
		{ "c++", folder->compiler_cxx },
		{ "g++", folder->compiler_cxx },
		{ "clang++", folder->compiler_cxx },
		{ folder->compiler, folder->compiler },
		{ folder->compiler ? folder->compiler_cxx : NULL, folder->compiler_cxx },
	};
	int code = 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]) && code == 0; i++) {
		char *own = folder->compiler || !rows[i].name ? NULL : path_search(rows[i].name);
		if (folder->compiler || own)
			code = write_wrapper(folder, rows[i].name, own ? rows[i].name : rows[i].compiler, error);
		free(own);
	}
	return code;
}

/* Compiles nothing, with our flags. */
static int check_compiler(const struct optimize_folder *folder, struct error *error)
{
	struct word_list words = { 0 };
	const struct process_streams streams = { .input = "/dev/null", .errors = "/dev/null" };
	int status = 0;
	word_list_add(&words, "sh");
	word_list_add(&words, "-c");
	word_list_add(&words, "exec %s %s %s -fsyntax-only -xc -", folder->compiler, folder->kind->flags,
		      folder->kind->check);
	int code = run(&words, &streams, &status, error);
	word_list_release(&words);
	if (code == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 127)
		return error_set(error, ERROR_NOT_FOUND, "cannot run '%s': not found", folder->compiler);
	if (code == 0 && status != 0)
		code = error_set(error, ERROR_NOT_FOUND,
				 "cannot optimize with '%s': it lacks %s (--compiler clang-14, or gcc)",
				 folder->compiler, folder->kind->use);
	return code;
}

/* Finds the kind of a compiler by its name, with a version or without. */
static int choose_kind(struct optimize_folder *folder, const char *compiler, struct error *error)
{
	folder->compiler = compiler;
	if (!compiler) {
		folder->kind = &own_kind;
		return 0;
	}
	for (size_t i = 0; i < KIND_COUNT; i++) {
		size_t length = strlen(kinds[i].name);
		if (strncmp(compiler, kinds[i].name, length) != 0 || strlen(compiler) > 32 ||
		    strspn(compiler + length, "-.0123456789") != strlen(compiler + length))
			continue;
		folder->kind = &kinds[i];
		snprintf(folder->compiler_cxx, sizeof(folder->compiler_cxx), "%s%s", kinds[i].name_cxx,
			 compiler + length);
		return 0;
	}
	return error_set(error, ERROR_USAGE,
			 "cannot optimize with '%s': only clang and gcc read these profiles (--compiler clang-14)",
			 compiler);
}

static int make_folder(struct optimize_folder *folder, const char *path, struct error *error)
{
	int code = 0;
	process_block_signals();
	if (mkdir(path, 0777) < 0)
		code = errno == EEXIST
			       ? error_set(error, ERROR_SYSTEM,
					   "cannot make the folder '%s': it exists (remove it, or name another: "
					   "--directory DIR)",
					   path)
			       : error_set_errno(error, "cannot make the folder '%s'", path);
	else if (!realpath(path, folder->path))
		code = error_set_errno(error, "cannot make the folder '%s'", path);
	if (code == 0)
		scratch_adopt(folder->path);
	else
		folder->path[0] = 0;
	process_unblock_signals();
	return code;
}

int optimize_folder_make(struct optimize_folder *folder, const char *path, const char *compiler, struct error *error)
{
	char bin[PATH_MAX + 8];
	int code = choose_kind(folder, compiler, error);
	if (code == 0 && compiler)
		code = check_compiler(folder, error);
	if (code < 0)
		return code;
	code = make_folder(folder, path, error);
	snprintf(bin, sizeof(bin), "%s/bin", folder->path);
	if (code == 0 && mkdir(bin, 0777) < 0)
		code = error_set_errno(error, "cannot make the folder '%s'", bin);
	if (code == 0)
		code = write_wrappers(folder, error);
	if (code < 0)
		optimize_folder_release(folder);
	return code;
}

void optimize_folder_keep(struct optimize_folder *folder)
{
	folder->is_kept = true;
	scratch_adopt(NULL);
}

void optimize_folder_release(struct optimize_folder *folder)
{
	if (folder->path[0] && !folder->is_kept)
		scratch_remove(folder->path);
	folder->path[0] = 0;
	scratch_adopt(NULL);
}

/* --- copies --- */

/* Returns whether an entry of the working folder is our own folder. */
static bool is_own(const struct optimize_folder *folder, const char *name)
{
	struct stat own, entry;
	return stat(folder->path, &own) == 0 && stat(name, &entry) == 0 && own.st_dev == entry.st_dev &&
	       own.st_ino == entry.st_ino;
}

/* Returns whether an entry is the folder of another run. */
static bool is_result(const char *name)
{
	char log[NAME_MAX + 32];
	snprintf(log, sizeof(log), "%s/before.compiled", name);
	return access(log, F_OK) == 0;
}

static int copy_to(const struct optimize_folder *folder, const char *path, struct error *error)
{
	struct word_list words = { 0 };
	const struct process_streams streams = { 0 };
	DIR *here = opendir(".");
	int status = 0, code = here ? 0 : error_set_errno(error, "cannot read the working folder");
	size_t entries = 0;
	word_list_add(&words, "cp");
	word_list_add(&words, "-a");
	word_list_add(&words, "--");
	for (struct dirent *entry; here && (entry = readdir(here));) {
		const char *name = entry->d_name;
		if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0 || is_own(folder, name) || is_result(name))
			continue;
		word_list_add(&words, "%s", name);
		entries++;
	}
	if (here)
		closedir(here);
	word_list_add(&words, "%s", path);
	if (code == 0 && mkdir(path, 0777) < 0)
		code = error_set_errno(error, "cannot make the folder '%s'", path);
	if (code == 0 && entries > 0)
		code = run(&words, &streams, &status, error);
	if (code == 0 && status != 0)
		code = error_set(error, ERROR_SYSTEM, "cannot copy the working folder to '%s'", path);
	word_list_release(&words);
	return code;
}

/* --- builds --- */

static void add_variables(struct word_list *words, const struct optimize_folder *folder, const char *log,
			  const char *profile)
{
	const char *path = getenv("PATH");
	path = path ? path : "/usr/local/bin:/usr/bin:/bin";
	word_list_add(words, "env");
	word_list_add(words, "PATH=%s/bin:%s", folder->path, path);
	if (folder->compiler) {
		word_list_add(words, "CC=%s", folder->compiler);
		word_list_add(words, "CXX=%s", folder->compiler_cxx);
	}
	word_list_add(words, "CPPROF_OPTIMIZE_PATH=%s", path);
	word_list_add(words, "CPPROF_OPTIMIZE_LOG=%s", log);
	word_list_add(words, "CPPROF_OPTIMIZE_PROFILE=%s", profile ? profile : "");
}

static int check_build(int status, const char *name, const char *log, struct error *error)
{
	struct stat file;
	if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		return error_set(error, ERROR_NOT_FOUND, "the build '%s' failed", name);
	if (log && (stat(log, &file) < 0 || file.st_size == 0))
		return error_set(error, ERROR_NOT_FOUND,
				 "the build compiled nothing with the compiler that cpprof put in front of PATH "
				 "(remove old objects, "
				 "as by 'make clean', and use a compiler without a path, as CC=clang)");
	return 0;
}

/* Applies a patch in a copy. */
static int apply_patch(const char *path, const char *patch, struct error *error)
{
	struct word_list words = { 0 };
	const struct process_streams streams = { .input = patch };
	int status = 0;
	word_list_add(&words, "sh");
	word_list_add(&words, "-c");
	word_list_add(&words, "exec patch -p1 -s -N -r - -d \"$1\" >&2");
	word_list_add(&words, "sh");
	word_list_add(&words, "%s", path);
	int code = run(&words, &streams, &status, error);
	word_list_release(&words);
	if (code == 0 && status != 0)
		code = error_set(error, ERROR_NOT_FOUND, "cannot apply the patch '%s' to the copy '%s'", patch, path);
	return code;
}

int optimize_build(const struct optimize_folder *folder, const char *name, char *const *command,
		   const struct optimize_change *change, struct error *error)
{
	char path[PATH_MAX + 16], log[PATH_MAX + 32];
	struct word_list words = { 0 };
	const struct process_streams streams = { 0 };
	int status = 0;
	snprintf(path, sizeof(path), "%s/%s", folder->path, name);
	snprintf(log, sizeof(log), "%s/%s.compiled", folder->path, name);
	int code = copy_to(folder, path, error);
	if (code == 0 && change && change->patch)
		code = apply_patch(path, change->patch, error);
	if (code < 0)
		return code;
	bool is_plain = change && change->is_plain;
	if (!is_plain)
		add_variables(&words, folder, log, change ? change->profile : NULL);
	word_list_add(&words, "sh");
	word_list_add(&words, "-c");
	word_list_add(&words, "cd \"$1\" && shift && exec \"$@\" >&2");
	word_list_add(&words, "sh");
	word_list_add(&words, "%s", path);
	for (size_t i = 0; command[i]; i++)
		word_list_add(&words, "%s", command[i]);
	code = run(&words, &streams, &status, error);
	word_list_release(&words);
	return code < 0 ? code : check_build(status, name, is_plain ? NULL : log, error);
}
