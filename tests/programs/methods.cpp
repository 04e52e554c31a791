// `methods [ROUNDS]`: calls a method, an overloaded one and a virtual one, and operator new, three times as often
// below one caller as below the other.
#include <vector>

#include "burn.h"

namespace shop
{
struct item {
	virtual ~item() = default;
	NOINLINE virtual void show(int times);
	char bytes[92];
};

NOINLINE void item::show(int times)
{
	burn_sink ^= static_cast<unsigned long>(times);
}

class counter
{
      public:
	NOINLINE void add(int number);
	NOINLINE void add(const char *text);
};

NOINLINE void counter::add(int number)
{
	burn_sink += static_cast<unsigned long>(number);
}

NOINLINE void counter::add(const char *text)
{
	burn_sink += static_cast<unsigned char>(*text);
}
} // namespace shop

static shop::item *volatile kept;

NOINLINE static void use_all()
{
	shop::counter counter;

	counter.add(1);
	counter.add("x");
	kept = new shop::item;
	kept->show(2);
	delete kept;
	std::vector<char> bytes(50);
	burn_sink += static_cast<unsigned char>(bytes[burn_sink % 50]);
	char *many = new char[33];
	many[burn_sink % 33] = 1;
	__asm__ volatile("" ::"r"(many) : "memory");
	delete[] many;
}

NOINLINE static void heavy(int rounds)
{
	for (int i = 0; i < 3 * rounds; i++)
		use_all();
}

NOINLINE static void light(int rounds)
{
	for (int i = 0; i < rounds; i++)
		use_all();
}

int main(int argc, char **argv)
{
	int rounds = rounds_wanted(argc, argv, 100);

	heavy(rounds);
	light(rounds);
	for (int i = 0; i < 2; i++) {
		const char *path = i == 0 ? "main;heavy" : "main;light";
		unsigned long long calls = (i == 0 ? 3ull : 1ull) * static_cast<unsigned>(rounds);

		amount("calls:shop::item::show", path, calls);
		amount("calls:shop::counter::add(int)", path, calls);
		amount("allocs", path, 3 * calls);
		amount("alloc-bytes", path, (sizeof(shop::item) + 50 + 33) * calls);
	}
	share("main;heavy", 0.75);
	share("main;light", 0.25);
	return 0;
}
