/* Throws through 40 frames with destructors many times: most time is spent while exceptions are in flight. */
#include <cstdio>
#include <cstdlib>

#include "burn.h"

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

	for (int i = 0, rounds = rounds_wanted(argc, argv, 15000); i < rounds; i++)
		caught += attempt();
	std::printf("caught %d released %d\n", caught, released);
	return 0;
}
