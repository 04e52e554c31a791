/* The importer of callgrind.out. Its row is in callgrind.c. */
#ifndef FORMATS_CALLGRIND_IMPORT_H
#define FORMATS_CALLGRIND_IMPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/error.h"
#include "profile/profile.h"

struct profile *callgrind_import(FILE *in, const char *name, const char *image, struct error *error);
bool callgrind_recognise(const unsigned char *start, size_t bytes);

#endif
