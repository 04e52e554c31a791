// A program whose functions have the long names of C++: containers of containers, a lambda in sort, std::function.
#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <string>
#include <vector>

struct Rec {
	std::string k;
	int v;
};

template <class T> struct Proc {
	std::function<int(const T &)> f;
	int run(const std::vector<T> &x)
	{
		int s = 0;
		std::for_each(x.begin(), x.end(), [&](const T &t) { s += f(t); });
		return s;
	}
};

int main()
{
	std::map<std::string, std::vector<Rec>> m;
	for (int i = 0; i < 300000; i++)
		m["k" + std::to_string(i % 9973)].push_back({ std::to_string(i * 7919LL % 1000003), i });
	int tot = 0;
	for (auto &[k, v] : m) {
		std::sort(v.begin(), v.end(), [](const Rec &a, const Rec &b) { return a.k < b.k; });
		Proc<Rec> p{ [](const Rec &r) {
			std::map<int, std::string> q;
			for (int i = 0; i < 4; i++)
				q[r.v % (i + 3)] = r.k;
			return (int)q.size();
		} };
		tot += p.run(v);
	}
	std::cout << tot << "\n";
}
