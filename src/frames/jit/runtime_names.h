/* The names in perf maps and jitdumps. Each runtime has its own form: V8 writes "JS:*sum /srv/a.js:7:13", CPython "py::sum:/srv/a.py". */
#ifndef FRAMES_JIT_RUNTIME_NAMES_H
#define FRAMES_JIT_RUNTIME_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { RUNTIME_NAME_BYTES = 4096 };

/* The parts of a name: a function has one name, although its code exists in several tiers of optimization. */
struct runtime_name {
	char name[RUNTIME_NAME_BYTES]; /* longer names are cut */
	char file[RUNTIME_NAME_BYTES]; /* "": not stated */
	uint32_t line;                 /* of the function's definition; 0: not stated */
};

/* Returns whether a name has one of V8's forms. */
bool runtime_name_is_v8(const char *text, size_t length);

/* Splits a name of `length` bytes. A name of an unknown form is the function's name as it is. */
void runtime_name_read(const char *text, size_t length, struct runtime_name *name);

#endif
