/* Pointers of call frame information in each encoding, and those that cannot be read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dwarf.h>

#include "unwind/cfi.h"

enum { SECTION = 0x1004, BEFORE = 1 };

/* The pointer is behind one other byte. Its bytes are negative in each signed format. */
static const uint8_t bytes[16] = { 0x7f, 0xfe, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0x01 };

static struct cfi_section section_of(bool is_eh_frame)
{
	return (struct cfi_section){
		.bytes = bytes, .size = sizeof(bytes), .address = SECTION, .is_eh_frame = is_eh_frame
	};
}

static struct cursor behind_one(size_t left)
{
	return cursor_over(bytes + BEFORE, left);
}

static void each_format(void **state)
{
	static const struct {
		uint8_t format;
		size_t size;
		uint64_t value;
	} formats[] = {
		{ DW_EH_PE_absptr, 8, UINT64_C(0xffffffff7ffffffe) },
		{ DW_EH_PE_uleb128, 4, 0xffffffe },
		{ DW_EH_PE_udata2, 2, 0xfffe },
		{ DW_EH_PE_udata4, 4, 0x7ffffffe },
		{ DW_EH_PE_udata8, 8, UINT64_C(0xffffffff7ffffffe) },
		{ DW_EH_PE_sleb128, 4, (uint64_t)-2 },
		{ DW_EH_PE_sdata2, 2, (uint64_t)-2 },
		{ DW_EH_PE_sdata4, 4, 0x7ffffffe },
		{ DW_EH_PE_sdata8, 8, UINT64_C(0xffffffff7ffffffe) },
	};
	const struct cfi_section section = section_of(true);
	(void)state;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		uint64_t value = 0;
		struct cursor cursor = behind_one(sizeof(bytes) - BEFORE);
		assert_true(cfi_pointer(&cursor, &section, formats[i].format, &value));
		assert_int_equal(value, formats[i].value);
		assert_ptr_equal(cursor.next, bytes + BEFORE + formats[i].size);
		cursor = behind_one(formats[i].size);
		assert_true(cfi_skip_pointer(&cursor, &section, formats[i].format | DW_EH_PE_indirect));
		assert_int_equal(cursor_left(&cursor), 0);
		cursor = behind_one(formats[i].size - 1);
		assert_false(cfi_pointer(&cursor, &section, formats[i].format, &value));
		cursor = behind_one(formats[i].size - 1);
		assert_false(cfi_skip_pointer(&cursor, &section, formats[i].format));
	}
}

static void sdata4_is_signed(void **state)
{
	const struct cfi_section section = section_of(true);
	uint64_t value = 0;
	struct cursor cursor = cursor_over(bytes + 4, 4);
	(void)state;
	assert_true(cfi_pointer(&cursor, &section, DW_EH_PE_sdata4, &value));
	assert_int_equal(value, (uint64_t)-129);
}

static void unknown_formats_are_refused(void **state)
{
	static const uint8_t unknown[] = { 0x05, 0x06, 0x07, 0x08, 0x0d, 0x0e, 0x0f };
	const struct cfi_section section = section_of(true);
	(void)state;
	for (size_t i = 0; i < sizeof(unknown); i++) {
		uint64_t value = 0;
		struct cursor cursor = behind_one(8);
		assert_false(cfi_number(&cursor, unknown[i], &value));
		assert_false(cfi_pointer(&cursor, &section, unknown[i], &value));
		assert_false(cfi_skip_pointer(&cursor, &section, unknown[i]));
	}
}

static void each_base(void **state)
{
	static const struct {
		uint8_t base;
		bool in_eh_frame, in_other;
		uint64_t from;
	} bases[] = {
		{ DW_EH_PE_absptr, true, true, 0 },
		{ DW_EH_PE_pcrel, true, true, SECTION + BEFORE },
		{ DW_EH_PE_textrel, false, false, 0 },
		{ DW_EH_PE_datarel, false, true, SECTION },
		{ DW_EH_PE_funcrel, false, false, 0 },
		{ 0x60, false, false, 0 },
		{ 0x70, false, false, 0 },
	};
	(void)state;
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++)
		for (int is_eh_frame = 0; is_eh_frame < 2; is_eh_frame++) {
			const struct cfi_section section = section_of(is_eh_frame);
			bool expected = is_eh_frame ? bases[i].in_eh_frame : bases[i].in_other;
			uint64_t value = 0;
			struct cursor cursor = behind_one(8);
			assert_int_equal(cfi_pointer(&cursor, &section, bases[i].base | DW_EH_PE_udata4, &value),
					 expected);
			if (expected)
				assert_int_equal(value, 0x7ffffffe + bases[i].from);
		}
}

static void omitted_and_indirect(void **state)
{
	const struct cfi_section section = section_of(true);
	uint64_t value = 0;
	struct cursor cursor = behind_one(8);
	(void)state;
	assert_false(cfi_pointer(&cursor, &section, DW_EH_PE_omit, &value));
	assert_false(cfi_pointer(&cursor, &section, DW_EH_PE_indirect | DW_EH_PE_udata4, &value));
	assert_true(cfi_skip_pointer(&cursor, &section, DW_EH_PE_omit));
	assert_ptr_equal(cursor.next, bytes + BEFORE);
}

/* The next address that is a multiple of 8 is 0x1008, three bytes further. */
static void aligned(void **state)
{
	const struct cfi_section section = section_of(true);
	uint64_t value = 0;
	struct cursor cursor = behind_one(11);
	(void)state;
	assert_true(cfi_pointer(&cursor, &section, DW_EH_PE_aligned, &value));
	assert_int_equal(value, UINT64_C(0x1ffffffff7f));
	assert_int_equal(cursor_left(&cursor), 0);
	cursor = behind_one(11);
	assert_true(cfi_skip_pointer(&cursor, &section, DW_EH_PE_aligned | DW_EH_PE_indirect));
	assert_int_equal(cursor_left(&cursor), 0);
	cursor = behind_one(10);
	assert_false(cfi_pointer(&cursor, &section, DW_EH_PE_aligned, &value));
	cursor = behind_one(10);
	assert_false(cfi_skip_pointer(&cursor, &section, DW_EH_PE_aligned));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_format),
		cmocka_unit_test(sdata4_is_signed),
		cmocka_unit_test(unknown_formats_are_refused),
		cmocka_unit_test(each_base),
		cmocka_unit_test(omitted_and_indirect),
		cmocka_unit_test(aligned),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
