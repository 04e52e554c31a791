/*
 * The parts that importers of JSON share, and these importers.
 *
 * Life cycle: json_import_open, any number of the other calls, json_import_close in any case. Every
 * call that can fail returns a negative error and sets the tree's `error`: "cannot read 'NAME' as
 * FORMAT: ...".
 */
#ifndef FORMATS_JSON_IMPORT_H
#define FORMATS_JSON_IMPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "base/json_document.h"
#include "formats/import_tree.h"

/* The element that is read, for messages: event 3 of profile 0. */
struct json_place {
	const char *kind, *group; /* "event", "profile"; NULL: none */
	size_t number, group_number;
};

struct json_import {
	struct import_tree tree;
	struct json_place place;
	const char *format; /* its name in messages; not owned */
	struct json_document *text;
	const struct json_node *document; /* its root. Ids of 64 bits, which importers do not read, are rounded */
};

/* Reads the document. `open_array`: of json_document_read. */
int json_import_open(struct json_import *import, const char *format, bool open_array, FILE *in, const char *name,
		     struct error *error);

/* Returns the profile, which the caller then owns, if `code` is 0, or NULL. */
struct profile *json_import_close(struct json_import *import, int code);

/* Sets the error, which names `place`. Returns ERROR_FORMAT. */
int json_import_refuse(const struct json_import *import, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Returns the resource of this name, which is added if it is new. `title` may be NULL: the name. */
int64_t json_import_resource(struct json_import *import, const char *name, const char *title, const char *unit,
			     enum import_amounts amounts);

/* Returns the resource that the member "resource" of an object states, as json_out_resource writes it; PROFILE_NONE: it has none. `unit`:
 * of its amounts, or NULL: as the member states. Sets `*title`, which belongs to the document. */
int64_t json_import_own(struct json_import *import, const struct json_node *object, const char *unit,
			const char **title);

/* Returns the child of a node for a frame of a module ("": not known), which is a location of its own. */
int64_t json_import_child(struct json_import *import, uint32_t node, const char *module,
			  const struct import_frame *frame);

/* Sets `*amount` to a number times `factor`, rounded. Returns false if it is no number, is negative or is above 2^62. */
bool json_import_amount(const struct json_node *number, long double factor, uint64_t *amount);

/* Returns element `index` of an array as an index below `limit`, or PROFILE_NONE if there is no
 * such element or it is none. */
uint32_t json_import_index(const struct json_node *array, size_t index, size_t limit);

/* Returns a number from 0 to 2^32 - 1, or `otherwise` if the value is none. */
uint32_t json_import_number(const struct json_node *value, uint32_t otherwise);

/* Returns whether the file begins with this bracket. */
bool json_import_begins(const unsigned char *start, size_t bytes, char bracket);
bool json_import_contains(const unsigned char *start, size_t bytes, const char *text);

struct profile *speedscope_import(FILE *in, const char *name, const char *image, struct error *error);
bool speedscope_recognise(const unsigned char *start, size_t bytes);
struct profile *chrome_import(FILE *in, const char *name, const char *image, struct error *error);
bool chrome_recognise(const unsigned char *start, size_t bytes);
struct profile *firefox_import(FILE *in, const char *name, const char *image, struct error *error);
bool firefox_recognise(const unsigned char *start, size_t bytes);

#endif
