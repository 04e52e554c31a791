/*
 * Memory that takes the place of a loaded file: a program unpacks itself, moves its text, or generates code there. No file is
 * unloaded, so loading.c does not notice it, and the new code would get the names and the unwind rules of the old one.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include "collect/agent/core/real.h"
#include "collect/agent/core/runtime.h"
#include "processor/agent/machine.h"

/* Has the monitor read the mappings again if the changed memory begins or ends in a loaded file. */
static void note_change(const void *address, size_t bytes)
{
	struct dl_find_object found;
	const uint64_t start = (uint64_t)(uintptr_t)address;
	if (runtime.channel && bytes > 0 &&
	    (real_find_object(start, &found) || real_find_object(start + bytes - 1, &found)))
		runtime_code_changed();
}

/* The functions can be called before the real ones are known: by a library's allocator, while they are looked up. */
static long checked(long result)
{
	enum { ERRORS = 4095 };
	if (result < 0 && result >= -ERRORS) {
		errno = (int)-result;
		return -1;
	}
	return result;
}

INTERPOSED void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
	__typeof__(&mmap) real = REAL_IF_KNOWN(mmap);
	void *mapped = real ? real(address, bytes, protection, flags, fd, offset)
			    : (void *)checked(machine_syscall(SYS_mmap, (long)(uintptr_t)address, (long)bytes,
							      protection, flags, fd, offset));
	if (flags & MAP_FIXED && mapped != MAP_FAILED)
		note_change(mapped, bytes);
	return mapped;
}
void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) INTERPOSED ALIAS(mmap);

INTERPOSED int mprotect(void *address, size_t bytes, int protection)
{
	__typeof__(&mprotect) real = REAL_IF_KNOWN(mprotect);
	int result = real ? real(address, bytes, protection)
			  : (int)checked(machine_syscall(SYS_mprotect, (long)(uintptr_t)address, (long)bytes,
							 protection, 0, 0, 0));
	if (protection & PROT_EXEC && result == 0)
		note_change(address, bytes);
	return result;
}

INTERPOSED void *mremap(void *from, size_t old_bytes, size_t bytes, int flags, ...)
{
	va_list arguments;
	va_start(arguments, flags);
	void *to = flags & MREMAP_FIXED ? va_arg(arguments, void *) : NULL;
	va_end(arguments);
	__typeof__(&mremap) real = REAL_IF_KNOWN(mremap);
	void *mapped = real ? real(from, old_bytes, bytes, flags, to)
			    : (void *)checked(machine_syscall(SYS_mremap, (long)(uintptr_t)from, (long)old_bytes,
							      (long)bytes, flags, (long)(uintptr_t)to, 0));
	if (flags & MREMAP_FIXED && mapped != MAP_FAILED)
		note_change(mapped, bytes);
	return mapped;
}
