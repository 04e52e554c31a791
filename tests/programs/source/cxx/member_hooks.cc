/* The Profiler calls cpprof_enter and cpprof_leave of a class for each of its member functions. */
// standards: 11 14 17 20 23
// counts: Account::Account 2
// counts: Account::add 3
// counts: Account::balance 1
// counts: Account::describe 1
// counts: Plain::run 1
// counts: Reader::counted 2
// counts: Savings::Savings 1
// counts: Savings::add_interest 1
// counts: main 1
// prints: 7 1 1
// skipped: cpprof_enter the Profiler calls it
// skipped: cpprof_leave the Profiler calls it
#include <cstdio>
#ifndef CPPROF_PROFILER_H
struct cpprof_probe;
#endif

class Account
{
	int sum;
	mutable int counted = 0;

      protected:
	void cpprof_enter(const cpprof_probe *) const { counted += 1; }
	void cpprof_leave(const cpprof_probe *) const { counted += 100; }

      public:
	explicit Account(int amount) : sum(amount) {}
	void add(int amount)
	{
		if (amount < 0)
			throw amount;
		sum += amount;
	}
	int balance() const { return sum; }
	static int describe() { return 1; }
	friend struct Reader;
};

/* In a constexpr function and in a static one there is no object whose hooks could be called. */
struct Reader {
	static int counted(const Account &account) { return account.counted; }
};

class Savings : public Account
{
      public:
	Savings() : Account(5) {}
	void add_interest() { add(1); }
};

struct Plain {
	int run() { return 1; }
};

int main()
{
	Account account(3);
	account.add(4);
	try {
		account.add(-1);
	} catch (int) {
	}
	std::printf("%d %d %d\n", account.balance(), Account::describe(), Plain().run());
	Savings savings;
	savings.add_interest();
	std::fprintf(stderr, "counted %d\n", Reader::counted(account) + 1000 * Reader::counted(savings));
}
