/*
 * A large JSON document (RFC 8259) from outside, in little memory: 16 bytes a value, 24 a member, and each string once. libjansson reads the
 * text (json_text.h) in parts, whose trees are freed as soon as they are copied. All numbers are doubles.
 * If keys of an object are equal, one of them counts. A document is read whole, because its tables may follow what refers to them.
 *
 * Life cycle: json_document_read, any number of the other calls, json_document_free. Nodes do not change, and belong to the document.
 */
#ifndef BASE_JSON_DOCUMENT_H
#define BASE_JSON_DOCUMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"

enum json_kind {
	JSON_NODE_NULL,
	JSON_NODE_FALSE,
	JSON_NODE_TRUE,
	JSON_NODE_NUMBER,
	JSON_NODE_STRING,
	JSON_NODE_ARRAY,
	JSON_NODE_OBJECT
};

struct json_node {
	enum json_kind kind;
	uint32_t count; /* elements of an array, members of an object, bytes of a string */
	union {
		double number;
		const char *text; /* ends with a NUL, and may contain others */
		const struct json_node *elements;
		const struct json_member *members; /* from 9 members on, in the order of their keys */
	};
};

struct json_member {
	const char *key; /* without a NUL inside */
	struct json_node value;
};

struct json_document;

enum { JSON_PART_BYTES = 1 << 18 };

/* Reads the rest of a file. `part_bytes`: what the library reads at once, JSON_PART_BYTES outside of tests. `open_array`: a text that begins with '[' may end behind an element or a ',', as a program leaves it that was
 * killed. Returns NULL and sets `error`: ERROR_FORMAT with "not JSON at byte N: REASON", ERROR_MEMORY, or a failure of reading, from errno. */
struct json_document *json_document_read(FILE *in, bool open_array, size_t part_bytes, struct error *error);
void json_document_free(struct json_document *document); /* accepts NULL */

const struct json_node *json_document_root(const struct json_document *document);

/* In the following, a node may be NULL, or of another kind: then it has no members, elements, text or number. */
const struct json_node *json_node_member(const struct json_node *object, const char *key);
const struct json_node *json_node_element(const struct json_node *array, size_t index);
size_t json_node_count(const struct json_node *array); /* elements of an array */
bool json_node_is(const struct json_node *node, enum json_kind kind);
/* Returns a string that contains no NUL, or NULL. */
const char *json_node_text(const struct json_node *node);
/* Returns a number, or 0. */
double json_node_number(const struct json_node *node);

#endif
