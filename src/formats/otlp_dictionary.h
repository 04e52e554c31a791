/*
 * The dictionary of an OTLP message: tables to which its profiles refer by index. Element 0 of each
 * table is empty and means "none". Elements of different tables may come in any order, so that one
 * buffer takes them all.
 *
 * Life cycle: otlp_dictionary_init, the calls that return indexes, otlp_dictionary_end,
 * otlp_dictionary_release. The first error sticks in `status`.
 */
#ifndef FORMATS_OTLP_DICTIONARY_H
#define FORMATS_OTLP_DICTIONARY_H

#include "base/buffer.h"
#include "base/hash_map.h"
#include "base/strings.h"
#include "formats/places.h"

struct otlp_dictionary {
	const struct call_paths *paths; /* not owned */
	struct buffer bytes;            /* the message ProfilesDictionary */
	struct buffer message, inner;   /* reused */
	struct places places;
	uint32_t *location_of; /* per place: its location; 0: none, as of a place that is a part of others */
	uint32_t *located;     /* location n is of the place located[n - 1] */
	uint32_t location_count;
	struct strings strings; /* the string table */
	uint32_t *stack_of;     /* per path: its stack; 0: none yet */
	uint32_t stack_count;
	struct hash_map functions;  /* (name, file) -> function */
	struct hash_map mappings;   /* path -> mapping */
	struct hash_map attributes; /* (key, value) -> attribute */
	int status;                 /* 0 or a negative error */
};

/* Returns 0 or ERROR_MEMORY; otlp_dictionary_release is due in both cases. */
int otlp_dictionary_init(struct otlp_dictionary *dictionary, const struct call_paths *paths);
void otlp_dictionary_release(struct otlp_dictionary *dictionary);

uint32_t otlp_string(struct otlp_dictionary *dictionary, const char *text);
uint32_t otlp_stack(struct otlp_dictionary *dictionary, uint32_t path);
uint32_t otlp_text_attribute(struct otlp_dictionary *dictionary, const char *key, const char *text);
uint32_t otlp_number_attribute(struct otlp_dictionary *dictionary, const char *key, uint32_t number);

/* Writes the locations and strings, which are complete then. Returns `status`. */
int otlp_dictionary_end(struct otlp_dictionary *dictionary);

#endif
