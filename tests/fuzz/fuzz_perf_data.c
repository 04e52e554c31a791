/*
 * Arbitrary bytes as perf.data. Every record of a file that was read is read again, in the order of time, and samples are decoded; what
 * a sample points to is read too. Built for libFuzzer, or with replay.c.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collect/perf_data/file.h"
#include "collect/perf_data/layout.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static uint64_t sum_of(const void *bytes, size_t size)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < size; i++)
		sum += ((const uint8_t *)bytes)[i];
	return sum;
}

static uint64_t read_sample(const struct perf_event_attr *attr, const struct perf_event_header *record)
{
	struct backend_sample sample;
	struct perf_record_chain user;
	uint64_t ip;
	if (!perf_layout_sample(attr, record, &sample, &user, &ip))
		return 0;
	require(sample.stack_bytes <= sample.stack_asked);
	return sum_of(sample.stack, sample.stack_bytes) + sum_of(user.addresses, user.count * sizeof(uint64_t)) +
	       sum_of(sample.kernel, sample.kernel_count * sizeof(uint64_t));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct perf_data_file file;
	struct error error = { 0 };
	FILE *in = size ? fmemopen((void *)data, size, "r") : fopen("/dev/null", "re");
	require(in != NULL);
	int code = perf_data_open(&file, in, "input", &error);
	require(code == 0 || (code == error.code && error.message[0]));
	uint64_t last_ns = 0, sum = 0;
	for (size_t i = 0; code == 0 && i < file.record_count; i++) {
		const struct perf_event_header *record = perf_data_record(&file, i, &error);
		const struct perf_data_position *position = &file.records[i];
		struct backend_map map;
		require(record != NULL && position->time_ns >= last_ns);
		last_ns = position->time_ns;
		if (record->type == PERF_RECORD_SAMPLE && position->event != UINT32_MAX)
			sum += read_sample(&file.events[position->event].attr, record);
		else if ((record->type == PERF_RECORD_MMAP || record->type == PERF_RECORD_MMAP2) &&
			 perf_record_map(record, last_ns, &map))
			sum += strlen(map.path) + (perf_data_build_id(&file, map.path) != NULL);
	}
	if (code == 0)
		perf_data_close(&file);
	fclose(in);
	return sum == UINT64_MAX ? -1 : 0; /* so that the reads are not left out */
}
