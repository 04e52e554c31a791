/* Interfaces between the files of the library for Java. */
#ifndef COLLECT_AGENT_JVM_PARTS_H
#define COLLECT_AGENT_JVM_PARTS_H

#include <jvmti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/jitdump.h"
#include "base/buffer.h"

/* methods.c: the names, files and lines of Java's methods, for the description of one piece of code. */

/* A method. Texts of the virtual machine are owned by it, and released by methods_release. */
struct method {
	jmethodID id;
	char *name; /* "package.Class.method(int, java.lang.String)"; owned */
	char *file; /* "package/Class.java", or "" if it is unknown; owned */
	jvmtiLineNumberEntry *lines;
	jint line_count;
};

/* The methods of one piece of code; most of them occur in many places of it. */
struct methods {
	jvmtiEnv *jvmti;
	struct method *items; /* owned */
	size_t count, capacity;
};

void methods_release(struct methods *methods);

/* Returns a method, valid until the next call, or NULL if memory ran out. What the virtual
 * machine does not tell is "?" or unknown. */
const struct method *methods_get(struct methods *methods, jmethodID id);

/* Returns the source line of a byte code, or 0 if it is unknown. A negative number is the method's entry. */
int method_line(const struct method *method, jint bytecode);

/*
 * dump.c: the jitdump that this process writes (abi/jitdump.h), in TMPDIR or /tmp. The process maps
 * its first page executable: the kernel reports that mapping, by which a profiler finds the file.
 * Several threads may call: each record is written at once.
 */

/* Creates the file. Returns false, with errno set, if that fails. */
bool dump_open(void);

/* Writes the description of code: its inlined functions, as the entries of a record
 * JITDUMP_INLINED (NULL: none), its name and instructions. After a failed write, nothing more is
 * written, because a record may be incomplete. */
void dump_code(const char *name, const void *code, size_t bytes, const struct buffer *entries, uint64_t entry_count);

#endif
