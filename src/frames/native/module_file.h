/*
 * The ELF file of one module while its addresses are named: elfutils' view of it (symbols and debug information,
 * also from separate files), the bytes of its code, and the starts of its functions from .eh_frame. The files are read,
 * not mapped, and only regular files are opened: their owner may be hostile.
 *
 * Life cycle: module_file_open or module_file_open_vdso, queries, module_file_close. All addresses are ELF virtual
 * addresses.
 */
#ifndef FRAMES_NATIVE_MODULE_FILE_H
#define FRAMES_NATIVE_MODULE_FILE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "elf/elf_file.h"
#include "elf/elf_image.h"
#include "unwind/fde_search.h"
#include "unwind/unwind.h"

/* A file as elfutils sees it. */
struct module_part {
	struct elf_image image;
	Dwfl *dwfl; /* owns image.elf */
	Dwfl_Module *module;
	char *path; /* owned; NULL: unknown */
};

struct module_file {
	struct module_part own;
	struct module_part debug; /* its separate debug information; module is NULL if there is none */
	struct elf_image shared;  /* the file that .gnu_debugaltlink names */
	Dwarf *shared_dwarf;      /* of `shared`, or of nothing */
	Dwfl_Module *symbols;     /* NULL: not looked for yet */
	bool debug_tried, shared_tried;
	bool lacks_memory;            /* for the debug information, which may exist */
	uint64_t bias;                /* ELF virtual address + bias = libdwfl's address */
	struct elf_file *bytes;       /* NULL: a file of another machine */
	struct fde_search fdes;       /* of `bytes`, if has_fdes */
	bool has_fdes, has_only_fdes; /* only: they are all functions that its table would have */
	struct unwind_table *table;   /* module_file_table, once table_tried is set */
	bool table_tried;
	bool haskell_tried, is_haskell; /* GHC linked it */
	bool is_executable;             /* a program with `main`, not a library */
	bool is_static;                 /* a program that contains its C library */
	bool is_c_library;              /* by its file's name */
	bool is_dynamic_linker;         /* by its file's name */
	bool is_runtime;                /* by its file's name: libcpprof, which runs in the program */
	uint64_t entry;                 /* address of _start; 0: none */
	uint64_t main;                  /* address of main, found in the code of _start; 0: unknown */
};

/* Opens a file. Takes ownership of the descriptor, also on failure. Returns 0 or a negative error. */
int module_file_open(struct module_file *file, int fd, const char *path, struct error *error);
/* Opens the [vdso] of this process, which is the same in all processes. */
int module_file_open_vdso(struct module_file *file, struct error *error);
void module_file_close(struct module_file *file);

/* Returns the module that has the symbols: of the file or, if that was stripped, of its separate debug information. */
Dwfl_Module *module_file_symbols(struct module_file *file);
/* Returns the debug information, or NULL if there is none, or if lacks_memory is set. ELF virtual address + *bias = DWARF's address + file->bias. */
Dwarf *module_file_dwarf(struct module_file *file, uint64_t *bias);
/* Returns the ELF file itself. */
Elf *module_file_elf(struct module_file *file);

/* Returns whether the file has another build-id than `id`, or none. */
bool module_file_is_another(struct module_file *file, const uint8_t *id, size_t id_bytes);

/* Returns the unwind table, or NULL. Valid as long as the file. */
const struct unwind_table *module_file_table(struct module_file *file);

/* Returns the start of the function that contains an address, from .eh_frame, or 0 if it is unknown. */
uint64_t module_file_function(struct module_file *file, uint64_t address);

/* Returns the end of the last function of .eh_frame that begins before an address; 0: there is none. */
uint64_t module_file_function_end(struct module_file *file, uint64_t address);

/* Returns whether the file itself has other symbols than those for the dynamic linker. */
bool module_file_has_symbols(struct module_file *file);

/* Returns whether the file has no symbols but those for the dynamic linker, which are exported. */
bool module_file_is_stripped(struct module_file *file);

/* Returns whether the code at a return address ends the thread, as in clone's child. The function that contains the
 * address is then the outermost of a thread, in the C library. */
bool module_file_ends_thread(struct module_file *file, uint64_t return_address);

#endif
