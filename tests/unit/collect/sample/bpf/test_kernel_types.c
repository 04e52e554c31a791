/* collect/sample/bpf/kernel_types.c: types are found by their names, and the description with a part of them says the
 * same about them as the whole one, as libbpf reads both. A damaged description is refused. */
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "collect/sample/bpf/kernel_types.h"
#include "support/alloc_fail.h"

static const char *const wanted[] = { "outer", "choice", "alias", "btf_trace_event", "absent" };

/* --- a description with each kind of type --- */

static struct btf *whole;
static char path[] = "/tmp/cpprof-types-XXXXXX";

static int make(void **state)
{
	(void)state;
	whole = btf__new_empty();
	int number = btf__add_int(whole, "int", 4, BTF_INT_SIGNED);
	int inner = btf__add_struct(whole, "inner", 8);
	btf__add_field(whole, "first", number, 0, 0);
	btf__add_field(whole, "bits", number, 32, 3);
	int far = btf__add_struct(whole, "far", 4);
	btf__add_field(whole, "value", number, 0, 0);
	int pointer = btf__add_ptr(whole, far);
	int array = btf__add_array(whole, number, inner, 3);
	int constant = btf__add_const(whole, array);
	int choice = btf__add_enum(whole, "choice", 4);
	btf__add_enum_value(whole, "choice_one", 1);
	btf__add_enum_value(whole, "choice_two", 2);
	int either = btf__add_union(whole, NULL, 8);
	btf__add_field(whole, "pointer", pointer, 0, 0);
	btf__add_field(whole, "choice", choice, 0, 0);
	int outer = btf__add_struct(whole, "outer", 40);
	btf__add_field(whole, "many", constant, 0, 0);
	btf__add_field(whole, NULL, either, 192, 0);
	btf__add_field(whole, "inside", inner, 256, 0);
	btf__add_typedef(whole, "alias", outer);
	int prototype = btf__add_func_proto(whole, number);
	btf__add_func_param(whole, "argument", pointer);
	btf__add_func(whole, "outer", BTF_FUNC_STATIC, prototype); /* it has the name of a type */
	btf__add_func(whole, "called", BTF_FUNC_STATIC, prototype);
	btf__add_typedef(whole, "btf_trace_event", btf__add_ptr(whole, prototype));
	uint32_t size;
	const void *bytes = btf__raw_data(whole, &size);
	int fd = mkstemp(path);
	bool is_written = bytes && fd >= 0 && write(fd, bytes, size) == (ssize_t)size;
	return close(fd) < 0 || !is_written;
}

static int remove_it(void **state)
{
	(void)state;
	btf__free(whole);
	return unlink(path);
}

/* Returns the types of a file after the search, or NULL; *result is the result of the search. */
static struct kernel_types *search(const char *file, int *result)
{
	struct kernel_types *types = kernel_types_open(file);
	*result = types ? 0 : ERROR_FORMAT;
	for (size_t i = 0; types && i < sizeof(wanted) / sizeof(wanted[0]) && *result == 0; i++)
		*result = kernel_types_request(types, wanted[i], false);
	if (*result == 0)
		*result = kernel_types_request(types, "called", true);
	if (*result == 0)
		*result = kernel_types_search(types);
	return types;
}

static void finds_numbers(void **state)
{
	(void)state;
	int result;
	struct kernel_types *types = search(path, &result);
	assert_int_equal(result, 0);
	static const struct {
		uint32_t kind;
		const char *name;
	} sought[] = { { BTF_KIND_STRUCT, "outer" },
		       { BTF_KIND_ENUM, "choice" },
		       { BTF_KIND_TYPEDEF, "alias" },
		       { BTF_KIND_TYPEDEF, "btf_trace_event" },
		       { BTF_KIND_FUNC, "called" } };
	for (size_t i = 0; i < sizeof(sought) / sizeof(sought[0]); i++)
		assert_int_equal(kernel_types_find(types, sought[i].kind, sought[i].name),
				 btf__find_by_name_kind(whole, sought[i].name, sought[i].kind));
	assert_int_equal(kernel_types_find(types, BTF_KIND_STRUCT, "absent"), 0);
	assert_int_equal(kernel_types_find(types, BTF_KIND_STRUCT, "far"), 0); /* not wanted */
	assert_int_equal(kernel_types_find(types, BTF_KIND_FUNC, "outer"), 0);
	kernel_types_free(types);
}

/* Writes the part, has libbpf read it, and compares a type in it with the same type in the whole. */
static void same_struct(const struct btf *part, const struct btf *all, const char *name)
{
	int one = btf__find_by_name_kind(part, name, BTF_KIND_STRUCT);
	int other = btf__find_by_name_kind(all, name, BTF_KIND_STRUCT);
	assert_true(one > 0 && other > 0);
	const struct btf_type *a = btf__type_by_id(part, (uint32_t)one), *b = btf__type_by_id(all, (uint32_t)other);
	assert_int_equal(a->size, b->size);
	assert_int_equal(a->info, b->info);
	for (uint32_t i = 0; i < btf_vlen(a); i++) {
		assert_string_equal(btf__name_by_offset(part, btf_members(a)[i].name_off),
				    btf__name_by_offset(all, btf_members(b)[i].name_off));
		assert_int_equal(btf_members(a)[i].offset, btf_members(b)[i].offset);
		assert_int_equal(btf__resolve_size(part, btf_members(a)[i].type),
				 btf__resolve_size(all, btf_members(b)[i].type));
	}
}

static void writes_a_part(void **state)
{
	(void)state;
	int result;
	struct buffer bytes;
	struct kernel_types *types = search(path, &result);
	buffer_init(&bytes);
	assert_int_equal(kernel_types_write(types, &bytes), 0);
	struct btf *part = btf__new(bytes.bytes, (uint32_t)bytes.size);
	assert_int_equal(libbpf_get_error(part), 0);
	same_struct(part, whole, "outer");
	same_struct(part, whole, "inner"); /* is not wanted, but contained */
	assert_true(btf__find_by_name_kind(part, "far", BTF_KIND_STRUCT) < 0);
	assert_true(btf__find_by_name_kind(part, "called", BTF_KIND_FUNC) < 0);
	int choice = btf__find_by_name_kind(part, "choice", BTF_KIND_ENUM);
	assert_true(choice > 0);
	const struct btf_enum *elements = btf_enum(btf__type_by_id(part, (uint32_t)choice));
	assert_string_equal(btf__name_by_offset(part, elements[1].name_off), "choice_two");
	assert_int_equal(elements[1].val, 2);
	btf__free(part);
	buffer_release(&bytes);
	kernel_types_free(types);
}

/* --- damage, and no memory --- */

static void use(const char *file)
{
	int result;
	struct buffer bytes;
	struct kernel_types *types = search(file, &result);
	buffer_init(&bytes);
	if (result == 0)
		kernel_types_write(types, &bytes);
	buffer_release(&bytes);
	kernel_types_free(types);
}

static void survives_damage(void **state)
{
	(void)state;
	uint32_t size;
	const uint8_t *bytes = btf__raw_data(whole, &size);
	uint8_t *copy = malloc(size);
	char name[] = "/tmp/cpprof-types-XXXXXX";
	int fd = mkstemp(name);
	assert_true(fd >= 0 && copy);
	for (uint32_t i = 0; i < size; i++) {
		memcpy(copy, bytes, size);
		copy[i] ^= 0xff;
		assert_int_equal(pwrite(fd, copy, size, 0), size);
		use(name);
	}
	for (uint32_t length = size; length-- > 0;) {
		assert_int_equal(ftruncate(fd, length), 0);
		struct kernel_types *types = kernel_types_open(name);
		assert_null(types);
	}
	close(fd);
	unlink(name);
	free(copy);
}

static void survives_without_memory(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(use(path));
}

/* --- the running kernel --- */

static void agrees_about_the_kernel(void **state)
{
	(void)state;
	struct kernel_types *types = kernel_types_open(KERNEL_TYPES_PATH);
	if (!types)
		skip();
	struct btf *all = btf__load_vmlinux_btf();
	struct buffer bytes;
	buffer_init(&bytes);
	assert_int_equal(kernel_types_request(types, "task_struct", false), 0);
	assert_int_equal(kernel_types_request(types, "bpf_iter_task", true), 0);
	assert_int_equal(kernel_types_search(types), 0);
	assert_int_equal(kernel_types_find(types, BTF_KIND_FUNC, "bpf_iter_task"),
			 btf__find_by_name_kind(all, "bpf_iter_task", BTF_KIND_FUNC));
	assert_int_equal(kernel_types_write(types, &bytes), 0);
	struct btf *part = btf__new(bytes.bytes, (uint32_t)bytes.size);
	assert_int_equal(libbpf_get_error(part), 0);
	same_struct(part, all, "task_struct");
	assert_true(btf__type_cnt(part) < btf__type_cnt(all) / 4);
	btf__free(part);
	btf__free(all);
	buffer_release(&bytes);
	kernel_types_free(types);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_numbers),           cmocka_unit_test(writes_a_part),
		cmocka_unit_test(survives_damage),         cmocka_unit_test(survives_without_memory),
		cmocka_unit_test(agrees_about_the_kernel),
	};
	return cmocka_run_group_tests_name("kernel_types", tests, make, remove_it);
}
