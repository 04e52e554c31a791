// Throws through frames with destructors, rethrows, and catches by type, in two threads; with work while exceptions are in flight.
#include <new>
#include <stdexcept>
#include <string>
#include <thread>

#include "moment.h"

namespace
{

enum { LEVELS = 3, DEPTH = 20, ROUNDS = 200 };

struct guard {
	int &alive;
	explicit guard(int &count) : alive(count)
	{
		alive++;
	}
	~guard()
	{
		burn_sink += 1;
		alive--;
	}
};

/* Levels count from 0. The exception that is thrown at the last level is replaced by another one on its way. */
NOINLINE void descend(int level, int &alive)
{
	guard held(alive);

	if (level == LEVELS)
		throw std::logic_error(std::string(50, 'x'));
	try {
		descend(level + 1, alive);
	} catch (const std::bad_alloc &) {
		CHECK(false);
	} catch (const std::logic_error &) {
		CHECK(alive == level + 1 && level == LEVELS - 1);
		throw std::runtime_error("further on");
	} catch (...) {
		CHECK(alive == level + 1 && level < LEVELS - 1);
		throw;
	}
	NOT_A_TAIL_CALL();
}

NOINLINE void turn()
{
	int alive = 0;

	try {
		descend(0, alive);
		CHECK(false);
	} catch (const std::runtime_error &caught) {
		CHECK(std::string(caught.what()) == "further on");
	}
	CHECK(alive == 0);
}

void deep(int depth, int &alive)
{
	guard held(alive);

	if (depth == 0)
		throw depth;
	deep(depth - 1, alive);
	NOT_A_TAIL_CALL();
}

void work()
{
	for (int i = 0; i < ROUNDS; i++) {
		int alive = 0;
		turn();
		try {
			deep(DEPTH, alive);
			CHECK(false);
		} catch (int thrown) {
			CHECK(thrown == 0 && alive == 0);
		}
	}
}

} // namespace

int main()
{
	std::thread other(work);

	work();
	other.join();
	return moment_ends("each throw was caught\n");
}
