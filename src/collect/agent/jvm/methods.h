/* The names, files and lines of Java's methods, for the description of one piece of code. */
#ifndef COLLECT_AGENT_JVM_METHODS_H
#define COLLECT_AGENT_JVM_METHODS_H

#include <jvmti.h>
#include <stddef.h>

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

/* Returns a method, valid until the next call, or NULL if memory ran out. What the virtual machine does not tell is "?" or unknown. */
const struct method *methods_get(struct methods *methods, jmethodID id);

/* Returns the source line of a byte code, or 0 if it is unknown. A negative number is the method's entry. */
int method_line(const struct method *method, jint bytecode);

#endif
