/*
 * Jitter without randomness in the kernel. perf can only repeat one period, and
 * a program that repeats in step with it would be sampled at one spot. So a
 * resource is sampled by two trains of events whose periods have an irrational
 * ratio and whose rates add up to the asked one:
 *
 *     1/p1 + 1/p2 = 1/interval
 *
 * The gap from one sample to the next then takes every value from 0 to about
 * p1, and each train alone visits every phase of any period that is not a small
 * multiple of its own (Weyl's equidistribution theorem). What is left: a program
 * in step with one train is out of step with the other, so at most half of the
 * samples can be drawn from one spot. Every sample is one hit: the counts of a
 * path are unbiased, since n1/p1 + n2/p2 over equal use is use/interval.
 */
#ifndef RECORD_TRAINS_H
#define RECORD_TRAINS_H

#include <stdbool.h>
#include <stdint.h>

enum { TRAINS_MAX = 2 };

/* Writes the periods, in gticks, and returns how many there are: one where the
 * interval is 1 (every gtick is a sample) or a hardware counter would be used
 * up for each. */
unsigned trains_plan(uint64_t interval, bool single, uint64_t periods[TRAINS_MAX]);

#endif
