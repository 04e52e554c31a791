/*
 * Four threads read records and count them by their checksum. One lock protects the table of
 * counts, and each thread holds it while it computes the checksum: only one thread works at a time.
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

static void count_record(uint64_t record)
{
	pthread_mutex_lock(&lock);
	counts[checksum(record) % SLOTS]++;
	pthread_mutex_unlock(&lock);
}

static void *count_records(void *argument)
{
	uint64_t first = *(const uint64_t *)argument;
	for (uint64_t i = 0; i < RECORDS; i++)
		count_record(first + i);
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
