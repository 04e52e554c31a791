/*
 * The ELF file of one module while its addresses are named: elfutils' view of it (symbols and debug information,
 * also from separate files), the bytes of its code, and the starts of its functions from .eh_frame.
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
#include "unwind/unwind.h"

struct module_file {
	Dwfl *dwfl;
	Dwfl_Module *module;
	uint64_t bias;              /* ELF virtual address + bias = libdwfl's address */
	struct elf_file *bytes;     /* NULL: a file of another machine */
	struct unwind_table *table; /* made by the first query that needs it */
	bool table_tried;
	bool is_executable;     /* a program with `main`, not a library */
	bool is_static;         /* a program that contains its C library */
	bool is_c_library;      /* by its file's name */
	bool is_dynamic_linker; /* by its file's name */
	bool is_runtime;        /* by its file's name: libcpprof, which runs in the program */
	uint64_t entry;         /* address of _start; 0: none */
	uint64_t main;          /* address of main, found in the code of _start; 0: unknown */
};

/* Opens a file. Takes ownership of the descriptor, also on failure. Returns 0 or a negative error. */
int module_file_open(struct module_file *file, int fd, const char *path, struct error *error);
/* Opens the [vdso] of this process, which is the same in all processes. */
int module_file_open_vdso(struct module_file *file, struct error *error);
void module_file_close(struct module_file *file);

/* Returns whether the file has another build-id than `id`, or none. */
bool module_file_is_another(struct module_file *file, const uint8_t *id, size_t id_bytes);

/* Returns the start of the function that contains an address, from .eh_frame, or 0 if it is unknown. */
uint64_t module_file_function(struct module_file *file, uint64_t address);

/* Returns the end of the last function of .eh_frame that begins before an address; 0: there is none. */
uint64_t module_file_function_end(struct module_file *file, uint64_t address);

/* Returns whether the file has no symbols but those for the dynamic linker, which are exported. */
bool module_file_is_stripped(struct module_file *file);

/* Returns whether the code at a return address ends the thread, as in clone's child. The function that contains the
 * address is then the outermost of a thread, in the C library. */
bool module_file_ends_thread(struct module_file *file, uint64_t return_address);

#endif
