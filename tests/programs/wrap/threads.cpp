// Threads, locks, condition variables and memory of C++.
#include <cpprof/profiler.hpp>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

static std::mutex mutex;
static std::condition_variable condition;
static int done;

static void member(int rounds)
{
	CPPROF_FUNCTION;
	for (int i = 0; i < rounds; i++) {
		std::lock_guard<std::mutex> hold(mutex);
		done++;
		condition.notify_one();
	}
}

static void wait_for(int count)
{
	CPPROF_FUNCTION;
	std::unique_lock<std::mutex> hold(mutex);
	condition.wait(hold, [count] { return done >= count; });
}

static void allocate(int count)
{
	CPPROF_FUNCTION;
	for (int i = 0; i < count; i++) {
		int *volatile kept = new int(i);
		delete kept;
	}
}

int main()
{
	CPPROF_FUNCTION;
	std::vector<std::thread> members;
	members.reserve(4);
	for (int i = 0; i < 4; i++)
		members.emplace_back(member, 25);
	wait_for(100);
	for (std::thread &thread : members)
		thread.join();
	allocate(50);
	return done == 100 ? 0 : 1;
}
