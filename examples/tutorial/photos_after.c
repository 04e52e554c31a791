/*
 * Computes the mean brightness of photos, as photos_before.c, in one buffer that all photos share.
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

static double brightness(uint32_t *pixels, int photo)
{
	decode(pixels, photo);
	return (double)sum_brightness(pixels) / ((double)WIDTH * HEIGHT);
}

int main(void)
{
	uint32_t *pixels = malloc(sizeof(*pixels) * WIDTH * HEIGHT);
	if (!pixels)
		return 1;
	double total = 0;
	for (int photo = 0; photo < PHOTOS; photo++)
		total += brightness(pixels, photo);
	printf("mean brightness %.3f\n", total / PHOTOS);
	free(pixels);
	return 0;
}
