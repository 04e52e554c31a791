/*
 * The forms program of the 1993 paper (Figure 1, sections 4.4 and 7.2): uses its CPU time in db_read_record in
 * exactly the proportions of the paper's sample tree, which has 614 samples:
 *
 *   main
 *     invoice           85 by address_information   22 by db_get_property directly
 *     loan_application  84                          22
 *     envelope          85                          21
 *     form_US_1040      84                          22
 *     form_NJ_1040      84                          21
 *     db_update_record  84 by db_read_record directly
 *
 * address_information calls db_get_property four times, as in the paper. Rounds are short, so that a change of the
 * machine's speed affects all paths alike. One unit is 20 us: a round takes about 12 ms.
 */
#include "burn.h"

enum { SAMPLES = 614, UNIT_US = 20 };

/* Where the program counts ticks, it waits until the recorder has them: no ring holds the ticks of a round. */
#if defined(EVENTS) && EVENTS == EVENTS_TICKS
#define DELIVER() cpprof_flush()
#else
#define DELIVER() ((void)0)
#endif

NOINLINE static void db_read_record(unsigned us)
{
	BURN_HERE(us);
	NOT_A_TAIL_CALL();
}

NOINLINE static void db_get_property(unsigned us)
{
	db_read_record(us);
	NOT_A_TAIL_CALL();
}

NOINLINE static void db_update_record(void)
{
	db_read_record(84 * UNIT_US);
	NOT_A_TAIL_CALL();
}

/* `us` is a multiple of 4. */
NOINLINE static void address_information(unsigned us)
{
	db_get_property(us / 4);
	db_get_property(us / 4);
	db_get_property(us / 4);
	db_get_property(us / 4);
	NOT_A_TAIL_CALL();
}

#define FORM(name, by_address, directly)                   \
	NOINLINE static void name(void)                    \
	{                                                  \
		address_information((by_address)*UNIT_US); \
		db_get_property((directly)*UNIT_US);       \
		NOT_A_TAIL_CALL();                         \
	}

FORM(invoice, 85, 22)
FORM(loan_application, 84, 22)
FORM(envelope, 85, 21)
FORM(form_US_1040, 84, 22)
FORM(form_NJ_1040, 84, 21)

static void say(const char *path, unsigned samples)
{
	share(path, (double)samples / SAMPLES);
}

int main(int argc, char **argv)
{
	int rounds = rounds_wanted(argc, argv, 240);

	for (int i = 0; i < rounds; i++) {
		invoice();
		loan_application();
		DELIVER();
		envelope();
		form_US_1040();
		DELIVER();
		form_NJ_1040();
		db_update_record();
		DELIVER();
	}

	say("main;db_read_record", 614);
	say("main;db_get_property;db_read_record", 530);
	say("main;address_information;db_get_property;db_read_record", 422);
	say("main;invoice;address_information;db_get_property;db_read_record", 85);
	say("main;envelope;address_information;db_get_property;db_read_record", 85);
	say("main;form_US_1040", 106);
	say("main;form_NJ_1040", 105);
	say("main;db_update_record;db_read_record", 84);
	return 0;
}
