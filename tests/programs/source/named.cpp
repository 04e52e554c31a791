// Functions whose names are not single words, for the patterns of `cpprof control`.
#include <cpprof/profiler.h>

#include <cstdio>
#include <string>

static volatile int sink;

namespace space
{
template <class T> struct C {
	__attribute__((noinline)) int work(T amount)
	{
		CPPROF_FUNCTION;
		return sink += static_cast<int>(amount);
	}
	__attribute__((noinline)) const std::string *operator()(int)
	{
		CPPROF_FUNCTION;
		sink++;
		return nullptr;
	}
	__attribute__((noinline)) operator bool() const
	{
		CPPROF_FUNCTION;
		return sink > 0;
	}
};
} // namespace space

static __attribute__((noinline)) int *plain(int (*function)(int))
{
	CPPROF_FUNCTION;
	sink += function(1);
	return nullptr;
}

static __attribute__((noinline)) int called(int amount)
{
	CPPROF_FUNCTION;
	return amount;
}

int main()
{
	space::C<int> whole;
	space::C<double> broken;
	for (int i = 0; i < 3; i++) {
		whole.work(1);
		broken.work(1.0);
		whole(1);
		sink += static_cast<bool>(broken);
		plain(called);
	}
}
