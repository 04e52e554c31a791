/*
 * Throws through 41 frames with destructors. The program is linked with --wrap=__gxx_personality_v0: the unwinder calls
 * the routine for each frame that it visits, while the exception is in flight.
 */
#include <cstdio>
#include <cstdlib>
#include <unwind.h>

#include "burn.h"

#define PERSONALITY_PARAMETERS                                                                      \
	int version, _Unwind_Action actions, _Unwind_Exception_Class kind, _Unwind_Exception *what, \
		_Unwind_Context *context

extern "C" _Unwind_Reason_Code __real___gxx_personality_v0(PERSONALITY_PARAMETERS);
extern "C" _Unwind_Reason_Code __wrap___gxx_personality_v0(PERSONALITY_PARAMETERS);

extern "C" _Unwind_Reason_Code __wrap___gxx_personality_v0(PERSONALITY_PARAMETERS)
{
	BURN_HERE(5);
	return __real___gxx_personality_v0(version, actions, kind, what, context);
}

namespace
{

int released;

struct guard {
	int depth;
	explicit guard(int d) : depth(d)
	{
	}
	~guard()
	{
		released += depth > 0;
	}
};

NOINLINE void descend(int depth)
{
	guard held(depth);

	if (depth == 0)
		throw depth;
	descend(depth - 1);
	NOT_A_TAIL_CALL();
}

NOINLINE int attempt()
{
	try {
		descend(40);
	} catch (int) {
		return 1;
	}
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	int caught = 0;

	for (int i = 0, rounds = rounds_wanted(argc, argv, 3); i < rounds; i++)
		caught += attempt();
	std::printf("caught %d released %d\n", caught, released);
	return 0;
}
