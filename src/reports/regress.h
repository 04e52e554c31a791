/* Decides for `regress` which windows of a store are compared, and how many marks may be due to chance. */
#ifndef REPORTS_REGRESS_H
#define REPORTS_REGRESS_H

#include <stddef.h>
#include <stdint.h>

/* With more windows, the noise of A and B becomes known better, but changes are not found much sooner: 24 windows of an hour, each seventh
 * one of a week, have each hour of the day once. */
enum { REGRESS_WINDOWS_MOST = 24, REGRESS_WINDOWS_LEAST = 3 };

/* Returns how many of `all` windows between two times are compared. */
int64_t regress_window_count(int64_t all);

/* Returns how many windows lie between the end of compared window `i` and the later time; window 0 is the last one. */
int64_t regress_windows_after(int64_t all, int64_t i);

/* Returns the part of the marks of one service that may be due to chance: at most one mark in 20, and one false alarm a week where each
 * window is compared once, in all services together. */
double regress_chance(int64_t window_s, size_t services);

#endif
