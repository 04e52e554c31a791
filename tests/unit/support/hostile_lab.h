/* Programs whose debug information a hostile user could have made, in the folder of support/symbols_lab.h. */
#ifndef TESTS_HOSTILE_LAB_H
#define TESTS_HOSTILE_LAB_H

/* A kind of hostile program. */
struct hostile_kind {
	const char *name;
	void (*make)(const char *program); /* changes a program that has debug information */
};

enum { HOSTILE_KINDS = 4 };
extern const struct hostile_kind hostile_kinds[HOSTILE_KINDS];

/* Makes a section of a program 2 GB larger, by a hole at the end of the file. */
void hostile_hollow(const char *program, const char *section);

/* Builds the program "hostile" of this kind, with the functions `work(int)` and `main`, which call
 * __sanitizer_cov_trace_pc in each block. Then a test has `HOSTILE_PATIENCE_S` before SIGALRM ends it. */
void hostile_build(const struct hostile_kind *kind);
/* Checks that this process, without its children, has needed little memory since hostile_build. */
void hostile_check(const struct hostile_kind *kind);

#endif
