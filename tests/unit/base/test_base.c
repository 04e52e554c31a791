/* base/: the cursor, buffers, maps, strings, errors, sinks and names that all other code uses. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/buffer.h"
#include "base/compare.h"
#include "base/cursor.h"
#include "base/cxx_name.h"
#include "base/error.h"
#include "base/hash_map.h"
#include "base/huge_pages.h"
#include "base/lower_bound.h"
#include "base/memory_limit.h"
#include "base/memory_size.h"
#include "base/near_names.h"
#include "base/path.h"
#include "base/plural.h"
#include "base/safe_text.h"
#include "base/sink.h"
#include "base/slices.h"
#include "base/strings.h"
#include "base/words.h"
#include "support/alloc_fail.h"

static void test_array_grows(void **state)
{
	(void)state;
	uint32_t *items = NULL;
	size_t capacity = 0;
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(ARRAY_RESERVE(items, capacity, i + 1), 0);
		assert_true(capacity > i);
		items[i] = i;
	}
	for (uint32_t i = 0; i < 1000; i++)
		assert_int_equal(items[i], i);
	uint32_t *before = items;
	size_t had = capacity;
	assert_int_equal(ARRAY_RESERVE(items, capacity, SIZE_MAX / 2), ERROR_MEMORY);
	alloc_fail_start(1);
	assert_int_equal(ARRAY_RESERVE(items, capacity, capacity + 1), ERROR_MEMORY);
	assert_true(alloc_fail_stop());
	assert_ptr_equal(items, before);
	assert_int_equal(capacity, had);
	free(items);
}

static void test_buffer_and_cursor(void **state)
{
	(void)state;
	static const uint64_t numbers[] = { 0, 1, 127, 128, 16383, 16384, UINT32_MAX, INT64_MAX, UINT64_MAX };
	struct buffer buffer;
	buffer_init(&buffer);
	for (size_t i = 0; i < 9; i++) {
		buffer_append_varint(&buffer, numbers[i]);
		buffer_append_varint_signed(&buffer, (int64_t)numbers[i]);
		buffer_append_varint_signed(&buffer, -(int64_t)(numbers[i] / 2));
	}
	buffer_append(&buffer, NULL, 0);
	buffer_append_string(&buffer, "text");
	buffer_append_byte(&buffer, 0);
	buffer_printf(&buffer, "%d-%s", 42, "x");
	assert_int_equal(buffer_error(&buffer), 0);
	struct cursor cursor = cursor_over(buffer.bytes, buffer.size);
	for (size_t i = 0; i < 9; i++) {
		assert_int_equal(cursor_varint(&cursor), numbers[i]);
		assert_int_equal(cursor_varint_signed(&cursor), (int64_t)numbers[i]);
		assert_int_equal(cursor_varint_signed(&cursor), -(int64_t)(numbers[i] / 2));
	}
	assert_string_equal(cursor_string(&cursor), "text");
	assert_int_equal(cursor_left(&cursor), 4);
	assert_memory_equal(cursor_bytes(&cursor, 4), "42-x", 4);
	assert_false(cursor.failed);
	assert_int_equal(cursor_u32(&cursor), 0);
	assert_true(cursor.failed);
	buffer_release(&buffer);
}

/* A cursor never reads past its bytes, and after one failure every read fails. */
static void test_cursor_ends(void **state)
{
	(void)state;
	static const uint8_t bytes[] = { 1, 2, 3, 0x80, 0x80 };
	struct cursor cursor = cursor_over(bytes, 3);
	assert_int_equal(cursor_u16(&cursor), 0x0201);
	assert_int_equal(cursor_u16(&cursor), 0);
	assert_true(cursor.failed);
	assert_int_equal(cursor_u8(&cursor), 0);
	assert_null(cursor_bytes(&cursor, 0));
	cursor = cursor_over(bytes + 3, 2);
	assert_int_equal(cursor_varint(&cursor), 0); /* no byte ends the number */
	assert_true(cursor.failed);
	static const uint8_t endless[12] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0 };
	cursor = cursor_over(endless, sizeof(endless));
	assert_int_equal(cursor_varint(&cursor), 0);
	assert_true(cursor.failed);
	cursor = cursor_over("abc", 3);
	assert_null(cursor_string(&cursor));
	assert_true(cursor.failed);
	cursor = cursor_over(NULL, 0);
	assert_int_equal(cursor_u64(&cursor), 0);
	assert_true(cursor.failed);
	static const uint8_t negative[] = { 0x7f, 0x80, 0x7f }; /* DWARF 5, 7.6: -1, -128 */
	cursor = cursor_over(negative, sizeof(negative));
	assert_int_equal(cursor_sleb128(&cursor), -1);
	assert_int_equal(cursor_sleb128(&cursor), -128);
	assert_false(cursor.failed);
}

/* A buffer that could not grow keeps its content, ignores later appends, and reports the error when asked. */
static void test_buffer_remembers(void **state)
{
	(void)state;
	struct buffer buffer;
	buffer_init(&buffer);
	buffer_append_string(&buffer, "kept");
	alloc_fail_start(1);
	assert_null(buffer_extend(&buffer, 1000));
	assert_true(alloc_fail_stop());
	buffer_append_string(&buffer, "not added");
	buffer_printf(&buffer, "neither");
	assert_int_equal(buffer_error(&buffer), ERROR_MEMORY);
	assert_int_equal(buffer.size, 4);
	assert_memory_equal(buffer.bytes, "kept", 4);
	buffer_clear(&buffer);
	assert_int_equal(buffer_error(&buffer), 0);
	assert_null(buffer_extend(&buffer, SIZE_MAX));
	assert_int_equal(buffer_error(&buffer), ERROR_MEMORY);
	buffer_release(&buffer);
}

static void test_hash_map(void **state)
{
	(void)state;
	struct hash_map map;
	hash_map_init(&map);
	assert_int_equal(hash_map_get(&map, 5), HASH_MAP_NONE);
	for (uint64_t i = 0; i < 5000; i++)
		assert_int_equal(hash_map_put(&map, i * 0x100000000u, (uint32_t)i), 0);
	assert_int_equal(hash_map_put(&map, 0, 77), 0); /* replaced */
	assert_int_equal(map.count, 5000);
	assert_int_equal(hash_map_get(&map, 0), 77);
	for (uint64_t i = 1; i < 5000; i++)
		assert_int_equal(hash_map_get(&map, i * 0x100000000u), i);
	assert_int_equal(hash_map_get(&map, 1), HASH_MAP_NONE);
	alloc_fail_start(1);
	assert_int_equal(hash_map_reserve(&map, 100000), ERROR_MEMORY);
	assert_true(alloc_fail_stop());
	assert_int_equal(hash_map_get(&map, 0x100000000u), 1);
	assert_int_equal(hash_map_reserve(&map, SIZE_MAX), ERROR_MEMORY);
	hash_map_clear(&map);
	assert_int_equal(map.count, 0);
	assert_int_equal(hash_map_get(&map, 0), HASH_MAP_NONE);
	uint32_t number;
	assert_int_equal(hash_map_number(&map, 9, &number), 1);
	assert_int_equal(number, 1);
	assert_int_equal(hash_map_number(&map, 4, &number), 1);
	assert_int_equal(number, 2);
	assert_int_equal(hash_map_number(&map, 9, &number), 0);
	assert_int_equal(number, 1);
	hash_map_release(&map);
	alloc_fail_start(1);
	assert_int_equal(hash_map_number(&map, 9, &number), ERROR_MEMORY);
	assert_true(alloc_fail_stop());
	assert_int_equal(map.count, 0);
	hash_map_release(&map);
}

static void test_strings(void **state)
{
	(void)state;
	struct strings strings;
	assert_int_equal(strings_init(&strings), 0);
	assert_int_equal(strings_add(&strings, "", 0), 0);
	const char *kept = NULL;
	for (int i = 0; i < 20000; i++) {
		char text[32];
		int length = snprintf(text, sizeof(text), "string %d", i);
		assert_int_equal(strings_add(&strings, text, (size_t)length), i + 1);
		assert_int_equal(strings_add(&strings, text, (size_t)length), i + 1);
		if (i == 0)
			kept = strings_get(&strings, 1);
	}
	assert_ptr_equal(kept, strings_get(&strings, 1)); /* it did not move */
	assert_string_equal(strings_get(&strings, 20000), "string 19999");
	assert_string_equal(strings_get(&strings, 20001), "");
	char *large = malloc(1 << 20);
	memset(large, 'x', 1 << 20);
	assert_int_equal(strings_add(&strings, large, 1 << 20), 20001);
	assert_int_equal(strings_add(&strings, large, (1 << 20) - 1), 20002); /* another */
	assert_int_equal(strings_add(&strings, large, SIZE_MAX), ERROR_LIMIT);
	assert_int_equal(strings_find(&strings, large, 1 << 20), 20001);
	assert_int_equal(strings_find(&strings, "string 7", 8), 8);
	assert_int_equal(strings_find(&strings, "string 7", 7), ERROR_NOT_FOUND);
	assert_int_equal(strings_find(&strings, "", 0), 0);
	free(large);
	strings_release(&strings);
}

static void try_strings(void)
{
	struct strings strings;
	if (strings_init(&strings) < 0)
		return;
	for (int i = 0; i < 40; i++) {
		char text[32];
		int length = snprintf(text, sizeof(text), "string %d", i);
		size_t count = strings.count;
		int64_t id = strings_add(&strings, text, (size_t)length);
		assert_true(id == (int64_t)count || (id == ERROR_MEMORY && strings.count == count));
		if (id >= 0)
			assert_string_equal(strings_get(&strings, (uint32_t)id), text);
	}
	strings_release(&strings);
}

static void test_strings_without_memory(void **state)
{
	(void)state;
	ALLOC_FAIL_EACH(try_strings());
}

static int fill_items(void)
{
	struct hash_map map;
	uint64_t *items = NULL;
	size_t capacity = 0, count = 0;
	int64_t index = 0;
	bool is_new;
	hash_map_init(&map);
	for (uint64_t i = 0; i < 300 && index >= 0; i++) {
		uint64_t key = i % 100 * 7;
		index = HASH_MAP_ITEM(&map, key, items, capacity, count, &is_new);
		assert_int_equal(is_new, index >= 0 && i < 100);
		if (is_new)
			items[index] = key;
		if (index >= 0)
			assert_int_equal(items[index], key);
	}
	assert_true(index < 0 || count == 100);
	free(items);
	hash_map_release(&map);
	return index < 0 ? (int)index : 0;
}

static void test_hash_map_items(void **state)
{
	(void)state;
	assert_int_equal(fill_items(), 0);
	ALLOC_FAIL_EACH(fill_items());
	/* an array that is full */
	struct hash_map map;
	uint64_t *items = NULL;
	size_t capacity = 0, count = HASH_MAP_NONE;
	bool is_new = true;
	hash_map_init(&map);
	assert_int_equal(HASH_MAP_ITEM(&map, 1, items, capacity, count, &is_new), ERROR_LIMIT);
	assert_false(is_new);
	hash_map_release(&map);
}

static void test_compare(void **state)
{
	(void)state;
	assert_int_equal(COMPARE(1u, 2u), -1);
	assert_int_equal(COMPARE(UINT64_MAX, UINT64_C(1)), 1);
	assert_int_equal(COMPARE(0.5, 0.5), 0);
	assert_int_equal(COMPARE(3, 3) ?: COMPARE(2, 1) ?: COMPARE(0, 9), 1);
}

static void test_lower_bound(void **state)
{
	(void)state;
	static const uint32_t sorted[] = { 1, 3, 3, 7 };
	static const size_t at_or_above[] = { 0, 0, 1, 1, 3, 3, 3, 3, 4 };
	for (uint32_t wanted = 0; wanted < sizeof(at_or_above) / sizeof(*at_or_above); wanted++)
		assert_int_equal(LOWER_BOUND(i, 0, 4, sorted[i] < wanted), at_or_above[wanted]);
	/* A part of the sequence, and none of it. */
	assert_int_equal(LOWER_BOUND(i, 2, 4, sorted[i] < 1), 2);
	assert_int_equal(LOWER_BOUND(i, 0, 2, sorted[i] < 7), 2);
	assert_int_equal(LOWER_BOUND(i, 3, 3, sorted[i] < 9), 3);
}

static void test_errors(void **state)
{
	(void)state;
	struct error error;
	assert_int_equal(error_set(&error, ERROR_FORMAT, "%s is odd", "it"), ERROR_FORMAT);
	assert_string_equal(error.message, "it is odd");
	assert_int_equal(error_set(NULL, ERROR_FORMAT, "nobody listens"), ERROR_FORMAT);
	assert_int_equal(error_memory(NULL), ERROR_MEMORY);
	assert_int_equal(error_memory(&error), ERROR_MEMORY);
	assert_int_equal(error.code, ERROR_MEMORY);
	assert_string_equal(error.message, "out of memory");
	static const struct {
		int number, code;
	} pairs[] = { { ENOENT, ERROR_NOT_FOUND }, { EACCES, ERROR_PERMISSION }, { EROFS, ERROR_PERMISSION },
		      { ENOSPC, ERROR_NO_SPACE },  { EFBIG, ERROR_NO_SPACE },    { ENOMEM, ERROR_MEMORY },
		      { EIO, ERROR_SYSTEM } };
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		errno = pairs[i].number;
		assert_int_equal(error_set_errno(&error, "cannot open %s", "it"), pairs[i].code);
		assert_non_null(strstr(error.message, "cannot open it: "));
		assert_non_null(strstr(error.message, strerror(pairs[i].number)));
	}
	/* A text longer than the message is truncated. */
	char long_text[2000];
	memset(long_text, 'x', sizeof(long_text) - 1);
	long_text[sizeof(long_text) - 1] = 0;
	errno = EIO;
	error_set_errno(&error, "%s", long_text);
	assert_int_equal(strlen(error.message), sizeof(error.message) - 1);
	for (int code = -30; code < 5; code++)
		assert_true(strlen(error_text(code)) > 0);
	assert_string_not_equal(error_text(ERROR_MEMORY), error_text(ERROR_LIMIT));
}

static void test_nearest(void **state)
{
	(void)state;
	assert_true(text_resembles("reprot", "report"));
	assert_true(text_resembles("rep", "report"));
	assert_false(text_resembles("xyz", "report"));
	assert_true(text_resembles("abc", "acb")); /* two neighbouring letters exchanged: one edit of three letters */
	assert_true(text_resembles("abcdef", "abXYef"));
	assert_false(text_resembles("abcdef", "aXYZef"));
	assert_false(text_resembles("kitten", "sitting"));
	assert_false(text_resembles("", "abc"));
	assert_false(text_resembles("a", "abcdef"));
}

static void test_regular_files(void **state)
{
	(void)state;
	char folder[] = "/tmp/test_base_XXXXXX", path[64];
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10); /* a plain open of a FIFO blocks */
	assert_int_equal(path_open_regular(path), -1);
	assert_int_equal(errno, EINVAL);
	alarm(0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(path_open_regular(path), -1);
	assert_int_equal(errno, ENOENT);
	assert_int_equal(path_open_regular(folder), -1);
	assert_int_equal(errno, EISDIR);
	assert_int_equal(rmdir(folder), 0);
	assert_int_equal(path_open_regular("/dev/null"), -1);
	assert_int_equal(errno, EINVAL);
	int fd = path_open_regular("/proc/self/exe");
	assert_true(fd >= 0);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
}

/* Returns whether a file was opened since the last call. */
static bool was_opened(int watch)
{
	struct inotify_event event;
	ssize_t bytes = read(watch, &event, sizeof(event));
	while (read(watch, &(struct inotify_event){ 0 }, sizeof(event)) > 0)
		;
	return bytes > 0;
}

/* Watches a file while path_open_regular tries to open it, and a symbolic link to it. */
static void expect_unopened(const char *path, const char *folder, bool is_regular)
{
	char link[96];
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	assert_true(watch >= 0);
	assert_true(inotify_add_watch(watch, path, IN_OPEN) >= 0);
	snprintf(link, sizeof(link), "%s/link", folder);
	assert_int_equal(symlink(path, link), 0);
	const char *const names[] = { path, link };
	for (size_t i = 0; i < 2; i++) {
		int fd = path_open_regular(names[i]);
		assert_int_equal(fd >= 0, is_regular);
		if (is_regular)
			close(fd);
		else
			assert_int_equal(errno, EINVAL);
		assert_int_equal(was_opened(watch), is_regular);
	}
	assert_int_equal(unlink(link), 0);
	close(watch);
}

/* To open a FIFO releases its writer, and to open a device may do anything: neither is opened. */
static void test_unopened_files(void **state)
{
	(void)state;
#ifdef IS_EMULATED
	skip(); /* the emulator opens files in its own way */
#endif
	char folder[] = "/tmp/test_base_XXXXXX", path[64];
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/fifo", folder);
	assert_int_equal(mkfifo(path, 0600), 0);
	alarm(10);
	expect_unopened(path, folder, false);
	assert_int_equal(unlink(path), 0);
	int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	assert_true(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	expect_unopened(ptsname(terminal), folder, false);
	close(terminal);
	snprintf(path, sizeof(path), "%s/file", folder);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	expect_unopened(path, folder, true);
	alarm(0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rmdir(folder), 0);
}

/* A sink reports its first failure, even if a later write succeeds or fails for another reason. */
static void test_sink(void **state)
{
	(void)state;
	char *text = NULL;
	size_t size;
	struct error error = { 0 };
	struct sink sink;
	FILE *out = open_memstream(&text, &size);
	sink_init(&sink, out);
	sink_write(&sink, "a\0b", 3);
	sink_text(&sink, "c");
	sink_printf(&sink, "%d", 12);
	assert_int_equal(sink_finish(&sink, "it", &error), 0);
	fclose(out);
	assert_int_equal(size, 6);
	assert_memory_equal(text, "a\0bc12", size);
	free(text);

	out = fopen("/dev/full", "we");
	setvbuf(out, NULL, _IONBF, 0);
	sink_init(&sink, out);
	sink_text(&sink, "a");
	assert_true(sink_failed(&sink));
	errno = 0;
	clearerr(out);
	sink_printf(&sink, "b");
	assert_false(ferror(out)); /* the sink did not write after its failure */
	assert_int_equal(sink_finish(&sink, "it", &error), ERROR_NO_SPACE);
	assert_string_equal(error.message, "cannot write it: No space left on device");
	fclose(out);

	out = fopen("/dev/full", "we"); /* the stream has a buffer, so that only sink_finish fails */
	sink_init(&sink, out);
	sink_text(&sink, "a");
	assert_false(sink_failed(&sink));
	assert_int_equal(sink_finish(&sink, "it", &error), ERROR_NO_SPACE);
	fclose(out);
}

static void expect_last(const char *text, const char *last)
{
	char plain[128];
	size_t start, length = cxx_name_last(text, strlen(text), plain, &start);
	assert_int_equal(length, strlen(last));
	assert_memory_equal(plain + start, last, length);
}

static void test_last_component(void **state)
{
	(void)state;
	expect_last("main", "main");
	expect_last("", "");
	expect_last("void std::vector<int, std::allocator<int> >::push_back(int const&)", "push_back");
	expect_last("ns::C::operator()(int) const", "operator()");
	expect_last("core::ptr::drop_in_place::<alloc::string::String>", "drop_in_place");
	expect_last("a b ", "");
}

static void test_brackets(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		size_t behind;
	} cases[] = {
		{ "<a<b>, (c > d)>::f", 15 }, { "(int)", 5 }, { "<(&operator>)>", 14 }, { "<p->q>r", 6 }, { "< b", 1 }
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(cxx_name_brackets(cases[i].text, strlen(cases[i].text), 0), cases[i].behind);
}

static void test_name_ends_with(void **state)
{
	static const char name[] = "ns::Klass::f";
	static const char *const good[] = { "f", "Klass::f", "ns::Klass::f" };
	static const char *const bad[] = { "s::Klass::f", "lass::f", "Klass", "x::ns::Klass::f", "::f" };
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++)
		assert_true(cxx_name_ends_with(name, strlen(name), good[i], strlen(good[i])));
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_false(cxx_name_ends_with(name, strlen(name), bad[i], strlen(bad[i])));
}

static const char *const listed[] = { "text", "json", "csv", NULL };
static size_t listed_from;

static const char *listed_word(size_t index)
{
	return listed[listed_from + index];
}

static void test_words(void **state)
{
	static const char *const lists[] = { "text, json or csv", "json or csv", "csv", "" };
	char list[32], cut[8];
	(void)state;
	for (listed_from = 0; listed_from < 4; listed_from++)
		assert_string_equal(words_list(listed_word, list, sizeof(list)), lists[listed_from]);
	listed_from = 0;
	assert_string_equal(words_list(listed_word, cut, sizeof(cut)), "text, j");
}

static void test_near_names(void **state)
{
	struct near_names near;
	(void)state;
	near_names_init(&near, "raed");
	assert_string_equal(near_names_text(&near), "");
	near_names_offer(&near, "select");
	near_names_offer(&near, "read");
	assert_string_equal(near_names_text(&near), " (did you mean read?)");
	near_names_offer(&near, "raid");
	assert_string_equal(near_names_text(&near), " (did you mean read, raid?)");
	static const char *const functions[] = { "io::reader(int)", "read_all", "raed_x" };
	near_names_init(&near, "raed");
	for (size_t i = 0; i < 3; i++)
		near_names_offer_function(&near, functions[i], strlen(functions[i]), functions[i]);
	assert_string_equal(near_names_text(&near), " (did you mean raed_x, io::reader(int), read_all?)");
	char name[200];
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	near_names_init(&near, name);
	near_names_offer(&near, name);
	assert_int_equal(strlen(near.names[0]), NEAR_NAME_BYTES - 1);
	assert_string_equal(near.names[0] + NEAR_NAME_BYTES - 1 - 5, "xx...");
}

static void test_plural(void **state)
{
	static const struct {
		const char *noun;
		double amount;
		const char *ending;
	} rows[] = { { "fault", 1, "" },    { "fault", 0, "s" },  { "fault", 2, "s" },  { "fault", 0.5, "s" },
		     { "switch", 2, "es" }, { "miss", 10, "es" }, { "index", 2, "es" }, { "path", 2, "s" },
		     { "ns", 2, "" },       { "s", 2, "" },       { "", 2, "" } };
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_string_equal(plural_ending(rows[i].noun, rows[i].amount), rows[i].ending);
}

static void test_safe_text(void **state)
{
	static const struct {
		const char *text, *kept, *safe;
	} rows[] = {
		{ "caf\u00e9 \u65e5\u672c \U0001f600", "", "caf\u00e9 \u65e5\u672c \U0001f600" },
		{ "\x1b[31m\t\n\x7f", "", "\\x1b[31m\\x09\\x0a\\x7f" },
		{ "\x1b\t\n", "\t\n", "\\x1b\t\n" },
		{ "\xc2\x9b\xc2\xa0", "", "\\xc2\\x9b\xc2\xa0" },
		{ "a\u202eb\u2066c\u2069", "", "a\\u202eb\\u2066c\\u2069" },
		{ "\u061c\u200b\u200f\u2028\ufeff\u00ad", "", "\\u061c\\u200b\\u200f\\u2028\\ufeff\\u00ad" },
		{ "\u2010\u2030\u205f\u2070", "", "\u2010\u2030\u205f\u2070" },
		{ "\U000e0041", "", "\\ue0041" },
		{ "\xff\xe2\x80", "", "\\xff\\xe2\\x80" },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char *bytes = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&bytes, &size);
		assert_non_null(out);
		assert_false(is_terminal(out));
		safe_text_write(out, rows[i].text, strlen(rows[i].text), rows[i].kept);
		fclose(out);
		assert_string_equal(bytes, rows[i].safe);
		free(bytes);
	}
	assert_string_equal(safe_word("byte", "gtick"), "byte");
	assert_string_equal(safe_word("by\u202ete", "gtick"), "gtick");
	assert_string_equal(safe_word("\xff", "gtick"), "gtick");
}

static void test_memory_limit(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes; /* 1: not an amount */
	} rows[] = { { "0", 0 },
		     { "512", 512 },
		     { "4k", 4096 },
		     { "1.5G", 3 << 29 },
		     { "2MiB", 2 << 20 },
		     { "7KB", 7168 },
		     { "1T", UINT64_C(1) << 40 },
		     { "", 1 },
		     { "G", 1 },
		     { "-1", 1 },
		     { "1GG", 1 },
		     { "1e9", 1 },
		     { "0x10", 1 },
		     { "1 G", 1 },
		     { "1.5.2G", 1 },
		     { "99999999999T", 1 } };
	char text[MEMORY_SIZE_TEXT_BYTES];
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t bytes = 1;
		assert_int_equal(memory_size_read(rows[i].text, &bytes), rows[i].bytes != 1);
		assert_int_equal(bytes, rows[i].bytes);
	}
	assert_string_equal(memory_size_text(3 << 29, text), "1.5 GiB");
	assert_string_equal(memory_size_text(17, text), "17 bytes");
}

/* The kernel enforces the limit, so a child process sets it. */
static void test_memory_on_huge_pages(void **state)
{
	(void)state;
	enum { MB = 1 << 20 };
	static const size_t sizes[] = { 0, 1, MB - 1, MB, MB + 1, 2 * MB, 5 * MB + 3 };
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char *memory = huge_pages_new(sizes[i]);
		assert_non_null(memory);
		for (size_t at = 0; at < sizes[i]; at += sizes[i] / 64 + 1)
			assert_int_equal(memory[at], 0);
		memset(memory, 1, sizes[i]);
		if (sizes[i] >= MB)
			assert_int_equal((uintptr_t)memory % (2 * MB), 0);
		huge_pages_free(memory, sizes[i]);
	}
	huge_pages_free(NULL, 0);
	huge_pages_free(NULL, 3 * MB);
	assert_null(huge_pages_new(SIZE_MAX / 4));
	assert_null(huge_pages_new(SIZE_MAX));
}

static void test_memory_beyond_the_limit(void **state)
{
	enum { MIB = 1 << 20 };
	(void)state;
	if (getenv("ASAN_OPTIONS")) /* its allocator ends the process where memory is limited */
		skip();
#ifdef IS_EMULATED /* the emulator does not limit its own memory */
	skip();
#endif
	pid_t child = fork();
	if (child == 0) {
		struct error error = { 0 };
		if (memory_limit_set(64 * MIB, &error) < 0 || memory_limit() != 64 * MIB)
			_exit(1);
		void *fits = malloc(32 * MIB), *large = malloc(64 * MIB);
		if (!fits || large)
			_exit(2);
		error.code = ERROR_MEMORY;
		memory_limit_explain(&error);
		_exit(strcmp(error.message, "out of memory: the limit is 64 MiB (--memory SIZE raises it)") ? 3 : 0);
	}
	int status;
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
}

/* The arguments of a slice. */
struct sliced {
	size_t next, calls;
	bool is_back;
};

static void check_slice(void *context, size_t begin, size_t end)
{
	struct sliced *sliced = context;
	assert_true(begin < end);
	assert_int_equal(sliced->is_back ? end : begin, sliced->next);
	sliced->next = sliced->is_back ? begin : end;
	sliced->calls++;
}

static void test_slices(void **state)
{
	(void)state;
	static const size_t counts[] = { 0, 1, 4095, 4096, 4097, 100000 };
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct sliced forward = { 0 }, back = { .next = counts[i], .is_back = true };
		slices_run(counts[i], check_slice, &forward);
		slices_run_back(counts[i], check_slice, &back);
		assert_int_equal(forward.next, counts[i]);
		assert_int_equal(back.next, 0);
		assert_int_equal(forward.calls, back.calls);
		assert_int_equal(forward.calls, (counts[i] + 4095) / 4096);
	}
}

static void test_huge_pages_change_nothing(void **state)
{
	(void)state;
	static const size_t sizes[] = { 0, 1000, 3 << 20, 9 << 20 };
	huge_pages_advise(NULL, 0);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		uint8_t *bytes = calloc(sizes[i] + 1, 1);
		assert_non_null(bytes);
		bytes[sizes[i] / 2] = 7;
		errno = EINTR;
		huge_pages_advise(bytes, sizes[i]);
		assert_int_equal(errno, EINTR);
		for (size_t k = 0; k <= sizes[i]; k++)
			if (bytes[k] != (k == sizes[i] / 2 ? 7 : 0))
				fail_msg("byte %zu of %zu has changed", k, sizes[i]);
		free(bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_component),
		cmocka_unit_test(test_brackets),
		cmocka_unit_test(test_name_ends_with),
		cmocka_unit_test(test_array_grows),
		cmocka_unit_test(test_buffer_and_cursor),
		cmocka_unit_test(test_cursor_ends),
		cmocka_unit_test(test_buffer_remembers),
		cmocka_unit_test(test_hash_map),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_strings_without_memory),
		cmocka_unit_test(test_hash_map_items),
		cmocka_unit_test(test_compare),
		cmocka_unit_test(test_lower_bound),
		cmocka_unit_test(test_errors),
		cmocka_unit_test(test_nearest),
		cmocka_unit_test(test_near_names),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_plural),
		cmocka_unit_test(test_regular_files),
		cmocka_unit_test(test_unopened_files),
		cmocka_unit_test(test_sink),
		cmocka_unit_test(test_safe_text),
		cmocka_unit_test(test_memory_limit),
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_huge_pages_change_nothing),
		cmocka_unit_test(test_memory_on_huge_pages),
		cmocka_unit_test(test_memory_beyond_the_limit),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
