/* Profiles that benchmarks make from numbers of chance. A failure ends the program. */
#ifndef BENCH_MADE_H
#define BENCH_MADE_H

#include <stdint.h>

#include "profile/profile.h"

/* Prints "PROGRAM: MESSAGE" and exits with 1. */
void made_give_up(const char *message);

/* Returns an id, or gives up if it is an error. */
uint32_t made_need(int64_t id);

/* The numbers of chance are the same ones in each run. */
uint64_t made_random(void);
/* Returns a number between 0 and 1, both exclusive. */
double made_uniform(void);
double made_normal(void);
/* Few are drawn one by one, many as a normal number with the same mean and variance. */
uint64_t made_poisson(double mean);

/* Returns a symbolized profile with one module of this path, whose locations are names, and with CPU time, sampled at 19 Hz. */
struct profile *made_profile(const char *path);

/* Adds a function of this name below a node: "main" is the program's main. Returns its node. */
uint32_t made_node(struct profile *profile, uint32_t above, const char *name);

#endif
