/*
 * The ELF file behind one module while its addresses are named: elfutils'
 * view of it (symbols, debug information, wherever they are kept), the bytes
 * of its code, and the starts of its functions by .eh_frame.
 *
 * Life cycle: module_file_open or module_file_open_vdso, queries,
 * module_file_close. Addresses are ELF virtual addresses throughout.
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
	struct elf_file *bytes;     /* NULL: not of this machine */
	struct unwind_table *table; /* made at the first question for it */
	bool table_tried;
	bool is_executable;     /* has `main`, other than a library */
	bool is_static;         /* ... and its C library with it */
	bool is_c_library;      /* by its file's name */
	bool is_dynamic_linker; /* by its file's name */
	bool is_runtime;        /* by its file's name: libcpprof, which runs inside the program */
	uint64_t entry;         /* address of _start; 0: none */
	uint64_t main;          /* address of main, read from _start's code; 0: unknown */
};

/* Takes the descriptor over, also on failure. */
int module_file_open(struct module_file *file, int fd, const char *path, struct error *error);
/* The [vdso] of this process: the kernel maps the same one into all. */
int module_file_open_vdso(struct module_file *file, struct error *error);
void module_file_close(struct module_file *file);

/* Returns whether the file has another build-id than `id`, or none. */
bool module_file_is_another(struct module_file *file, const uint8_t *id, size_t id_bytes);

/* Returns the start of the function at an address, by .eh_frame, or 0 if
 * unknown. */
uint64_t module_file_function(struct module_file *file, uint64_t address);

/* The code at a return address ends the thread, as in clone's child: what
 * called from there is the C library's bottom of a thread's stack. */
bool module_file_ends_thread(struct module_file *file, uint64_t return_address);

#endif
