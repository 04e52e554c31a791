/*
 * Long loops as calls for a few thousand items each. In a browser, where WebAssembly begins unoptimized, an optimized
 * function takes the place of a slow one between two calls, and never within a call.
 */
#ifndef BASE_SLICES_H
#define BASE_SLICES_H

#include <stddef.h>

/* Works on the items begin ... end - 1. */
typedef void slice_work(void *context, size_t begin, size_t end);

/* Calls work(context, begin, end) for consecutive slices of the items 0 ... count - 1, from the first one on. */
void slices_run(size_t count, slice_work *work, void *context);
/* The same from the last slice on; within a slice, `work` chooses the order. */
void slices_run_back(size_t count, slice_work *work, void *context);

#endif
