#include "collect/sample/bpf/type_subset.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "collect/sample/bpf/kernel_types.h"

enum { NAME_BYTES = 128, SECTIONS = 2 };

struct type_subset {
	struct kernel_types *types;
	int fd; /* the file with the subset, in memory */
	char path[64];
};

/* How the kernel names the type to which a program of a section attaches. */
static const struct section {
	const char *pattern, *prefix; /* of libbpf; of the program's section */
	enum bpf_attach_type attach_type;
	const char *format;
	uint32_t kind;
} sections[SECTIONS] = {
	{ "tp_btf+", "tp_btf/", BPF_TRACE_RAW_TP, "btf_trace_%s", BTF_KIND_TYPEDEF },
	{ "iter+", "iter/", BPF_TRACE_ITER, "bpf_iter_%s", BTF_KIND_FUNC },
};

static int handlers[SECTIONS];             /* of libbpf; 0: not registered */
static const struct type_subset *in_force; /* which the handlers use */

/* --- attaching --- */

/* Finds the name of the type to which a program attaches. Returns its section's row, or NULL if it attaches to none. */
static const struct section *target_of(const struct bpf_program *program, char name[NAME_BYTES])
{
	const char *text = bpf_program__section_name(program);
	for (size_t i = 0; i < SECTIONS; i++) {
		size_t length = strlen(sections[i].prefix);
		if (strncmp(text, sections[i].prefix, length) != 0)
			continue;
		snprintf(name, NAME_BYTES, sections[i].format, text + length);
		return &sections[i];
	}
	return NULL;
}

/* libbpf calls this just before it loads a program. */
static int set_target(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
	(void)cookie;
	char name[NAME_BYTES];
	const struct section *section = target_of(program, name);
	options->attach_prog_fd = 0;
	options->attach_btf_id = in_force && section ? kernel_types_find(in_force->types, section->kind, name) : 0;
	return options->attach_btf_id ? 0 : -ESRCH;
}

static int register_handlers(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, options, .prog_prepare_load_fn = set_target);
	for (size_t i = 0; i < SECTIONS; i++) {
		if (!handlers[i])
			handlers[i] = libbpf_register_prog_handler(sections[i].pattern, BPF_PROG_TYPE_TRACING,
								   sections[i].attach_type, &options);
		if (handlers[i] < 0)
			handlers[i] = 0;
		if (!handlers[i])
			return ERROR_MEMORY;
	}
	return 0;
}

void type_subset_abandon(void)
{
	for (size_t i = 0; i < SECTIONS; i++)
		if (handlers[i])
			libbpf_unregister_prog_handler(handlers[i]);
	memset(handlers, 0, sizeof(handlers));
}

/* --- new and free --- */

struct type_subset *type_subset_new(void)
{
	struct type_subset *subset = calloc(1, sizeof(*subset));
	if (!subset)
		return NULL;
	subset->types = kernel_types_open(KERNEL_TYPES_PATH);
	subset->fd = subset->types ? memfd_create("cpprof-types", MFD_CLOEXEC) : -1;
	if (subset->fd < 0 || register_handlers() < 0) {
		type_subset_free(subset);
		return NULL;
	}
	snprintf(subset->path, sizeof(subset->path), "/proc/self/fd/%d", subset->fd);
	return subset;
}

void type_subset_free(struct type_subset *subset)
{
	if (!subset)
		return;
	if (in_force == subset)
		in_force = NULL;
	if (subset->fd >= 0)
		close(subset->fd);
	kernel_types_free(subset->types);
	free(subset);
}

const char *type_subset_path(const struct type_subset *subset)
{
	return subset->path;
}

/* --- fill --- */

/* The relocations are for types of the object that have the same name in the kernel, up to three underscores. All
 * named types are sought: only libbpf knows which of them have relocations. */
static int request_types(struct kernel_types *types, const struct bpf_object *object)
{
	const struct btf *own = bpf_object__btf(object);
	int result = own ? 0 : ERROR_UNSUPPORTED;
	for (uint32_t i = 1; own && i < btf__type_cnt(own) && result == 0; i++) {
		const struct btf_type *type = btf__type_by_id(own, i);
		const char *name = btf__name_by_offset(own, type->name_off);
		char base[NAME_BYTES];
		if (!name || !name[0] || btf_is_func(type) || btf_is_var(type) || btf_is_datasec(type))
			continue;
		const char *flavor = strstr(name, "___");
		size_t length = flavor ? (size_t)(flavor - name) : strlen(name);
		if (length >= sizeof(base))
			return ERROR_UNSUPPORTED;
		memcpy(base, name, length);
		base[length] = 0;
		result = kernel_types_request(types, base, false);
	}
	return result;
}

static int request_targets(struct kernel_types *types, const struct bpf_object *object)
{
	struct bpf_program *program;
	char name[NAME_BYTES];
	bpf_object__for_each_program(program, object)
	{
		const struct section *section = bpf_program__autoload(program) ? target_of(program, name) : NULL;
		if (section && kernel_types_request(types, name, section->kind == BTF_KIND_FUNC) < 0)
			return ERROR_MEMORY;
	}
	return 0;
}

static int write_all(int fd, const struct buffer *bytes)
{
	size_t written = 0;
	while (written < bytes->size) {
		ssize_t count = write(fd, bytes->bytes + written, bytes->size - written);
		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0)
			return ERROR_SYSTEM;
		written += (size_t)count;
	}
	return 0;
}

/* Keeps libbpf from reading the kernel's types for a program: the descriptor is not used, and set_target removes it. */
static int set_descriptors(const struct type_subset *subset, const struct bpf_object *object)
{
	struct bpf_program *program;
	char name[NAME_BYTES];
	bpf_object__for_each_program(program, object)
	{
		if (bpf_program__autoload(program) && target_of(program, name) &&
		    bpf_program__set_attach_target(program, subset->fd, NULL) < 0)
			return ERROR_UNSUPPORTED;
	}
	return 0;
}

int type_subset_fill(struct type_subset *subset, struct bpf_object *object)
{
	struct buffer bytes;
	buffer_init(&bytes);
	int result = request_types(subset->types, object);
	if (result == 0)
		result = request_targets(subset->types, object);
	if (result == 0)
		result = kernel_types_search(subset->types);
	if (result == 0)
		result = kernel_types_write(subset->types, &bytes);
	if (result == 0)
		result = write_all(subset->fd, &bytes);
	if (result == 0)
		result = set_descriptors(subset, object);
	if (result == 0)
		in_force = subset;
	buffer_release(&bytes);
	return result;
}
