/* jitdumps: which code an address had at which time, its name, lines and inlined functions; and dumps that are cut, damaged or hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "abi/jitdump.h"
#include "base/error.h"
#include "frames/jit/dump_reader.h"
#include "frames/jit/jitdump.h"
#include "support/alloc_fail.h"

/* --- a dump that is written record by record --- */

static struct buffer bytes;

static void put32(uint32_t value)
{
	buffer_append(&bytes, &value, sizeof(value));
}

static void put64(uint64_t value)
{
	buffer_append(&bytes, &value, sizeof(value));
}

static void put_text(const char *text)
{
	buffer_append(&bytes, text, strlen(text) + 1);
}

static void begin_dump(uint64_t flags)
{
	buffer_clear(&bytes);
	put32(JITDUMP_MAGIC);
	put32(1);
	put32(40);
	put32(62);
	put32(0);
	put32(1234);
	put64(0);
	put64(flags);
}

/* Returns the position of the record's size. */
static size_t begin_record(uint32_t id, uint64_t time)
{
	put32(id);
	size_t at = bytes.size;
	put32(0);
	put64(time);
	return at;
}

static void end_record(size_t at)
{
	uint32_t size = (uint32_t)(bytes.size - at + sizeof(uint32_t));
	memcpy(bytes.bytes + at, &size, sizeof(size));
}

static void put_load(uint64_t time, uint64_t address, uint64_t size, uint64_t index, const char *name)
{
	size_t record = begin_record(0, time);
	put64(0);
	put64(address);
	put64(address);
	put64(size);
	put64(index);
	put_text(name);
	for (uint64_t i = 0; i < size; i++)
		buffer_append_byte(&bytes, 0x90);
	end_record(record);
}

static void put_move(uint64_t time, uint64_t from, uint64_t to, uint64_t size, uint64_t index)
{
	size_t record = begin_record(1, time);
	put64(0);
	put64(to);
	put64(from);
	put64(to);
	put64(size);
	put64(index);
	end_record(record);
}

static size_t begin_lines(uint32_t id, uint64_t address, uint64_t count)
{
	size_t record = begin_record(id, 0);
	put64(address);
	put64(count);
	return record;
}

static void put_line(uint64_t address, uint32_t line, const char *file)
{
	put64(address);
	put32(line);
	put32(0);
	put_text(file);
}

static void begin_inlined(uint64_t address, uint32_t depth)
{
	put64(address);
	put32(depth);
	put32(0);
}

static void put_frame(uint32_t line, const char *function, const char *file)
{
	put32(line);
	put_text(function);
	put_text(file);
}

static int write_dump(void)
{
	int fd = memfd_create("dump", MFD_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes.bytes, bytes.size), bytes.size);
	return fd;
}

/* --- its reading, as text: "inner a.java:3 < outer b.java:4", or "-" --- */

static const char *frames_text(const struct jitdump *dump, const struct jitdump_found *found)
{
	static char text[512];
	size_t at = 0;
	snprintf(text, sizeof(text), "-");
	for (size_t i = 0; i < found->count; i++) {
		const struct jitdump_frame *frame = &dump->frames[found->first + i];
		const char *texts = (const char *)dump->texts.bytes;
		at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%s", i ? " < " : "", texts + frame->name);
		if (frame->line)
			at += (size_t)snprintf(text + at, sizeof(text) - at, " %s:%u", texts + frame->file,
					       frame->line);
	}
	return text;
}

static void assert_at(uint64_t address, uint64_t time, const char *expected)
{
	struct jitdump dump;
	int fd = write_dump();
	assert_true(jitdump_is(fd));
	assert_int_equal(jitdump_read(fd, &address, &time, 1, &dump), 0);
	assert_string_equal(frames_text(&dump, &dump.found[0]), expected);
	jitdump_release(&dump);
	close(fd);
}

static int set_up(void **state)
{
	(void)state;
	buffer_init(&bytes);
	begin_dump(0);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	buffer_release(&bytes);
	return 0;
}

static void addresses_have_the_names_of_their_code(void **state)
{
	(void)state;
	put_load(10, 0x1000, 0x20, 1, "one");
	put_load(10, 0x1020, 0x20, 2, "two");
	assert_at(0xfff, 100, "-");
	assert_at(0x1000, 100, "one");
	assert_at(0x101f, 100, "one");
	assert_at(0x1020, 100, "two");
	assert_at(0x1040, 100, "-");
	put_load(10, UINT64_MAX - 8, 0x20, 3, "last");
	assert_at(UINT64_MAX, 100, "last");
}

static void the_code_of_that_time_counts(void **state)
{
	(void)state;
	put_load(100, 0x1000, 0x20, 1, "first");
	put_load(200, 0x1000, 0x20, 2, "second");
	put_load(300, 0x1010, 0x20, 3, "third");
	assert_at(0x1010, 50, "first"); /* its record is written late */
	assert_at(0x1010, 100, "first");
	assert_at(0x1010, 199, "first");
	assert_at(0x1010, 200, "second");
	assert_at(0x1010, 299, "second");
	assert_at(0x1010, 300, "third");
	assert_at(0x1000, 1000, "second");
	assert_at(0x1010, UINT64_MAX, "third");
	/* A record that threads have written out of order. */
	put_load(250, 0x1010, 0x20, 4, "late");
	assert_at(0x1010, 260, "late");
	assert_at(0x1010, 310, "third");
}

static void other_clocks_have_no_times(void **state)
{
	(void)state;
	begin_dump(JITDUMP_ARCH_TIME);
	put_load(100, 0x1000, 0x20, 1, "first");
	put_load(200, 0x1000, 0x20, 2, "second");
	assert_at(0x1010, 100, "second");
}

static void code_moves(void **state)
{
	(void)state;
	size_t lines = begin_lines(2, 0x1000, 2);
	put_line(0x1000, 3, "a.x");
	put_line(0x1010, 4, "a.x");
	end_record(lines);
	put_load(100, 0x1000, 0x20, 7, "moved");
	put_load(150, 0x2000, 0x20, 8, "other");
	put_move(200, 0x1000, 0x2000, 0x20, 7);
	put_move(300, 0x1000, 0x3000, 0x20, 99); /* unknown code */
	assert_at(0x2010, 160, "other");
	assert_at(0x2000, 200, "moved a.x:3");
	assert_at(0x2010, 200, "moved a.x:4");
	assert_at(0x1010, 150, "moved a.x:4");
	assert_at(0x3010, 400, "-");
}

static void the_last_line_before_an_address_counts(void **state)
{
	(void)state;
	size_t lines = begin_lines(2, 0x1000, 5);
	put_line(0x1008, 4, "a.x");
	put_line(0x1004, 3, "\xff"); /* the same file; and not in order */
	put_line(0x1010, 5, "b.x");
	put_line(0x1018, 0, "b.x");
	put_line(0x101c, 6, "");
	end_record(lines);
	put_load(100, 0x1000, 0x20, 1, "f");
	assert_at(0x1000, 100, "f");
	assert_at(0x1004, 100, "f a.x:3");
	assert_at(0x100f, 100, "f a.x:4");
	assert_at(0x1010, 100, "f b.x:5");
	assert_at(0x101b, 100, "f b.x:5");
	assert_at(0x101f, 100, "f :6");
	/* Lines are of the next code alone. */
	put_load(100, 0x1020, 0x20, 2, "g");
	assert_at(0x1030, 100, "g");
}

/* V8 counts the addresses of lines from an ELF header in front of the code. */
static void lines_of_v8(void **state)
{
	(void)state;
	size_t lines = begin_lines(2, 0x1000, 2);
	put_line(0x1040, 3, "a.js");
	put_line(0x1050, 4, "a.js");
	end_record(lines);
	put_load(100, 0x1000, 0x20, 1, "JS:*f a.js:2:1");
	assert_at(0x1000, 100, "JS:*f a.js:2:1 a.js:3");
	assert_at(0x1010, 100, "JS:*f a.js:2:1 a.js:4");
	/* A file name of freed memory, which contains zeros. */
	lines = begin_lines(2, 0x2000, 2);
	put_line(0x2040, 3, "");
	buffer_append(&bytes, "\0\0\0\n\x1f\x17\0\0\x04\x14//programs/a.js", 26);
	put_line(0x2050, 4, "x");
	end_record(lines);
	put_load(100, 0x2000, 0x20, 1, "JS:*f a.js:2:1");
	assert_at(0x2010, 100, "JS:*f a.js:2:1 x:4");
}

static void inlined_functions_are_frames(void **state)
{
	(void)state;
	size_t lines = begin_lines(JITDUMP_INLINED, 0x1000, 3);
	begin_inlined(0x1000, 1);
	put_frame(3, "A.outer()", "A.java");
	begin_inlined(0x1008, 3);
	put_frame(7, "B.inner()", "B.java");
	put_frame(0, "B.middle()", "");
	put_frame(4, "A.outer()", "A.java");
	begin_inlined(0x1018, 0);
	end_record(lines);
	put_load(100, 0x1000, 0x20, 1, "A.outer()");
	assert_at(0x1007, 100, "A.outer() A.java:3");
	assert_at(0x1008, 100, "B.inner() B.java:7 < B.middle() < A.outer() A.java:4");
	assert_at(0x1018, 100, "A.outer()"); /* an entry without frames: the name of the code */
}

/* --- damage --- */

static void a_dump_may_end_anywhere(void **state)
{
	(void)state;
	size_t lines = begin_lines(2, 0x1000, 1);
	put_line(0x1000, 3, "a.x");
	end_record(lines);
	lines = begin_lines(JITDUMP_INLINED, 0x1000, 1);
	begin_inlined(0x1000, 1);
	put_frame(3, "f", "a.x");
	end_record(lines);
	put_load(100, 0x1000, 0x20, 1, "f");
	put_move(200, 0x1000, 0x2000, 0x20, 1);
	size_t whole = bytes.size;
	uint64_t address = 0x1008;
	for (size_t size = 0; size <= whole; size++) {
		struct jitdump dump;
		bytes.size = size;
		int fd = write_dump();
		assert_int_equal(jitdump_is(fd), size >= 40);
		assert_int_equal(jitdump_read(fd, &address, NULL, 1, &dump), 0);
		assert_true(dump.found[0].count <= 1);
		jitdump_release(&dump);
		close(fd);
	}
}

static void impossible_records_end_a_dump(void **state)
{
	(void)state;
	size_t record = begin_record(77, 0); /* of a later version */
	put64(0);
	end_record(record);
	put_load(100, 0x1000, 0x20, 1, "f");
	record = begin_record(3, 0);
	uint32_t small = 8;
	memcpy(bytes.bytes + record, &small, sizeof(small));
	put_load(100, 0x2000, 0x20, 2, "g");
	assert_at(0x1000, 100, "f");
	assert_at(0x2000, 100, "-");
}

static void texts_may_lack_their_end(void **state)
{
	(void)state;
	size_t lines = begin_lines(2, 0x1000, 9); /* more entries than there are */
	put_line(0x1000, 3, "a.x");
	end_record(lines);
	lines = begin_lines(JITDUMP_INLINED, 0x1000, 1);
	begin_inlined(0x1000, UINT32_MAX);
	put_frame(3, "f", "a.x");
	end_record(lines);
	size_t record = begin_record(0, 100);
	for (int i = 0; i < 3; i++)
		put64(i ? 0x1000 : 0);
	put64(0x20);
	put64(1);
	buffer_append(&bytes, "name", 4);
	end_record(record);
	assert_at(0x1000, 100, "name a.x:3");
}

static void a_file_may_be_no_dump(void **state)
{
	(void)state;
	uint64_t address = 0x1000;
	struct jitdump dump;
	bytes.bytes[0] ^= 1;
	put_load(100, 0x1000, 0x20, 1, "f");
	int fd = write_dump();
	assert_false(jitdump_is(fd));
	assert_int_equal(jitdump_read(fd, &address, NULL, 1, &dump), 0);
	assert_int_equal(dump.found[0].count, 0);
	jitdump_release(&dump);
	close(fd);
	/* A header that states fewer bytes than it has. */
	bytes.bytes[0] ^= 1;
	bytes.bytes[8] = 39;
	fd = write_dump();
	assert_false(jitdump_is(fd));
	close(fd);
}

static void unreadable_files_are_reported(void **state)
{
	(void)state;
	uint64_t address = 0x1000;
	struct jitdump dump;
	assert_int_equal(jitdump_read(-1, &address, NULL, 1, &dump), ERROR_SYSTEM);
	assert_int_equal(errno, EBADF);
	jitdump_release(&dump);
}

/* More records than the reader's window has room for. */
static void windows_are_refilled(void **state)
{
	(void)state;
	enum { CODES = 3000 };
	char name[32];
	for (uint64_t i = 0; i < CODES; i++) {
		snprintf(name, sizeof(name), "f%u", (unsigned)i);
		put_load(100, 0x10000 + i * 0x40, 0x40, i, name);
	}
	assert_true(bytes.size > 3 * DUMP_WINDOW_BYTES);
	assert_at(0x10000, 100, "f0");
	assert_at(0x10000 + 1500 * 0x40 + 5, 100, "f1500");
	assert_at(0x10000 + 2999 * 0x40, 100, "f2999");
}

static void try_dump(int fd)
{
	const uint64_t addresses[] = { 0x1000, 0x1010, 0x2000 };
	struct jitdump dump;
	int status = jitdump_read(fd, addresses, NULL, 3, &dump);
	assert_true(status == 0 || status == ERROR_MEMORY);
	if (status == 0)
		assert_int_equal(dump.found[0].count, 1);
	jitdump_release(&dump);
}

static void memory_may_run_out(void **state)
{
	(void)state;
	size_t lines = begin_lines(JITDUMP_INLINED, 0x1000, 1);
	begin_inlined(0x1000, 1);
	put_frame(3, "f", "a.x");
	end_record(lines);
	put_load(100, 0x1000, 0x20, 1, "f");
	put_load(100, 0x2000, 0x20, 2, "g");
	int fd = write_dump();
	ALLOC_FAIL_EACH(try_dump(fd));
	ALLOC_FAIL_EACH(jitdump_is(fd));
	close(fd);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(addresses_have_the_names_of_their_code),
		T(the_code_of_that_time_counts),
		T(other_clocks_have_no_times),
		T(code_moves),
		T(the_last_line_before_an_address_counts),
		T(lines_of_v8),
		T(inlined_functions_are_frames),
		T(a_dump_may_end_anywhere),
		T(impossible_records_end_a_dump),
		T(texts_may_lack_their_end),
		T(a_file_may_be_no_dump),
		T(unreadable_files_are_reported),
		T(windows_are_refilled),
		T(memory_may_run_out),
	};
	return cmocka_run_group_tests_name("jitdump", tests, NULL, NULL);
}
