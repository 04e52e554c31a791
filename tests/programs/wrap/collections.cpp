// A known number of accesses to containers.
#include <cpprof/profiler.hpp>

#include <algorithm>
#include <array>
#include <cstdio>
#include <deque>
#include <list>
#include <map>
#include <numeric>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

using cpprof::collection;
using cpprof::named;

static volatile long sink;

// 100 + 100 + 1 + 2 reads, and 100 + 3 writes; accesses through `handed` are not counted
static void vectors()
{
	CPPROF_FUNCTION;
	static const named name("vector");
	collection<std::vector<int>> points(name, 100, 1);
	long sum = 0;
	for (int point : points)
		sum += point;
	for (auto &point : points)
		point *= 2;
	points[3] = 7;
	points.at(4)++;
	int &handed = points[5];
	handed += points.front();
	sum += points.back();
	sink = sum;
}

// 100 + 10 reads
static void readers()
{
	CPPROF_FUNCTION;
	static const named name("reader");
	collection<std::vector<int>> points(name, 100, 1);
	long sum = 0;
	for (const auto &point : points)
		sum += point;
	const auto &fixed = points;
	for (int i = 0; i < 10; i++)
		sum += fixed[i];
	sink = sum + *std::max_element(fixed.base().begin(), fixed.base().end());
}

// 10 + 6 writes, and 10 reads
static void keys()
{
	CPPROF_FUNCTION;
	static const named name("map");
	collection<std::map<std::string, long>> counts(name);
	for (const char *key : { "a", "b", "a", "c", "b", "a", "d", "e", "a", "b" }) // 5 are new
		counts[key]++;
	counts.insert({ "f", 1 });
	counts.insert({ "f", 2 });
	const auto &fixed = counts;
	sink = fixed.find("a") != fixed.end() && !(fixed.find("z") != fixed.end());
}

// 1 + 2 + 2 + 1 writes, and 5 + 1 reads
static void others()
{
	CPPROF_FUNCTION;
	static const named name("other");
	collection<std::string> text(name, "hello");
	long sum = 0;
	for (char character : text)
		sum += character;
	text[0] = 'H';
	text += " w";
	collection<std::array<double, 2>> pair(name);
	pair.fill(1);
	collection<std::deque<std::string>> lines(name);
	lines.push_back("x");
	sum += cpprof::reading(lines).front().size();
	sink = sum;
}

// Counted containers must hold the same values as plain containers after the same operations.
static bool agrees()
{
	std::vector<int> plain;
	collection<std::vector<int>> counted;
	for (int i = 0; i < 500; i++) {
		plain.push_back(i * 7919 % 503);
		counted.push_back(i * 7919 % 503);
	}
	std::sort(plain.begin(), plain.end());
	std::sort(counted.begin(), counted.end());
	std::reverse(plain.begin() + 10, plain.end() - 3);
	std::reverse(counted.begin() + 10, counted.end() - 3);
	std::stable_sort(plain.begin(), plain.end(), [](int a, int b) { return a % 10 < b % 10; });
	std::stable_sort(counted.begin(), counted.end(), [](int a, int b) { return a % 10 < b % 10; });
	std::rotate(plain.begin(), plain.begin() + 100, plain.end());
	std::rotate(counted.begin(), counted.begin() + 100, counted.end());
	plain.erase(std::remove_if(plain.begin(), plain.end(), [](int a) { return a % 3 == 0; }), plain.end());
	counted.erase(std::remove_if(counted.begin(), counted.end(), [](int a) { return a % 3 == 0; }), counted.end());
	plain.insert(plain.begin() + 5, 4711);
	counted.insert(counted.begin() + 5, 4711);
	swap(counted[1], counted[2]);
	std::swap(plain[1], plain[2]);
	counted[3] = counted[4];
	plain[3] = plain[4];
	for (auto i = counted.rbegin(); i != counted.rend(); ++i)
		*i += 1;
	for (auto i = plain.rbegin(); i != plain.rend(); ++i)
		*i += 1;
	return counted.base() == plain && std::accumulate(counted.cbegin(), counted.cend(), 0) == std::accumulate(plain.begin(), plain.end(), 0);
}

// Members that only some containers have.
static bool others_agree()
{
	collection<std::vector<int>> some{ 1, 2 }, more(some);
	auto at = more.insert(more.end(), { 3, 4 });
	*&more[0] = 0;
	bool is_right = *at == 3 && more < some && some > more && more <= some && some >= more;
	collection<std::list<int>> list{ 3, 1, 2, 2 }, other{ 9, 8 };
	list.sort();
	list.unique();
	list.remove(1);
	list.splice(list.begin(), other);
	list.reverse();
	is_right = is_right && list.base() == std::list<int>({ 3, 2, 8, 9 }) && other.empty();
	collection<std::string> text("hallo");
	text.replace(1, 1, "e");
	is_right = is_right && text.find_last_of("l") == 3 && text.base() == "hello";
	collection<std::set<int>> numbers{ 1 };
	numbers.insert(list.begin(), list.end());
	collection<std::unordered_map<int, int>> map;
	map.max_load_factor(2);
	is_right = is_right && numbers.size() == 5 && numbers.key_comp()(1, 2) && map.bucket_count() > 0;
	collection<std::array<int, 3>> three{ 1, 2, 3 };
	three = { 4, 5, 6 };
	collection<std::vector<bool>> bits(2);
	bits.flip();
	return is_right && three[2] == 6 && bits[1];
}

// Forms of use that must compile.
static long forms()
{
	enum class colour { red, green };
	long sum = 0;
	int one = 1;
	collection<std::vector<colour>> colours(2, colour::red);
	colours[1] = colour::green;
	sum += colours[1] == colour::green;
	collection<std::vector<bool>> bits(8, true);
	bits[3] = false;
	for (bool bit : bits)
		sum += bit;
	collection<std::list<int *>> pointers;
	pointers.push_back(&one);
	for (auto &pointer : pointers)
		sum += *pointer;
	collection<std::set<int>> numbers{ 3, 1, 2 };
	for (int number : numbers)
		sum += number;
	collection<std::unordered_map<std::string, std::vector<int>>> lists;
	lists["a"].push_back(3);
	for (auto &list : lists)
		sum += list.second.size();
	collection<std::map<int, int>> squares;
	squares[2] = 4;
	for (auto &square : squares)
		square.second += square.first;
	if (squares.find(2) != squares.end())
		sum += squares.find(2)->second;
	squares.erase(squares.begin());
	collection<std::array<double, 4>> values(std::array<double, 4>{ { 1, 2, 3, 4 } });
	sum += values[1] < values[2] && !(values[0] > 2.0);
	sum += -values[0] + values[3] * 2;
	collection<std::vector<std::vector<int>>> rows(3, std::vector<int>(4));
	rows[1][2] = 3;
	collection<std::vector<int>> copied{ 1, 2, 3 }, moved(std::move(copied));
	copied = moved;
	sum += copied == moved ? copied[0] ? 1 : 2 : 3;
	return sum + squares.size();
}

int main()
{
	CPPROF_FUNCTION;
	vectors();
	readers();
	keys();
	others();
	std::printf("%d %ld\n", agrees() && others_agree(), forms());
}
