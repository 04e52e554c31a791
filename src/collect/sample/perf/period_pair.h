/*
 * Random sampling times with perf, whose events can only repeat one period: a program that repeats in step with it would always
 * be sampled at the same position. So time is sampled by a period pair:
 * two events whose periods differ, by a share that is drawn for each run, and whose rates add up to the
 * requested one:
 *
 *     1/p1 + 1/p2 = 1/interval
 *
 * Most samples are p1 apart. Neither p1 nor p2 is a round number, so each event visits every phase of a
 * program's period, unless that happens to be a small multiple of the event's own period (Weyl's
 * equidistribution theorem). Then it is no small multiple of the other event's period, nor will it be one
 * in the next run.
 *
 * A thread's timers start with the thread: p1 is kept short so that a short thread is sampled at all.
 *
 * Every sample is one hit: over equal use, n1 + n2 = use/p1 + use/p2 = use/interval, so the counts of a
 * path are unbiased.
 */
#ifndef COLLECT_SAMPLE_PERF_PERIOD_PAIR_H
#define COLLECT_SAMPLE_PERF_PERIOD_PAIR_H

#include <stdbool.h>
#include <stdint.h>

enum { PERIODS_MAX = 2 };

/* Writes the periods, in gticks, and returns their number. It is 1 if the interval is below 64 gticks, or if
 * `single` is set, because each event would occupy a hardware counter; otherwise 2.
 * `chance` is a random number from 0 to 1. */
unsigned period_pair_plan(uint64_t interval, bool single, double chance, uint64_t periods[PERIODS_MAX]);

#endif
