/* The lines of /proc/kallsyms, and which symbol names an address. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "frames/kernel/symbols.h"
#include "support/alloc_fail.h"

static const char LIST[] = "0000000000000000 A fixed_percpu_data\n"
			   "ffffffff81000000 T startup_64\n"
			   "ffffffff81000000 T _text\n"
			   "ffffffff81000100 t vfs_write\n"
			   "ffffffff81000200 D jiffies\n"
			   "ffffffff81000300 W weak_one\n"
			   "ffffffffc0000010 t nft_do_chain\t[nf_tables]\n";

static int read_list(const char *text, const uint64_t *addresses, size_t count, struct kernel_symbol *found,
		     struct buffer *names)
{
	int fd = memfd_create("symbols", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text)); /* its position is behind the text */
	buffer_init(names);
	int status = kernel_symbols_read(fd, addresses, count, found, names);
	close(fd);
	return status;
}

/* `name` NULL: the address has none. */
static void assert_named(const char *text, uint64_t address, const char *name)
{
	struct kernel_symbol found;
	struct buffer names;
	assert_int_equal(read_list(text, &address, 1, &found, &names), 0);
	assert_int_equal(found.length, name ? strlen(name) : 0);
	if (name)
		assert_memory_equal(names.bytes + found.at, name, found.length);
	buffer_release(&names);
}

static void test_ranges(void **state)
{
	(void)state;
	assert_named(LIST, 0xffffffff80ffffff, NULL);
	assert_named(LIST, 0xffffffff81000000, "startup_64"); /* the first of two */
	assert_named(LIST, 0xffffffff810000ff, "startup_64");
	assert_named(LIST, 0xffffffff81000100, "vfs_write");
	assert_named(LIST, 0xffffffff81000200, "vfs_write"); /* data names no code */
	assert_named(LIST, 0xffffffff81000300, "weak_one");
	assert_named(LIST, 0xffffffffc0000010, "nft_do_chain [nf_tables]");
	assert_named(LIST, 0xffffffffc000000f, NULL); /* no function is so long */
	assert_named(LIST, 0xffffffff81000300 + 256 * 1024 - 1, "weak_one");
	assert_named(LIST, 0xffffffff81000300 + 256 * 1024, NULL);
	assert_named(LIST, 0, NULL);
}

static void test_several(void **state)
{
	(void)state;
	static const uint64_t addresses[] = { 1, 0xffffffff81000101, 0xffffffff81000150, 0xffffffff81000310,
					      0xffffffffc0000020 };
	static const char *const names_of[] = { NULL, "vfs_write", "vfs_write", "weak_one",
						"nft_do_chain [nf_tables]" };
	/* The lines may have any order. */
	static const char shuffled[] = "ffffffffc0000010 t nft_do_chain\t[nf_tables]\nffffffff81000300 W weak_one\n"
				       "ffffffff81000100 t vfs_write\nffffffff81000000 T startup_64\n";
	for (int order = 0; order < 2; order++) {
		struct kernel_symbol found[5];
		struct buffer names;
		assert_int_equal(read_list(order ? shuffled : LIST, addresses, 5, found, &names), 0);
		for (int i = 0; i < 5; i++) {
			assert_int_equal(found[i].length, names_of[i] ? strlen(names_of[i]) : 0);
			if (names_of[i])
				assert_memory_equal(names.bytes + found[i].at, names_of[i], found[i].length);
		}
		buffer_release(&names);
	}
}

static void test_other_lines(void **state)
{
	(void)state;
	static const char *const lines[] = { "",
					     "\n",
					     "ffffffff81000000\n",
					     "ffffffff81000000 T\n",
					     "ffffffff81000000 T \n",
					     "ffffffff81000000 TT name\n",
					     "x T name\n",
					     "fffffffff81000000 T name\n",
					     "ffffffff81000000 T no_newline" };
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++)
		assert_named(lines[i], 0xffffffff81000000, NULL);
	/* Where the kernel hides its addresses, all of them are 0. */
	assert_named("0000000000000000 T startup_64\n0000000000000000 T vfs_write\n", 0xffffffff81000000, NULL);
}

static void test_failures(void **state)
{
	(void)state;
	struct kernel_symbol found;
	struct buffer names;
	uint64_t address = 0xffffffff81000000;
	buffer_init(&names);
	errno = 0;
	assert_int_equal(kernel_symbols_read(-1, &address, 1, &found, &names), ERROR_SYSTEM);
	assert_int_equal(errno, EBADF);
	buffer_release(&names);
	int failed = 0, status = ERROR_MEMORY;
	ALLOC_FAIL_EACH({
		status = read_list(LIST, &address, 1, &found, &names);
		failed += status == ERROR_MEMORY;
		buffer_release(&names);
	});
	assert_int_equal(status, 0);
	assert_true(failed >= 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_several),
		cmocka_unit_test(test_other_lines),
		cmocka_unit_test(test_failures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
