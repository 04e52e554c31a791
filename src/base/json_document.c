#include "base/json_document.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/json_text.h"
#include "base/strings.h"

enum {
	READ_BYTES = 1 << 20,  /* of the file */
	BLOCK_BYTES = 1 << 18, /* of memory for nodes */
	LEVELS_MOST = 64,      /* of values larger than a part, in each other */
	LINEAR_MOST = 8        /* members of an object that are not sorted */
};

/* Memory that lives as long as the document. */
struct block {
	struct block *next;
	unsigned char *bytes; /* owned */
	size_t used, size;
};

struct json_document {
	struct json_node root;
	struct block *blocks; /* the newest first */
	struct strings strings;
};

/* The text between `at` and `end` is read from the file and not used yet. The byte before `at` and the one at `end` may be overwritten. */
struct text {
	FILE *in;
	char *bytes;
	size_t at, end, capacity;
	uint64_t offset;  /* bytes[i] is byte offset + i of the file; modulo 2^64 */
	bool is_complete; /* the file has no more */
	bool open_array;
	size_t part_bytes; /* that the library reads at once */
	struct json_document *document;
	struct error *error;
};

static int out_of_memory(const struct text *text)
{
	return error_set(text->error, ERROR_MEMORY, "%s", error_text(ERROR_MEMORY));
}

static int refuse(const struct text *text, const char *reason)
{
	return error_set(text->error, ERROR_FORMAT, "not JSON at byte %" PRIu64 ": %s", text->offset + text->at,
			 reason);
}

/* --- memory --- */

/* Gives `bytes` to the document, as a block that is full but for `used`. Returns the block, or NULL; then `bytes` is freed. */
static struct block *own(struct json_document *document, void *bytes, size_t used, size_t size)
{
	struct block *block = bytes ? malloc(sizeof(*block)) : NULL;
	if (!block) {
		free(bytes);
		return NULL;
	}
	*block = (struct block){ .next = document->blocks, .bytes = bytes, .used = used, .size = size };
	document->blocks = block;
	return block;
}

static void *allocate(struct json_document *document, size_t bytes)
{
	struct block *block = document->blocks;
	if (!block || block->size - block->used < bytes) {
		size_t size = bytes > BLOCK_BYTES ? bytes : BLOCK_BYTES;
		block = own(document, malloc(size), 0, size);
		if (!block)
			return NULL;
	}
	void *memory = block->bytes + block->used;
	block->used += bytes;
	return memory;
}

/* Returns the document's copy of a string, or NULL. */
static const char *keep(struct json_document *document, const char *bytes, size_t size)
{
	int64_t id = strings_add(&document->strings, bytes, size);
	return id < 0 ? NULL : strings_get(&document->strings, (uint32_t)id);
}

/* --- values that the library has read --- */

static int by_key(const void *left, const void *right)
{
	const struct json_member *a = left, *b = right;
	return strcmp(a->key, b->key);
}

static void set_members(struct json_node *node, struct json_member *members, size_t count)
{
	if (count > LINEAR_MOST)
		qsort(members, count, sizeof(*members), by_key);
	node->kind = JSON_NODE_OBJECT;
	node->count = (uint32_t)count;
	node->members = members;
}

static int copy(struct json_document *document, json_t *value, struct json_node *node);

static int copy_array(struct json_document *document, json_t *array, struct json_node *node)
{
	size_t count = json_array_size(array);
	struct json_node *elements = allocate(document, (count + 1) * sizeof(*elements));
	int status = elements && count < UINT32_MAX ? 0 : ERROR_MEMORY;
	for (size_t i = 0; i < count && status == 0; i++)
		status = copy(document, json_array_get(array, i), &elements[i]);
	*node = (struct json_node){ .kind = JSON_NODE_ARRAY, .count = (uint32_t)count, .elements = elements };
	return status;
}

static int copy_members(struct json_document *document, json_t *object, struct json_member *members)
{
	int status = 0;
	for (void *at = json_object_iter(object); at && status == 0; at = json_object_iter_next(object, at)) {
		const char *key = json_object_iter_key(at);
		members->key = keep(document, key, strlen(key));
		status = members->key ? copy(document, json_object_iter_value(at), &members->value) : ERROR_MEMORY;
		members++;
	}
	return status;
}

static int copy_object(struct json_document *document, json_t *object, struct json_node *node)
{
	size_t count = json_object_size(object);
	struct json_member *members = allocate(document, (count + 1) * sizeof(*members));
	int status = members && count < UINT32_MAX ? copy_members(document, object, members) : ERROR_MEMORY;
	if (status == 0)
		set_members(node, members, count);
	return status;
}

/* Copies a tree of the library. Returns 0 or ERROR_MEMORY. */
static int copy(struct json_document *document, json_t *value, struct json_node *node)
{
	*node = (struct json_node){ .kind = JSON_NODE_NULL };
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return copy_object(document, value, node);
	case JSON_ARRAY:
		return copy_array(document, value, node);
	case JSON_STRING:
		node->kind = JSON_NODE_STRING;
		node->count = (uint32_t)json_string_length(value);
		node->text = keep(document, json_string_value(value), json_string_length(value));
		return node->text ? 0 : ERROR_MEMORY;
	case JSON_INTEGER:
	case JSON_REAL:
		node->kind = JSON_NODE_NUMBER;
		node->number = json_number_value(value);
		return 0;
	case JSON_TRUE:
		node->kind = JSON_NODE_TRUE;
		return 0;
	case JSON_FALSE:
		node->kind = JSON_NODE_FALSE;
		return 0;
	case JSON_NULL:
		return 0;
	}
	return 0;
}

/* --- the text --- */

/* Reads on until `bytes` follow `at`, or the file ends. Returns 0 or an error. */
static int fill(struct text *text, size_t bytes)
{
	if (text->end - text->at >= bytes || text->is_complete)
		return 0;
	size_t passed = text->at - 1;
	memmove(text->bytes, text->bytes + passed, text->end - passed);
	text->offset += passed;
	text->at -= passed;
	text->end -= passed;
	if (ARRAY_RESERVE(text->bytes, text->capacity, text->at + bytes + READ_BYTES + 1) < 0)
		return out_of_memory(text);
	while (text->end - text->at < bytes && !text->is_complete) {
		size_t found = fread(text->bytes + text->end, 1, READ_BYTES, text->in);
		text->is_complete = found < READ_BYTES;
		text->end += found;
	}
	return ferror(text->in) ? error_set_errno(text->error, "cannot read") : 0;
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t' || byte == '\r' || byte == '\n';
}

/* Sets *byte to the next byte that is not blank, or to EOF at the end of the file. Returns 0 or an error. */
static int next_byte(struct text *text, int *byte)
{
	*byte = EOF;
	for (;;) {
		int status = fill(text, 1);
		if (status < 0 || text->at == text->end)
			return status;
		if (!is_blank(text->bytes[text->at])) {
			*byte = (unsigned char)text->bytes[text->at];
			return 0;
		}
		text->at++;
	}
}

/* Returns the byte behind a string that begins at `from`, or `end` if it does not end. */
static size_t string_end(const struct text *text, size_t from, size_t end)
{
	size_t at = from + 1;
	while (at < end && text->bytes[at] != '"')
		at += text->bytes[at] == '\\' ? 2 : 1;
	return at < end ? at + 1 : end;
}

/* Sets *end to the byte behind the value at `at`, which is no array and no object. Returns 0 or an error. */
static int find_end(struct text *text, size_t *end)
{
	bool is_string = text->bytes[text->at] == '"';
	for (size_t bytes = text->part_bytes;; bytes *= 2) {
		int status = fill(text, bytes);
		if (status < 0)
			return status;
		*end = text->at + 1;
		if (is_string)
			*end = string_end(text, text->at, text->end);
		while (!is_string && *end < text->end && !strchr(",:]}", text->bytes[*end]) &&
		       !is_blank(text->bytes[*end]))
			(*end)++;
		if (*end < text->end || text->is_complete)
			return 0;
	}
}

/* --- parts --- */

/* Reads the text from `from` to `end`. Returns a tree of the library, or NULL and sets the error. */
static json_t *parse(const struct text *text, size_t from, size_t end)
{
	struct json_text_place place = { .offset = text->offset + from, .most = text->offset + text->end };
	return json_text_read_part(text->bytes + from, end - from, JSON_TEXT_REALS, &place, text->error);
}

/* The elements or members of a container that is larger than a part. */
struct many {
	char open, close;
	struct json_node *elements; /* of an array */
	struct json_member *members;
	size_t count, capacity;
};

static int reserve(struct many *many, size_t more)
{
	if (more >= UINT32_MAX - many->count)
		return ERROR_MEMORY;
	return many->open == '[' ? ARRAY_RESERVE(many->elements, many->capacity, many->count + more)
				 : ARRAY_RESERVE(many->members, many->capacity, many->count + more);
}

/* Adds the elements or members of a part, whose text reaches from `at` to `end`. The brackets around it replace what is there, but
 * there is no closing bracket if the text is not `closed`; then the library refuses it. */
static int add_part(struct text *text, struct many *many, size_t end, bool closed)
{
	size_t from = text->at - 1;
	char before = text->bytes[from], after = text->bytes[end];
	text->bytes[from] = many->open;
	text->bytes[end] = many->close;
	json_t *part = parse(text, from, end + closed);
	text->bytes[from] = before;
	text->bytes[end] = after;
	if (!part)
		return text->error->code;
	size_t count = many->open == '[' ? json_array_size(part) : json_object_size(part);
	int status = reserve(many, count);
	if (status == 0 && count > 0 && many->open == '{')
		status = copy_members(text->document, part, many->members + many->count);
	for (size_t i = 0; i < count && status == 0 && many->open == '['; i++)
		status = copy(text->document, json_array_get(part, i), &many->elements[many->count + i]);
	many->count += count;
	text->at = end;
	json_decref(part);
	return status < 0 ? out_of_memory(text) : 0;
}

static int read_value(struct text *text, unsigned level, struct json_node *node);

static int read_key(struct text *text, const char **key)
{
	int byte;
	size_t end;
	int status = find_end(text, &end);
	if (status < 0)
		return status;
	json_t *value = parse(text, text->at, end);
	const char *bytes = json_text_string(value);
	*key = bytes ? keep(text->document, bytes, strlen(bytes)) : NULL;
	json_decref(value);
	if (!value)
		return text->error->code;
	if (!bytes)
		return refuse(text, "a key is no string, or has a NUL");
	if (!*key)
		return out_of_memory(text);
	text->at = end;
	status = next_byte(text, &byte);
	if (status == 0 && byte != ':')
		return refuse(text, "':' expected");
	text->at++;
	return status;
}

/* Adds one element or member, which is larger than a part. */
static int add_one(struct text *text, struct many *many, unsigned level)
{
	int byte;
	const char *key = NULL;
	struct json_node node;
	int status = next_byte(text, &byte);
	if (status == 0 && many->open == '{')
		status = read_key(text, &key);
	if (status == 0)
		status = read_value(text, level + 1, &node);
	if (status < 0)
		return status;
	if (reserve(many, 1) < 0)
		return out_of_memory(text);
	if (many->open == '[')
		many->elements[many->count++] = node;
	else
		many->members[many->count++] = (struct json_member){ key, node };
	return 0;
}

/* The end of what a container's next part can be. */
enum stop {
	STOP_COMMA, /* the last one within a part */
	STOP_CLOSED,
	STOP_END, /* of the file */
	STOP_NONE /* the next element is larger than a part */
};

static enum stop find_stop(const struct text *text, size_t *stop)
{
	bool is_whole = text->end - text->at <= text->part_bytes;
	size_t end = is_whole ? text->end : text->at + text->part_bytes, depth = 0, comma = 0;
	for (size_t at = text->at; at < end; at++) {
		char byte = text->bytes[at];
		if (byte == '"') {
			at = string_end(text, at, end) - 1;
		} else if (byte == '[' || byte == '{') {
			depth++;
		} else if (byte == ']' || byte == '}') {
			*stop = at;
			if (depth == 0)
				return STOP_CLOSED;
			depth--;
		} else if (byte == ',' && depth == 0) {
			comma = at;
		}
	}
	*stop = comma ? comma : end;
	return comma ? STOP_COMMA : is_whole && text->is_complete ? STOP_END : STOP_NONE;
}

/* Passes what follows an element: a ',' or the bracket. Sets *ends behind the bracket, and at the end of a file that `may_end`. */
static int pass_separator(struct text *text, const struct many *many, bool may_end, bool *ends)
{
	int byte;
	int status = next_byte(text, &byte);
	if (status < 0)
		return status;
	if (byte != ',' && byte != many->close && !(byte == EOF && may_end))
		return refuse(text, many->open == '[' ? "',' or ']' expected" : "',' or '}' expected");
	*ends = byte != ',';
	text->at += byte != EOF;
	return 0;
}

/* Adds the next part, or one element that is larger. It does not begin with blanks, because any number of them may follow each other. */
static int add_next(struct text *text, struct many *many, unsigned level, bool may_end)
{
	int byte, status = next_byte(text, &byte);
	size_t stop;
	if (status == 0)
		status = fill(text, text->part_bytes);
	if (status < 0)
		return status;
	if (byte == ',' || (byte == many->close && many->count > 0))
		return refuse(text, "an element expected");
	enum stop kind = find_stop(text, &stop);
	return kind == STOP_NONE ? add_one(text, many, level) : add_part(text, many, stop, kind != STOP_END || may_end);
}

static int add_parts(struct text *text, struct many *many, unsigned level)
{
	bool may_end = text->open_array && level == 0 && many->open == '[';
	for (bool ends = false; !ends;) {
		int status = add_next(text, many, level, may_end);
		if (status == 0)
			status = pass_separator(text, many, may_end, &ends);
		if (status < 0)
			return status;
	}
	return 0;
}

/* Reads an array or an object, part by part. */
static int read_container(struct text *text, unsigned level, struct json_node *node)
{
	bool is_array = text->bytes[text->at] == '[';
	struct many many = { .open = is_array ? '[' : '{', .close = is_array ? ']' : '}' };
	if (level == LEVELS_MOST)
		return refuse(text, "too many levels of large values");
	text->at++;
	int status = add_parts(text, &many, level);
	void *items = is_array ? (void *)many.elements : (void *)many.members;
	if (status < 0) {
		free(items);
		return status;
	}
	if (is_array)
		*node = (struct json_node){ .kind = JSON_NODE_ARRAY, .count = (uint32_t)many.count, .elements = items };
	else
		set_members(node, items, many.count);
	return !items || own(text->document, items, 0, 0) ? 0 : out_of_memory(text);
}

static int read_value(struct text *text, unsigned level, struct json_node *node)
{
	int byte;
	size_t end;
	int status = next_byte(text, &byte);
	if (status == 0 && (byte == '[' || byte == '{'))
		return read_container(text, level, node);
	if (status == 0 && byte == EOF)
		return refuse(text, "a value expected");
	if (status == 0)
		status = find_end(text, &end);
	if (status < 0)
		return status;
	json_t *value = parse(text, text->at, end);
	if (!value)
		return text->error->code;
	status = copy(text->document, value, node) < 0 ? out_of_memory(text) : 0;
	json_decref(value);
	text->at = end;
	return status;
}

static int read_all(struct text *text)
{
	int byte;
	int status = ARRAY_RESERVE(text->bytes, text->capacity, 2) < 0 ? out_of_memory(text) : 0;
	if (status == 0)
		status = read_value(text, 0, &text->document->root);
	if (status == 0)
		status = next_byte(text, &byte);
	return status == 0 && byte != EOF ? refuse(text, "end of file expected") : status;
}

struct json_document *json_document_read(FILE *in, bool open_array, size_t part_bytes, struct error *error)
{
	/* Before the first byte is one that may be overwritten. */
	struct text text = { .in = in,
			     .at = 1,
			     .end = 1,
			     .offset = UINT64_MAX,
			     .open_array = open_array,
			     .part_bytes = part_bytes,
			     .error = error };
	struct json_document *document = calloc(1, sizeof(*document));
	text.document = document;
	int status = document && strings_init(&document->strings) == 0 ? read_all(&text) : out_of_memory(&text);
	free(text.bytes);
	if (status == 0)
		return document;
	json_document_free(document);
	return NULL;
}

void json_document_free(struct json_document *document)
{
	if (!document)
		return;
	while (document->blocks) {
		struct block *block = document->blocks;
		document->blocks = block->next;
		free(block->bytes);
		free(block);
	}
	strings_release(&document->strings);
	free(document);
}

/* --- nodes --- */

const struct json_node *json_document_root(const struct json_document *document)
{
	return &document->root;
}

const struct json_node *json_node_member(const struct json_node *object, const char *key)
{
	if (!json_node_is(object, JSON_NODE_OBJECT))
		return NULL;
	const struct json_member wanted = { .key = key }, *found = NULL;
	if (object->count > LINEAR_MOST)
		found = bsearch(&wanted, object->members, object->count, sizeof(wanted), by_key);
	for (uint32_t i = 0; i < object->count && object->count <= LINEAR_MOST && !found; i++)
		found = strcmp(object->members[i].key, key) == 0 ? &object->members[i] : NULL;
	return found ? &found->value : NULL;
}

const struct json_node *json_node_element(const struct json_node *array, size_t index)
{
	return index < json_node_count(array) ? &array->elements[index] : NULL;
}

size_t json_node_count(const struct json_node *array)
{
	return json_node_is(array, JSON_NODE_ARRAY) ? array->count : 0;
}

bool json_node_is(const struct json_node *node, enum json_kind kind)
{
	return node && node->kind == kind;
}

const char *json_node_text(const struct json_node *node)
{
	return json_node_is(node, JSON_NODE_STRING) && strlen(node->text) == node->count ? node->text : NULL;
}

double json_node_number(const struct json_node *node)
{
	return json_node_is(node, JSON_NODE_NUMBER) ? node->number : 0;
}
