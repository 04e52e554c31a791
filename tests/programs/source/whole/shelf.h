// A header of templates whose functions are instrumented with --headers.
#ifndef SHELF_H
#define SHELF_H

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace shelves
{
struct counted {
	static int alive;
	counted()
	{
		alive++;
		check();
	}
	counted(const counted &)
	{
		alive++;
		check();
	}
	virtual ~counted()
	{
		check();
		alive--;
	}
	static void check()
	{
		if (alive < 0)
			throw std::string("fewer than none");
	}
};

template <class T> class shelf : public counted
{
	std::vector<T> things;

      public:
	template <class... Words> shelf &put(Words &&...words)
	{
		(void)std::initializer_list<int>{ (things.push_back(T(std::forward<Words>(words))), 0)... };
		return *this;
	}
	template <class U> operator std::vector<U>() const
	{
		std::vector<U> all;
		for (const T &thing : things)
			all.push_back(static_cast<U>(thing));
		return all;
	}
	template <class U> bool operator==(const shelf<U> &other) const
	{
		return std::equal(things.begin(), things.end(), other.begin(), other.end(),
				  [](const T &a, const U &b) { return static_cast<T>(b) == a; });
	}
	template <class F> shelf only(F &&keep) const
	{
		shelf chosen;
		for (const T &thing : things)
			if (keep(thing))
				chosen.put(thing);
		return chosen;
	}
	auto begin() const -> decltype(things.begin())
	{
		return things.begin();
	}
	auto end() const -> decltype(things.end())
	{
		return things.end();
	}
};

template <class T, int Times> struct power {
	static T of(T x)
	{
		T rest = power<T, Times - 1>::of(x);
		return x * rest;
	}
};
template <class T> struct power<T, 0> {
	static T of(T)
	{
		T one = 1;
		return one;
	}
};
} // namespace shelves

#endif
