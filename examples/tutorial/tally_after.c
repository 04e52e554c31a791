/*
 * Four threads read records and count them by their checksum, as in tally_before.c. Each thread
 * has its own table, and takes the lock once, to add its table to the common one.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4, RECORDS = 4000, RECORD_WORDS = 16384, SLOTS = 64 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long counts[SLOTS];

static uint64_t checksum(uint64_t record)
{
	uint64_t sum = record;
	for (int i = 0; i < RECORD_WORDS; i++)
		sum = (sum ^ (sum >> 29)) * 0x9e3779b97f4a7c15 + record;
	return sum;
}

static void add_counts(const unsigned long *own)
{
	pthread_mutex_lock(&lock);
	for (int i = 0; i < SLOTS; i++)
		counts[i] += own[i];
	pthread_mutex_unlock(&lock);
}

static void *count_records(void *argument)
{
	uint64_t first = *(const uint64_t *)argument;
	unsigned long own[SLOTS] = { 0 };
	for (uint64_t i = 0; i < RECORDS; i++)
		own[checksum(first + i) % SLOTS]++;
	add_counts(own);
	return NULL;
}

int main(void)
{
	pthread_t threads[THREADS];
	uint64_t first[THREADS];
	for (int i = 0; i < THREADS; i++) {
		first[i] = (uint64_t)i * RECORDS;
		if (pthread_create(&threads[i], NULL, count_records, &first[i]) != 0)
			return 1;
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	printf("%lu records in slot 0, %lu in slot %d\n", counts[0], counts[SLOTS - 1], SLOTS - 1);
	return 0;
}
