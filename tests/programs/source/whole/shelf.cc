// A program of templates, lambdas, exceptions, and objects that copy themselves; each run is the same.
#include <cstdio>
#include <functional>

#include "shelf.h"

int shelves::counted::alive;

namespace
{
using shelves::shelf;

int depth(int n)
{
	struct guard {
		int &left;
		~guard()
		{
			if (left > 0)
				left--;
		}
	} guard{ n };
	if (n == 0)
		throw n;
	return depth(n - 1) + 1;
}

template <class T> T sum(const shelf<T> &of)
{
	T all{};
	for (const T &thing : of)
		all = all + thing;
	return all;
}

std::string operator*(const std::string &text, int times)
{
	std::string all;
	for (int i = 0; i < times; i++)
		all += text;
	return all;
}
} // namespace

int main()
{
	shelf<int> numbers;
	for (int i = 0; i < 50; i++)
		numbers.put(i, i + 0.5, 'a');
	auto even = numbers.only([](int x) { return x % 2 == 0; });
	auto odd = numbers.only([](int x) { return x % 2 != 0; });
	std::function<bool(const std::string &)> is_long = [](const std::string &s) { return s.size() > 2; };
	shelf<std::string> words;
	words.put("one", "three", std::string("x") * 4);
	std::vector<long> longs = even;
	std::vector<double> doubles = odd;
	int caught = 0;
	for (int i = 0; i < 20; i++)
		try {
			caught += depth(i);
		} catch (int n) {
			caught += n + 1;
		}
	std::printf("%d %d %zu %zu %s %d %d %ld %g\n", sum(even), sum(odd), longs.size(), doubles.size(), sum(words.only(is_long)).c_str(), caught,
		    even == even && !(even == odd), shelves::power<long, 9>::of(3), shelves::power<double, 5>::of(1.5));
	return shelves::counted::alive > 0 ? 0 : 1;
}
