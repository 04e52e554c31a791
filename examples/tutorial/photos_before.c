/*
 * Computes the mean brightness of photos. Each photo gets a buffer of its own. A buffer of this
 * size comes from the kernel and goes back to it, so each of its pages is a page fault, for each
 * photo again.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { PHOTOS = 6, WIDTH = 4000, HEIGHT = 3000 };

static void decode(uint32_t *pixels, int photo)
{
	for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
		pixels[i] = (uint32_t)(i * 2654435761 + (unsigned)photo) >> 24;
}

static uint64_t sum_brightness(const uint32_t *pixels)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < (size_t)WIDTH * HEIGHT; i++)
		sum += pixels[i];
	return sum;
}

static double brightness(int photo)
{
	uint32_t *pixels = malloc(sizeof(*pixels) * WIDTH * HEIGHT);
	if (!pixels)
		exit(1);
	decode(pixels, photo);
	double mean = (double)sum_brightness(pixels) / ((double)WIDTH * HEIGHT);
	free(pixels);
	return mean;
}

int main(void)
{
	double total = 0;
	for (int photo = 0; photo < PHOTOS; photo++)
		total += brightness(photo);
	printf("mean brightness %.3f\n", total / PHOTOS);
	return 0;
}
