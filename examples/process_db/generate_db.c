/*
 * Writes an employee database for process_db: generate_db COUNT FILE. The same COUNT always
 * produces the same bytes. One record in eight is a newer revision of an earlier one.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS(array) (sizeof(array) / sizeof((array)[0]))

enum { REPEAT_EVERY = 8, MOST_RECORDS = 100000000 };

static const char *const first_names[] = {
	"Ada",  "Alan",     "Barbara", "Brian", "Dennis",   "Donald",  "Edsger", "Frances", "Grace",  "Jean",
	"John", "Kathleen", "Ken",     "Lynn",  "Margaret", "Niklaus", "Radia",  "Robin",   "Sophie", "Tony",
};
static const char *const syllables[] = {
	"al",  "an",  "ber", "bos", "cor", "dal", "den", "er",  "fel", "gar", "han", "hol", "ing", "jor", "kan", "ler",
	"lin", "man", "mer", "nor", "or",  "pel", "ras", "ron", "sen", "son", "tal", "ter", "ul",  "ver", "wal", "zim",
};
static const char *const titles[] = {
	"Accountant", "Analyst",  "Architect",  "Clerk",     "Driver",   "Electrician", "Engineer",   "Librarian",
	"Manager",    "Mechanic", "Programmer", "Secretary", "Surveyor", "Technician",  "Translator", "Welder",
};
static const char *const streets[] = { "Bridge St", "Church Rd", "High St", "Mill Lane", "Park Ave", "Station Rd" };

/* splitmix64: it derives an employee's fields from the id alone. */
static uint64_t mix(uint64_t value)
{
	value += UINT64_C(0x9e3779b97f4a7c15);
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

static void write_surname(FILE *out, uint64_t random)
{
	size_t count = 2 + random % 2;
	for (size_t i = 0; i < count; i++) {
		random >>= 8;
		const char *syllable = syllables[random % ITEMS(syllables)];
		fprintf(out, "%c%s", i == 0 ? syllable[0] - 'a' + 'A' : syllable[0], syllable + 1);
	}
}

static void write_record(FILE *out, uint64_t id, uint64_t revision)
{
	uint64_t random = mix(id);
	uint64_t pay = mix(random + revision);
	/* The sum of three has a bell-shaped distribution: most salaries are near the middle. */
	uint64_t salary = 18000 + pay % 40000 + (pay >> 20) % 40000 + (pay >> 40) % 40000;
	fprintf(out, "%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t", id, revision, salary);
	write_surname(out, random);
	fprintf(out, ", %s %c.\t%s\t%u %s, %05u\n", first_names[(random >> 32) % ITEMS(first_names)],
		(char)('A' + (random >> 40) % 26), titles[(random >> 45) % ITEMS(titles)],
		(unsigned)(1 + (random >> 50) % 200), streets[(random >> 57) % ITEMS(streets)],
		(unsigned)(mix(pay) % 100000));
}

static int write_db(FILE *out, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		uint64_t id = i + 1;
		if (i % REPEAT_EVERY == REPEAT_EVERY - 1)
			id = mix(i) % i + 1;
		write_record(out, id, i);
	}
	return ferror(out) ? -1 : 0;
}

int main(int argc, char **argv)
{
	char *end = NULL;
	unsigned long long count = argc == 3 ? strtoull(argv[1], &end, 10) : 0;
	if (argc != 3 || *end != '\0' || count < 1 || count > MOST_RECORDS) {
		fprintf(stderr, "usage: generate_db COUNT FILE (COUNT from 1 to %d)\n", MOST_RECORDS);
		return 2;
	}
	FILE *out = fopen(argv[2], "w");
	if (!out) {
		fprintf(stderr, "generate_db: %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	int written = write_db(out, count);
	if (fclose(out) != 0 || written < 0) {
		fprintf(stderr, "generate_db: cannot write %s: %s\n", argv[2], strerror(errno));
		return 1;
	}
	return 0;
}
