#include "collect/sample/bpf/kernel_types.h"

#include <fcntl.h>
#include <linux/btf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/error.h"
#include "base/hash_map.h"

enum {
	MARK_SHIFT = 4,      /* the position of every 16th type is kept */
	START_BITS = 1 << 13 /* hashes of the first three characters */
};

struct found {
	uint32_t number, kind, name; /* name: its offset in the strings */
};

struct kernel_types {
	void *memory;
	size_t size;
	bool is_mapped;
	const uint8_t *types;
	size_t type_bytes;
	const char *strings; /* end with a NUL */
	size_t string_bytes;
	struct buffer names;    /* wanted names, each with its NUL */
	struct hash_map wanted; /* key_of a name -> its offset in `names` */
	uint8_t starts[START_BITS / 8];
	uint32_t functions_left; /* wanted functions that are not found */
	uint32_t count;          /* of types */
	uint32_t *marks;
	size_t mark_count, mark_capacity;
	struct found *found;
	size_t found_count, found_capacity;
};

/* --- open and free --- */

static void *map_file(int fd, size_t size)
{
	void *memory = mmap(NULL, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0);
	return memory == MAP_FAILED ? NULL : memory;
}

static void *read_file(int fd, size_t size)
{
	uint8_t *memory = malloc(size);
	size_t used = 0;
	ssize_t got = 1;
	while (memory && used < size && got > 0) {
		got = read(fd, memory + used, size - used);
		used += got > 0 ? (size_t)got : 0;
	}
	if (memory && used < size) {
		free(memory);
		return NULL;
	}
	return memory;
}

static bool find_parts(struct kernel_types *types)
{
	struct btf_header header;
	if (types->size < sizeof(header))
		return false;
	memcpy(&header, types->memory, sizeof(header));
	uint64_t first_type = (uint64_t)header.hdr_len + header.type_off;
	uint64_t first_string = (uint64_t)header.hdr_len + header.str_off;
	if (header.magic != BTF_MAGIC || header.version != BTF_VERSION || header.hdr_len < sizeof(header) ||
	    first_type + header.type_len > types->size || first_string + header.str_len > types->size ||
	    header.str_len == 0 || first_type % sizeof(uint32_t) != 0)
		return false;
	types->types = (const uint8_t *)types->memory + first_type;
	types->type_bytes = header.type_len;
	types->strings = (const char *)types->memory + first_string;
	types->string_bytes = header.str_len;
	return types->strings[0] == 0 && types->strings[types->string_bytes - 1] == 0;
}

struct kernel_types *kernel_types_open(const char *path)
{
	enum { BYTES_MAX = 256 * 1024 * 1024 };
	struct stat status;
	struct kernel_types *types = calloc(1, sizeof(*types));
	int fd = types ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size > 0 && status.st_size <= BYTES_MAX) {
		types->size = (size_t)status.st_size;
		types->memory = map_file(fd, types->size);
		types->is_mapped = types->memory != NULL;
		if (!types->memory)
			types->memory = read_file(fd, types->size);
	}
	if (fd >= 0)
		close(fd);
	if (types && types->memory && find_parts(types)) {
		buffer_init(&types->names);
		hash_map_init(&types->wanted);
		return types;
	}
	kernel_types_free(types);
	return NULL;
}

void kernel_types_free(struct kernel_types *types)
{
	if (!types)
		return;
	if (types->is_mapped)
		munmap(types->memory, types->size);
	else
		free(types->memory);
	buffer_release(&types->names);
	hash_map_release(&types->wanted);
	free(types->marks);
	free(types->found);
	free(types);
}

/* --- names --- */

/* Hashes the first three characters: it rejects most names of the kernel without reading them to their end. */
static unsigned start_of(const char *name)
{
	unsigned hash = (unsigned char)name[0];
	for (int i = 1; i < 3 && name[i - 1]; i++)
		hash = hash * 31 + (unsigned char)name[i];
	return hash % START_BITS;
}

/* A function may have the name of another type. */
static uint64_t key_of(const char *name, bool is_function)
{
	return hash_bytes(name, strlen(name)) ^ is_function;
}

int kernel_types_request(struct kernel_types *types, const char *name, bool is_function)
{
	uint64_t key = key_of(name, is_function);
	if (hash_map_get(&types->wanted, key) != HASH_MAP_NONE)
		return 0;
	size_t offset = types->names.size;
	buffer_append(&types->names, name, strlen(name) + 1);
	if (buffer_error(&types->names) || hash_map_put(&types->wanted, key, (uint32_t)offset) < 0)
		return ERROR_MEMORY;
	unsigned start = start_of(name);
	types->starts[start / 8] |= (uint8_t)(1u << start % 8);
	types->functions_left += is_function;
	return 0;
}

static bool is_wanted(const struct kernel_types *types, const struct btf_type *type)
{
	bool is_function = BTF_INFO_KIND(type->info) == BTF_KIND_FUNC;
	if (type->name_off == 0 || (is_function && types->functions_left == 0))
		return false;
	const char *name = types->strings + type->name_off;
	unsigned start = start_of(name);
	if (!(types->starts[start / 8] & 1u << start % 8))
		return false;
	uint32_t offset = hash_map_get(&types->wanted, key_of(name, is_function));
	return offset != HASH_MAP_NONE && strcmp((const char *)types->names.bytes + offset, name) == 0;
}

/* --- search --- */

/* Returns the size of what follows a type's first fields, or SIZE_MAX for a kind that is not known here. */
static size_t more_bytes(uint32_t info)
{
	size_t count = BTF_INFO_VLEN(info);
	switch (BTF_INFO_KIND(info)) {
	case BTF_KIND_PTR:
	case BTF_KIND_FWD:
	case BTF_KIND_TYPEDEF:
	case BTF_KIND_VOLATILE:
	case BTF_KIND_CONST:
	case BTF_KIND_RESTRICT:
	case BTF_KIND_FUNC:
	case BTF_KIND_FLOAT:
	case BTF_KIND_TYPE_TAG:
		return 0;
	case BTF_KIND_INT:
	case BTF_KIND_VAR:
	case BTF_KIND_DECL_TAG:
		return sizeof(uint32_t);
	case BTF_KIND_ARRAY:
		return sizeof(struct btf_array);
	case BTF_KIND_STRUCT:
	case BTF_KIND_UNION:
		return count * sizeof(struct btf_member);
	case BTF_KIND_ENUM:
		return count * sizeof(struct btf_enum);
	case BTF_KIND_ENUM64:
		return count * sizeof(struct btf_enum64);
	case BTF_KIND_FUNC_PROTO:
		return count * sizeof(struct btf_param);
	case BTF_KIND_DATASEC:
		return count * sizeof(struct btf_var_secinfo);
	default:
		return SIZE_MAX;
	}
}

/* Returns the type at a position and sets *end to the position after it, or returns NULL for a malformed one. */
static const struct btf_type *type_at(const struct kernel_types *types, size_t at, size_t *end)
{
	size_t left = types->type_bytes - at;
	if (at > types->type_bytes || left < sizeof(struct btf_type))
		return NULL;
	const struct btf_type *type = (const struct btf_type *)(types->types + at);
	size_t more = more_bytes(type->info);
	if (more > left - sizeof(*type) || type->name_off >= types->string_bytes)
		return NULL;
	*end = at + sizeof(*type) + more;
	return type;
}

static int add_mark(struct kernel_types *types, size_t at)
{
	if (ARRAY_RESERVE(types->marks, types->mark_capacity, types->mark_count + 1) < 0)
		return ERROR_MEMORY;
	types->marks[types->mark_count++] = (uint32_t)at;
	return 0;
}

static int add_found(struct kernel_types *types, const struct btf_type *type)
{
	types->functions_left -= BTF_INFO_KIND(type->info) == BTF_KIND_FUNC;
	if (ARRAY_RESERVE(types->found, types->found_capacity, types->found_count + 1) < 0)
		return ERROR_MEMORY;
	types->found[types->found_count++] = (struct found){
		.number = types->count,
		.kind = BTF_INFO_KIND(type->info),
		.name = type->name_off,
	};
	return 0;
}

int kernel_types_search(struct kernel_types *types)
{
	int result = 0;
	for (size_t at = 0, end; at < types->type_bytes && result == 0; at = end) {
		const struct btf_type *type = type_at(types, at, &end);
		if (!type)
			return ERROR_FORMAT;
		if ((types->count++ & ((1u << MARK_SHIFT) - 1)) == 0)
			result = add_mark(types, at);
		if (result == 0 && is_wanted(types, type))
			result = add_found(types, type);
	}
	return result;
}

uint32_t kernel_types_find(const struct kernel_types *types, uint32_t kind, const char *name)
{
	for (size_t i = 0; i < types->found_count; i++)
		if (types->found[i].kind == kind && strcmp(types->strings + types->found[i].name, name) == 0)
			return types->found[i].number;
	return 0;
}

/* --- write --- */

struct writing {
	const struct kernel_types *types;
	struct hash_map numbers; /* number in the kernel's description -> number in ours */
	uint32_t *order;         /* the kernel's number of each of our types */
	size_t count, capacity;
	struct buffer records, strings;
	int error;
};

static const struct btf_type *type_numbered(const struct kernel_types *types, uint32_t number)
{
	const struct btf_type *type = NULL;
	if (number == 0 || number > types->count)
		return NULL;
	size_t end = types->marks[(number - 1) >> MARK_SHIFT];
	for (uint32_t i = (number - 1) & ~((1u << MARK_SHIFT) - 1); i < number; i++)
		type = type_at(types, end, &end);
	return type;
}

/* Returns our number of a type, which is written later if it is new, or 0 (void) for one that is left out. */
static uint32_t refer(struct writing *writing, uint32_t number)
{
	uint32_t ours = number ? hash_map_get(&writing->numbers, number) : 0;
	if (ours != HASH_MAP_NONE)
		return ours;
	const struct btf_type *type = type_numbered(writing->types, number);
	uint32_t kind = type ? BTF_INFO_KIND(type->info) : BTF_KIND_UNKN;
	if (!type)
		writing->error = ERROR_FORMAT;
	if (!type || kind == BTF_KIND_FUNC || kind == BTF_KIND_FUNC_PROTO || kind == BTF_KIND_VAR ||
	    kind == BTF_KIND_DATASEC || kind == BTF_KIND_DECL_TAG)
		return 0;
	if (ARRAY_RESERVE(writing->order, writing->capacity, writing->count + 1) < 0 ||
	    hash_map_put(&writing->numbers, number, (uint32_t)writing->count + 1) < 0) {
		writing->error = ERROR_MEMORY;
		return 0;
	}
	writing->order[writing->count++] = number;
	return (uint32_t)writing->count;
}

static uint32_t copy_name(struct writing *writing, uint32_t offset)
{
	if (offset == 0)
		return 0;
	if (offset >= writing->types->string_bytes) {
		writing->error = ERROR_FORMAT;
		return 0;
	}
	size_t ours = writing->strings.size;
	const char *name = writing->types->strings + offset;
	buffer_append(&writing->strings, name, strlen(name) + 1);
	return (uint32_t)ours;
}

static void write_members(struct writing *writing, const struct btf_member *members, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct btf_member member = {
			.name_off = copy_name(writing, members[i].name_off),
			.type = refer(writing, members[i].type),
			.offset = members[i].offset,
		};
		buffer_append(&writing->records, &member, sizeof(member));
	}
}

/* The elements of both kinds of enumerations begin with their names. */
static void write_elements(struct writing *writing, const uint8_t *elements, size_t count, size_t bytes)
{
	for (size_t i = 0; i < count; i++) {
		uint32_t name;
		memcpy(&name, elements + i * bytes, sizeof(name));
		name = copy_name(writing, name);
		buffer_append(&writing->records, &name, sizeof(name));
		buffer_append(&writing->records, elements + i * bytes + sizeof(name), bytes - sizeof(name));
	}
}

static void write_type(struct writing *writing, const struct btf_type *type)
{
	struct btf_type first = *type;
	const void *more = type + 1;
	uint32_t kind = BTF_INFO_KIND(type->info);
	first.name_off = copy_name(writing, type->name_off);
	if (kind == BTF_KIND_PTR)
		first.type = 0;
	else if (kind == BTF_KIND_TYPEDEF || kind == BTF_KIND_VOLATILE || kind == BTF_KIND_CONST ||
		 kind == BTF_KIND_RESTRICT || kind == BTF_KIND_TYPE_TAG)
		first.type = refer(writing, type->type);
	buffer_append(&writing->records, &first, sizeof(first));
	if (kind == BTF_KIND_STRUCT || kind == BTF_KIND_UNION) {
		write_members(writing, more, BTF_INFO_VLEN(type->info));
	} else if (kind == BTF_KIND_ENUM || kind == BTF_KIND_ENUM64) {
		size_t bytes = kind == BTF_KIND_ENUM ? sizeof(struct btf_enum) : sizeof(struct btf_enum64);
		write_elements(writing, more, BTF_INFO_VLEN(type->info), bytes);
	} else if (kind == BTF_KIND_ARRAY) {
		struct btf_array array = *(const struct btf_array *)more;
		array.type = refer(writing, array.type);
		array.index_type = refer(writing, array.index_type);
		buffer_append(&writing->records, &array, sizeof(array));
	} else {
		buffer_append(&writing->records, more, more_bytes(type->info));
	}
}

static void join(const struct writing *writing, struct buffer *out)
{
	const struct btf_header header = {
		.magic = BTF_MAGIC,
		.version = BTF_VERSION,
		.hdr_len = sizeof(header),
		.type_len = (uint32_t)writing->records.size,
		.str_off = (uint32_t)writing->records.size,
		.str_len = (uint32_t)writing->strings.size,
	};
	buffer_append(out, &header, sizeof(header));
	buffer_append(out, writing->records.bytes, writing->records.size);
	buffer_append(out, writing->strings.bytes, writing->strings.size);
}

int kernel_types_write(const struct kernel_types *types, struct buffer *out)
{
	struct writing writing = { .types = types };
	hash_map_init(&writing.numbers);
	buffer_init(&writing.records);
	buffer_init(&writing.strings);
	buffer_append_byte(&writing.strings, 0);
	for (size_t i = 0; i < types->found_count; i++)
		refer(&writing, types->found[i].number);
	/* Each type may add further types to the end. */
	for (size_t i = 0; i < writing.count && writing.error == 0; i++) {
		const struct btf_type *type = type_numbered(types, writing.order[i]);
		if (type) /* refer has found it */
			write_type(&writing, type);
	}
	if (buffer_error(&writing.records) || buffer_error(&writing.strings))
		writing.error = ERROR_MEMORY;
	if (writing.error == 0)
		join(&writing, out);
	hash_map_release(&writing.numbers);
	buffer_release(&writing.records);
	buffer_release(&writing.strings);
	free(writing.order);
	return writing.error ? writing.error : buffer_error(out);
}
