// Threads of C++ that serve tenants, with a label for the tenant. The work is in a template and in an inlined function.
#include <cstdlib>
#include <thread>
#include <vector>

#include <cpprof/runtime.h>

namespace shop {

struct tenant {
	const char *name;
	unsigned turns;
};

inline unsigned mix(unsigned state)
{
	state ^= state << 13;
	state ^= state >> 17;
	return state ^ state << 5;
}

template <typename Number> __attribute__((noinline)) Number serve(Number turns)
{
	Number state = 1;
	for (Number i = 0; i < turns; i++)
		state = mix(state);
	std::vector<Number *> kept;
	for (int i = 0; i < 200; i++)
		kept.push_back(new Number(state));
	for (Number *one : kept)
		delete one;
	return state;
}

static volatile unsigned result;

static void work(tenant one)
{
	cpprof_label("tenant", one.name);
	result = serve<unsigned>(one.turns);
}

} // namespace shop

int main(int count, char **words)
{
	unsigned turns = count > 1 ? (unsigned)std::atoi(words[1]) * 1000000U : 30000000U;
	std::vector<std::thread> threads;
	for (shop::tenant one : { shop::tenant{ "acme", turns }, shop::tenant{ "globex", 2 * turns }, shop::tenant{ "initech", 3 * turns } })
		threads.emplace_back(shop::work, one);
	for (std::thread &thread : threads)
		thread.join();
	return 0;
}
