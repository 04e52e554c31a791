/* Spends its time inside functions of the C library, each below one of our own: musl's have no unwind information. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static volatile double sink;
static char text[64];

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

__attribute__((noinline)) static void sorts(void)
{
	int numbers[256];
	for (int i = 0; i < 256; i++)
		numbers[i] = rand();
	qsort(numbers, 256, sizeof(numbers[0]), compare);
	sink += numbers[0];
}

__attribute__((noinline)) static void prints(void)
{
	for (int i = 0; i < 20; i++) {
		snprintf(text, sizeof(text), "%d %f %s", i, i * 1.5, "abc");
		sink += strtod(text, NULL);
	}
}

__attribute__((noinline)) static void allocates(void)
{
	void *blocks[64];
	for (size_t i = 0; i < 64; i++)
		blocks[i] = malloc(i * 16 + 1);
	for (size_t i = 0; i < 64; i++)
		free(blocks[i]);
}

__attribute__((noinline)) static void computes(void)
{
	for (int i = 0; i < 100; i++)
		sink += pow(i, 1.7) + sin(i) + exp(i * 0.01);
}

__attribute__((noinline)) static void compares(void)
{
	char page[4096];
	memset(page, 'x', sizeof(page));
	page[4095] = 0;
	for (int i = 0; i < 20; i++) {
		sink += (double)strlen(page) + (strchr(page, 'y') != NULL) + memcmp(page, page + 1, 4000);
	}
}

int main(void)
{
	for (int i = 0; i < 8000; i++) {
		sorts();
		prints();
		allocates();
		computes();
		compares();
	}
	return 0;
}
