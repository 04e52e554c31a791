/* The kernel's own ELF file, which is in memory alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sys/auxv.h>

#include "elf/elf_file.h"

/* The vDSO's size stands only in its headers. */
static void reads_the_vdso(void **state)
{
	(void)state;
	const uint8_t *id;
	const void *vdso = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	assert_non_null(vdso);
	struct elf_file *file = elf_file_from_memory(vdso, 4096, "vDSO", NULL);
	assert_non_null(file);
	assert_true(elf_file_eh_frame_hdr(file).size > 0);
	assert_true(elf_file_build_id(file, &id) > 0);
	elf_file_free(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(reads_the_vdso) };
	return cmocka_run_group_tests_name("elf_vdso", tests, NULL, NULL);
}
