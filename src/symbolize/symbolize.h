/*
 * Gives every location of a profile its frames: function, file, line, inlined
 * functions. Each address is looked at once; each unit's DIE tree is walked at
 * most once, however many addresses lie in it.
 *
 * Where names come from, first that has them: .symtab and .dynsym of the file,
 * .gnu_debugdata, separate debug files (by build-id, then .gnu_debuglink),
 * debuginfod when DEBUGINFOD_URLS is set. A function without any is named
 * "module+0x1a40" after its start in .eh_frame.
 */
#ifndef SYMBOLIZE_SYMBOLIZE_H
#define SYMBOLIZE_SYMBOLIZE_H

#include <stddef.h>

#include "base/error.h"
#include "profile/profile.h"

struct symbolize_options {
	/* Opens the ELF file behind a module, or returns -1; NULL: open the
	 * module's path. The recorder uses it to reach files in a container's
	 * root or already deleted. The caller of it closes the descriptor. */
	int (*open_module)(void *context, uint32_t module);
	/* Called now and then with locations done and locations in all; may be NULL. */
	void (*progress)(void *context, size_t done, size_t total);
	void *context;
};

/* Sets `symbolized`. What cannot be read or named is named after its module
 * and counted in the profile's notes as "warning" (file changed since it was
 * recorded: other build-id; not readable; ...). Fails only for want of memory. */
int symbolize_profile(struct profile *profile, const struct symbolize_options *options, struct error *error);

#endif
