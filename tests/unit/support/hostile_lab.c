#include "support/hostile_lab.h"

#include <elf.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "support/symbols_lab.h"

enum { HOSTILE_PATIENCE_S = 100, MEMORY_MOST_KB = 128 << 10 };

static long kilobytes_before;

void hostile_hollow(const char *program, const char *section)
{
	uint64_t bytes;
	uint64_t offset = lab_section(program, section, &bytes);
	int fd = open(lab_path(program), O_RDWR);
	assert_true(fd >= 0);
	Elf64_Ehdr header;
	assert_int_equal(pread(fd, &header, sizeof(header), 0), sizeof(header));
	Elf64_Shdr *sections = calloc(header.e_shnum, sizeof(*sections));
	assert_non_null(sections);
	size_t table = header.e_shnum * sizeof(*sections);
	assert_int_equal(pread(fd, sections, table, (off_t)header.e_shoff), table);
	for (int i = 0; i < header.e_shnum; i++) {
		if (sections[i].sh_offset != offset)
			continue;
		sections[i].sh_size = UINT64_C(2) << 30;
		sections[i].sh_offset = bytes;
	}
	assert_int_equal(pwrite(fd, sections, table, (off_t)header.e_shoff), table);
	assert_int_equal(ftruncate(fd, (off_t)(bytes + (UINT64_C(2) << 30))), 0);
	free(sections);
	close(fd);
}

static void make_hollow(const char *program)
{
	hostile_hollow(program, ".debug_info");
}

/* 160 MB of debug information in a file of 200 KB: each section is below the limit for one. */
static void make_swollen(const char *program)
{
	lab_run("for section in info str line line_str; do "
		"$OBJCOPY --dump-section .debug_$section=part %s && truncate -s +40M part && "
		"$OBJCOPY --update-section .debug_$section=part %s; done && rm part && "
		"$OBJCOPY --compress-debug-sections=zlib %s",
		program, program, program);
}

/* The file that dwz would have made is a FIFO. */
static void make_linked(const char *program)
{
	lab_run("mkdir -p .dwz && rm -f .dwz/shared && mkfifo .dwz/shared && "
		"printf '.dwz/shared\\0\\001\\002\\003\\004\\005\\006\\007\\010' > link && "
		"$OBJCOPY --add-section .gnu_debugaltlink=link %s",
		program);
}

/* A unit with 100,000 blocks in each other, in the place of a DIE tree. */
static void make_nested(const char *program)
{
	FILE *file = fopen(lab_path("nest.s"), "w");
	assert_non_null(file);
	fputs("\t.section .debug_abbrev,\"\",@progbits\nabbrevs:\n"
	      "\t.byte 1, 0x11, 1, 0, 0, 2, 0x2e, 1, 0x11, 1, 0x12, 7, 0, 0, 3, 0x0b, 1, 0, 0, 0\n"
	      "\t.section .debug_info,\"\",@progbits\n"
	      "\t.long end - start\nstart:\t.short 4\n\t.long abbrevs\n\t.byte 8\n"
	      "\t.byte 1, 2\n\t.quad work, 0x1000\n"
	      "\t.rept 100000\n\t.byte 3\n\t.endr\n\t.zero 100002\nend:\n"
	      "\t.section .note.GNU-stack,\"\",@progbits\n",
	      file);
	assert_int_equal(fclose(file), 0);
	lab_run("$CC -O1 -fno-inline -fsanitize-coverage=trace-pc -c hostile.c -o hostile.o && $CC hostile.o hook.o "
		"nest.s -o %s",
		program);
}

const struct hostile_kind hostile_kinds[HOSTILE_KINDS] = {
	{ "hollow", make_hollow },
	{ "swollen", make_swollen },
	{ "linked", make_linked },
	{ "nested", make_nested },
};

static long most_kilobytes(void)
{
	struct rusage usage;
	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_maxrss;
}

void hostile_build(const struct hostile_kind *kind)
{
	FILE *file = fopen(lab_path("hostile.c"), "w");
	assert_non_null(file);
	fputs("int work(int times)\n{\n\tvolatile int sum = 0;\n\tfor (int i = 0; i < times; i++)\n\t\tsum += i;\n"
	      "\treturn sum;\n}\n\nint main(int count, char **words)\n{\n\treturn work(count) + !words;\n}\n",
	      file);
	assert_int_equal(fclose(file), 0);
	lab_run("echo 'void __sanitizer_cov_trace_pc(void) {}' > hook.c && $CC -c -O1 hook.c -o hook.o && "
		"$CC -g -O1 -fno-inline -fsanitize-coverage=trace-pc hostile.c hook.o -o hostile");
	kind->make("hostile");
	kilobytes_before = most_kilobytes();
	alarm(HOSTILE_PATIENCE_S);
}

void hostile_check(const struct hostile_kind *kind)
{
	alarm(0);
	long grown = most_kilobytes() - kilobytes_before;
	if (grown > MEMORY_MOST_KB)
		fail_msg("%s: %ld KB of memory", kind->name, grown);
}
