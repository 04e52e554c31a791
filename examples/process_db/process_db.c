/*
 * The example of the paper that introduced call path profiling (R. J. Hall and A. J. Goldberg,
 * "Call Path Profiling of Monotonic Program Resources in UNIX", 1993), as a real program: it
 * reads a database of employees, sorts pointers to its records by name, merges the duplicates,
 * and prints statistics about the salaries. Two of its functions call qsort, and only one of the
 * two calls is expensive. The call path profile shows which one.
 *
 * The functions that the paper names are not inlined, so that every profiler finds them. The
 * program contains no other concession to profiling.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "employee.h"

#define NOT_INLINED __attribute__((noinline))

enum { BLOCK_RECORDS = 300 };

/* Records never move, because the database is a list of blocks. */
struct db_block {
	struct db_block *next;
	size_t count;
	struct employee records[BLOCK_RECORDS];
};

struct db {
	struct db_block *first;
	struct db_block *last;
	size_t count;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "process_db: %s: %s\n", what, why);
	exit(1);
}

static void *allocate(size_t count, size_t size)
{
	void *memory = calloc(count, size);
	if (!memory)
		fail("out of memory", strerror(errno));
	return memory;
}

static struct employee *add_record(struct db *db)
{
	if (!db->last || db->last->count == BLOCK_RECORDS) {
		struct db_block *block = allocate(1, sizeof(*block));
		if (db->last)
			db->last->next = block;
		else
			db->first = block;
		db->last = block;
	}
	db->count++;
	return &db->last->records[db->last->count++];
}

/* Cuts the next field off *line. Returns it, or NULL if no tab follows. */
static char *next_field(char **line)
{
	char *field = *line;
	char *tab = strchr(field, '\t');
	if (!tab)
		return NULL;
	*tab = '\0';
	*line = tab + 1;
	return field;
}

static bool parse_number(const char *text, unsigned long most, unsigned long *value)
{
	char *end;
	if (!text || *text < '0' || *text > '9')
		return false;
	errno = 0;
	*value = strtoul(text, &end, 10);
	return *end == '\0' && errno == 0 && *value <= most;
}

static bool copy_text(char *to, size_t size, const char *text)
{
	size_t length = text ? strlen(text) : size;
	if (length >= size)
		return false;
	memcpy(to, text, length + 1);
	return true;
}

static bool parse_record(char *line, struct employee *employee)
{
	unsigned long id;
	unsigned long revision;
	unsigned long salary;
	if (!parse_number(next_field(&line), UINT32_MAX, &id) ||
	    !parse_number(next_field(&line), UINT32_MAX, &revision) ||
	    !parse_number(next_field(&line), INT_MAX, &salary))
		return false;
	employee->id = (uint32_t)id;
	employee->revision = (uint32_t)revision;
	employee->salary = (int)salary;
	return copy_text(employee->name, sizeof(employee->name), next_field(&line)) &&
	       copy_text(employee->title, sizeof(employee->title), next_field(&line)) &&
	       copy_text(employee->address, sizeof(employee->address), line);
}

NOT_INLINED static struct db read_db(const char *path)
{
	FILE *in = fopen(path, "r");
	if (!in)
		fail(path, strerror(errno));
	struct db db = { 0 };
	char *line = NULL;
	size_t capacity = 0;
	ssize_t length;
	while ((length = getline(&line, &capacity, in)) > 0) {
		if (line[length - 1] == '\n')
			line[length - 1] = '\0';
		if (!parse_record(line, add_record(&db))) {
			fprintf(stderr, "process_db: %s:%zu: not an employee record\n", path, db.count);
			exit(1);
		}
	}
	if (ferror(in))
		fail(path, strerror(errno));
	if (db.count == 0)
		fail(path, "there are no records");
	free(line);
	fclose(in);
	return db;
}

static void release_db(struct db *db)
{
	while (db->first) {
		struct db_block *next = db->first->next;
		free(db->first);
		db->first = next;
	}
}

NOT_INLINED static struct employee **build_db_ptrs(const struct db *db)
{
	struct employee **pointers = allocate(db->count, sizeof(struct employee *));
	size_t count = 0;
	for (struct db_block *block = db->first; block; block = block->next)
		for (size_t i = 0; i < block->count; i++)
			pointers[count++] = &block->records[i];
	return pointers;
}

/* Orders by name, then by id, then by revision, the newest first. */
static int name_field_lt(const void *left, const void *right)
{
	const struct employee *a = *(struct employee *const *)left;
	const struct employee *b = *(struct employee *const *)right;
	int order = strcmp(a->name, b->name);
	if (order != 0)
		return order;
	if (a->id != b->id)
		return a->id < b->id ? -1 : 1;
	return (a->revision < b->revision) - (a->revision > b->revision);
}

/* Keeps the first record of each employee. Returns the number of kept records. */
NOT_INLINED static size_t merge_adjacent_records(struct employee **pointers, size_t count)
{
	size_t kept = 1;
	for (size_t i = 1; i < count; i++)
		if (pointers[i]->id != pointers[kept - 1]->id)
			pointers[kept++] = pointers[i];
	return kept;
}

NOT_INLINED static struct employee **uniquify_db(const struct db *db, size_t *count)
{
	struct employee **pointers = build_db_ptrs(db);
	qsort(pointers, db->count, sizeof(*pointers), name_field_lt);
	*count = merge_adjacent_records(pointers, db->count);
	return pointers;
}

NOT_INLINED static int *extract_salaries(struct employee **pointers, size_t count)
{
	int *salaries = allocate(count, sizeof(*salaries));
	for (size_t i = 0; i < count; i++)
		salaries[i] = pointers[i]->salary;
	return salaries;
}

static int integer_lt(const void *left, const void *right)
{
	int a = *(const int *)left;
	int b = *(const int *)right;
	return (a > b) - (a < b);
}

/* Prints statistics of sorted salaries. */
NOT_INLINED static void stat_summary(const int *salaries, size_t count)
{
	static const unsigned percents[] = { 10, 25, 50, 75, 90, 99 };
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += salaries[i];
	printf("employees  %zu\n", count);
	printf("range      %d to %d\n", salaries[0], salaries[count - 1]);
	printf("mean       %.2f\n", sum / (double)count);
	for (size_t i = 0; i < sizeof(percents) / sizeof(percents[0]); i++)
		printf("%2u%% below  %d\n", percents[i], salaries[(count - 1) * percents[i] / 100]);
}

NOT_INLINED static void print_salary_stats(struct employee **pointers, size_t count)
{
	int *salaries = extract_salaries(pointers, count);
	qsort(salaries, count, sizeof(*salaries), integer_lt);
	stat_summary(salaries, count);
	free(salaries);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: process_db FILE (made by generate_db)\n");
		return 2;
	}
	struct db db = read_db(argv[1]);
	size_t count;
	struct employee **pointers = uniquify_db(&db, &count);
	print_salary_stats(pointers, count);
	free(pointers);
	release_db(&db);
	return 0;
}
