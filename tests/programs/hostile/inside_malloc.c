/* Two threads that only allocate, resize and free: each block must hold what was written to it until it is freed. */
#include <malloc.h>
#include <pthread.h>

#include "moment.h"

enum { BLOCKS = 64, ROUNDS = 60, LARGEST = 3000, HUGE_BYTES = 300000 };

struct block {
	unsigned char *bytes;
	size_t size;
	unsigned char filling;
};

static uint32_t next_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

static void check(const struct block *block, size_t size)
{
	for (size_t i = 0; i < size; i++)
		CHECK(block->bytes[i] == block->filling);
}

static void *allocate(size_t size, unsigned way)
{
	void *bytes = NULL;

	if (way == 0)
		return malloc(size);
	if (way == 1)
		return calloc(1, size);
	if (way == 2)
		return aligned_alloc(64, (size + 63) / 64 * 64);
	CHECK(posix_memalign(&bytes, 256, size) == 0);
	return bytes;
}

NOINLINE static void turn(struct block *blocks, uint32_t *state)
{
	for (unsigned i = 0; i < BLOCKS; i++) {
		struct block *block = &blocks[i];
		size_t size = 1 + next_random(state) % (i ? LARGEST : HUGE_BYTES);

		if (next_random(state) % 4 == 0) {
			block->bytes = realloc(block->bytes, size);
			CHECK(block->bytes != NULL);
			check(block, size < block->size ? size : block->size);
		} else {
			if (block->bytes)
				check(block, block->size);
			free(block->bytes);
			block->bytes = allocate(size, next_random(state) % 4);
			CHECK(block->bytes != NULL && malloc_usable_size(block->bytes) >= size);
		}
		block->size = size;
		block->filling = (unsigned char)next_random(state);
		memset(block->bytes, block->filling, size);
	}
}

static void *work(void *seed)
{
	struct block blocks[BLOCKS] = { 0 };
	uint32_t state = *(uint32_t *)seed;

	for (int i = 0; i < ROUNDS; i++)
		turn(blocks, &state);
	for (int i = 0; i < BLOCKS; i++)
		free(blocks[i].bytes);
	return seed;
}

int main(void)
{
	uint32_t seeds[2] = { 1993, 2463534242u };
	pthread_t other;

	CHECK(pthread_create(&other, NULL, work, &seeds[1]) == 0);
	work(&seeds[0]);
	CHECK(pthread_join(other, NULL) == 0);
	return moment_ends("all blocks were whole\n");
}
