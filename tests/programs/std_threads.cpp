// Threads of the C++ library, started by two functions: three quarters of the work is below one of them. std::async
// starts some of them, and some run a lambda.
#include <future>
#include <thread>

#include "burn.h"

NOINLINE static void work(int units)
{
	burn(1000U * (unsigned)units);
	NOT_A_TAIL_CALL();
}

NOINLINE static void heavy_spawner()
{
	std::thread first(work, 90);
	std::thread second([] { work(90); });
	first.join();
	second.join();
}

NOINLINE static void light_spawner()
{
	std::async(std::launch::async, work, 60).wait();
	NOT_A_TAIL_CALL();
}

int main()
{
	heavy_spawner();
	light_spawner();
	share("main;heavy_spawner;work", 0.75);
	share("main;light_spawner;work", 0.25);
	return 0;
}
