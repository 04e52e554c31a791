// Counts the words of a text that a dictionary does not have, as spell_before.cpp. The dictionary is a
// hash table: the time of a search does not depend on the number of words.
#include <cstdio>
#include <string>
#include <unordered_set>

using dictionary = std::unordered_set<std::string>;

static std::string make_word(unsigned number)
{
	std::string word;
	for (unsigned rest = number * 2654435761u; word.size() < 7; rest = rest * 1664525u + 1013904223u)
		word += static_cast<char>('a' + (rest >> 24) % 26);
	return word;
}

static dictionary read_dictionary(unsigned words)
{
	dictionary known;
	for (unsigned i = 0; i < words; i++)
		known.insert(make_word(i));
	return known;
}

static bool is_known(const dictionary &known, const std::string &word)
{
	return known.count(word) != 0;
}

static unsigned count_unknown(const dictionary &known, unsigned words)
{
	unsigned unknown = 0;
	for (unsigned i = 0; i < words; i++)
		if (!is_known(known, make_word(i * 3)))
			unknown++;
	return unknown;
}

int main()
{
	const dictionary known = read_dictionary(18000);
	std::printf("%u words are unknown\n", count_unknown(known, 18000));
}
