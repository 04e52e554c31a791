/* Private to batch.c: adds up the hits and touches of a recording in buckets. */
#ifndef STORE_BATCH_ROWS_H
#define STORE_BATCH_ROWS_H

#include "store/batch.h"

static inline int64_t batch_rounded_down(int64_t number, int64_t by)
{
	return number / by - (number % by < 0);
}

/* The call paths and the times of the batch are there. Return 0 or ERROR_MEMORY. */
int batch_add_hits(struct batch *batch, int64_t bucket_ns);
int batch_add_touches(struct batch *batch, int64_t bucket_ns);

#endif
