/*
 * The ELF files that samples fall into. Each file is opened once for all processes that map it:
 * when its map is reported without a build-id, otherwise when the first sample needs it, which also
 * builds its unwind table. The descriptor stays open, so that addresses in a file that is deleted
 * or replaced later can still be named.
 *
 * A program may map ever new files. Half of the descriptors that this process may have are for
 * files; beyond that, a file is closed that was not used for long, and opened again if it is needed
 * and still there. After MODULES_MAX modules, further files are one module.
 */
#ifndef COLLECT_SAMPLE_STATE_MODULES_H
#define COLLECT_SAMPLE_STATE_MODULES_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "abi/interpreter.h"
#include "collect/sample/state/mapped_file.h"
#include "elf/elf_file.h"
#include "profile/profile.h"
#include "unwind/table_parts.h"
#include "unwind/unwind.h"

struct modules;

enum { MODULES_MAX = 1 << 16 };

/* A view of one module; the tables belong to it. */
struct module {
	uint32_t id;                /* in the profile's modules */
	uint8_t kind;               /* enum module_kind */
	bool loaded;                /* the file was opened, or that was tried */
	bool table_tried;           /* the table was built, or that was tried */
	bool is_lisp_core;          /* MODULE_ANON in a core of SBCL, which is a file or the end of a program */
	bool is_interpreter;        /* by its name, or by what it exports once its table was tried */
	uint32_t generated;         /* of MODULE_ANON: number of the process with this code */
	bool has_dump;              /* of MODULE_ANON: fd is a jitdump */
	int fd;                     /* of the file, or of MODULE_ANON's perf map or jitdump; -1: none */
	bool is_walked;             /* a walk went through its code */
	bool was_used;              /* since the search for a file to close passed by */
	struct stat closed;         /* the file that was closed; st_ino 0: none was */
	struct elf_file *file;      /* NULL: not readable */
	struct error why_no_file;   /* code 0: no attempt to open it failed */
	struct unwind_table *table; /* of all its code; NULL: none, or in parts */
	struct unwind_parts *parts; /* NULL: none */
	/* The interpreter in the file, with ELF virtual addresses; kind INTERPRETER_NONE: none,
	 * or of an unknown version. */
	struct interpreter interpreter;
	const char *language;         /* of the interpreter; NULL: there is none */
	uint32_t interpreter_version; /* as it states it; 0: it does not */
};

/* Returns NULL if memory ran out. Adds each module to `profile`, and does not own it. */
struct modules *modules_new(struct profile *profile);
void modules_free(struct modules *modules); /* NULL is fine */

/* For the maps of an earlier recording, before the first one: files are opened by their paths.
 * Perf maps of generated code count if they are not older than `since_s`, in seconds of
 * CLOCK_REALTIME. `is_other_kernel`: the recording's vDSO is not ours. */
void modules_set_past(struct modules *modules, int64_t since_s, bool is_other_kernel);

/* Returns the index of the module of a mapped file, added if new, or ERROR_MEMORY. Files with
 * the same path are one module if they have the same build-id or, without one, the same device
 * and inode. All memory of a process without a file is one module, "[anon]", and so is a core of
 * SBCL in each of its processes. Paths are the kernel's: also "[vdso]" and "//anon". */
int64_t modules_add(struct modules *modules, const struct mapped_file *mapped);

/* Returns whether a module is a core of SBCL: then all code without an ELF file in its process is compiled Lisp. */
bool modules_is_lisp_core(const struct modules *modules, uint32_t index);

/* Before the first module: large files have their tables in parts, until the whole one is needed. */
void modules_make_parts(struct modules *modules);
/* Notes that a walk goes through a module. */
void modules_walk(struct modules *modules, struct module *module);
/* Returns the number of modules through which walks went, and of parts that were made: if it has grown, backends may get more tables. */
uint32_t modules_walked(const struct modules *modules);
/* Returns whether a backend that gets code late needs the table of a module: a walk went through it, or it is an interpreter. */
bool modules_is_needed(const struct modules *modules, uint32_t index);

/* Makes the table of all code of a module. Returns it, or NULL if there is none. */
const struct unwind_table *modules_whole_table(struct module *module);
/* Returns the table for an ELF virtual address, made if it is new, or NULL if there is none. It has the rows of the whole table. Valid until
 * modules_settle. */
const struct unwind_table *modules_table_for(struct modules *modules, struct module *module, uint64_t address);
/* Returns the table that is there for an ELF virtual address, or NULL. `module` may be NULL. */
const struct unwind_table *modules_table_at(const struct module *module, uint64_t address);
/* Frees parts if there are many. */
void modules_settle(struct modules *modules);

/* Frees the tables and what was read of the files, when there are no more walks. The descriptors stay. */
void modules_end_walks(struct modules *modules);

/* Returns whether a module is an interpreter that `interpreters_find` knows, as far as that is known without opening the file. */
bool modules_is_interpreter(const struct modules *modules, uint32_t index);

/* Returns the unwind table of such code, or NULL if there is no memory. Valid as long as the modules are. */
const struct unwind_table *modules_lisp_table(struct modules *modules);

/* Returns the index of the module of something without addresses, named "[...]": kernel work
 * (MODULE_KERNEL), thread starts (MODULE_THREAD), ...; or ERROR_MEMORY. */
int64_t modules_add_name(struct modules *modules, const char *name, enum module_kind kind);

/* Returns a module by index. Opens its file at the first use, through the process and addresses
 * in `mapped`, whose other members are unused; NULL: through its path. Unless the caller needs
 * the file, one that was closed stays so: the table suffices. Valid until the next modules_add
 * or modules_get. */
struct module *modules_get(struct modules *modules, uint32_t index, const struct mapped_file *mapped, bool needs_file);

/* Returns a module by its id in the profile, or NULL. Opens no file. */
const struct module *modules_by_id(const struct modules *modules, uint32_t id);

/* Returns a descriptor of the file of a profile's module, or of the perf map of generated code,
 * for frames_options, or a negative error if there is none. The caller closes it. `context` is
 * the modules. */
int modules_open_for_names(void *context, uint32_t profile_module, struct error *error);

#endif
