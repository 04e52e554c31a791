/*
 * A recursion 10,000 deep, or as deep as the second argument specifies.
 *   recursion once      descends once and uses CPU time at the bottom
 *   recursion updown    descends and returns repeatedly, and uses a little CPU time on every level
 *   recursion held      uses CPU time at the bottom, half way up, and at the bottom below another outer function, and
 *                       holds each time, before the stack changes
 */
#include <stdbool.h>
#include <string.h>

#include "burn.h"
#include "hold.h"

static unsigned bottom_depth = 10000;

static volatile unsigned long on_each_level, at_bottom_us;
static volatile bool is_held, is_held_half_way;

NOINLINE static void bottom(void)
{
	burn((unsigned)at_bottom_us);
	if (is_held)
		hold();
	NOT_A_TAIL_CALL();
}

NOINLINE static void descend(unsigned depth)
{
	for (unsigned long i = 0; i < on_each_level; i++)
		burn_sink += i;
	if (depth == bottom_depth)
		bottom();
	else
		descend(depth + 1);
	for (unsigned long i = 0; i < on_each_level; i++)
		burn_sink += i;
	if (is_held_half_way && depth == bottom_depth / 2) {
		burn((unsigned)at_bottom_us);
		hold();
	}
	NOT_A_TAIL_CALL();
}

NOINLINE static void first_caller(void)
{
	descend(1);
	NOT_A_TAIL_CALL();
}

NOINLINE static void second_caller(void)
{
	descend(1);
	NOT_A_TAIL_CALL();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "once";

	if (argc > 2)
		bottom_depth = (unsigned)atoi(argv[2]);
	if (!strcmp(how, "once")) {
		at_bottom_us = 500000;
		first_caller();
		share("main;first_caller;descend;bottom", 1.0);
	} else if (!strcmp(how, "updown")) {
		on_each_level = 100;
		for (int i = 0; i < 150; i++)
			first_caller();
		share("main;first_caller;descend", 1.0);
	} else if (!strcmp(how, "held")) {
		at_bottom_us = 10000;
		is_held = is_held_half_way = true;
		first_caller();
		is_held_half_way = false;
		second_caller();
		share("main;first_caller;descend;bottom", 1.0 / 3);
		share("main;first_caller;descend;burn", 2.0 / 3);
		share("main;second_caller;descend;bottom", 1.0 / 3);
	} else {
		return 2;
	}
	return 0;
}
