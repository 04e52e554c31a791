/*
 * Jitter without randomness in the kernel. perf can only repeat one period, and
 * a program that repeats in step with it would be sampled at one spot. So a
 * resource is sampled by two trains of events whose periods differ, by a share
 * that is drawn for each run, and whose rates add up to the asked one:
 *
 *     1/p1 + 1/p2 = 1/interval
 *
 * Most samples are p1 apart, but neither p1 nor p2 is a round number, and so each
 * train visits every phase of a program's period unless that is by accident a
 * small multiple of its own (Weyl's equidistribution theorem): then it is not one
 * of the other train's, nor will it be in the next run. A thread's timers start
 * with it: p1 is kept short so that a short thread is sampled at all. Every sample is one hit: over equal use, n1 + n2 = use/p1 + use/p2 =
 * use/interval, so the counts of a path are unbiased.
 */
#ifndef COLLECT_SAMPLE_PERF_PERIOD_PAIR_H
#define COLLECT_SAMPLE_PERF_PERIOD_PAIR_H

#include <stdbool.h>
#include <stdint.h>

enum { TRAINS_MAX = 2 };

/* Writes the periods, in gticks, and returns how many there are: one where the
 * interval is 1 (every gtick is a sample) or a hardware counter would be used
 * up for each. `chance` is from 0 to 1, drawn once for a run. */
unsigned trains_plan(uint64_t interval, bool single, double chance, uint64_t periods[TRAINS_MAX]);

#endif
