/* Coroutines are not instrumented, because an object in one would exist across its suspensions; their callees are. */
// standards: 20 23
// counts: Generator::Generator 3
// counts: Generator::next 8
// counts: Generator::promise_type::final_suspend 2
// counts: Generator::promise_type::get_return_object 3
// counts: Generator::promise_type::initial_suspend 3
// counts: Generator::promise_type::return_void 2
// counts: Generator::promise_type::yield_value 6
// counts: Generator::value 6
// counts: Generator::~Generator 3
// counts: forwarded 1
// counts: main 1
// counts: mentions 1
// counts: value_of 6
// prints: 63 co_await 0
// skipped: numbers coroutine
// skipped: task coroutine
// skipped: main::lambda coroutine
#include <coroutine>
#include <cstdio>

struct Generator {
	struct promise_type {
		int value = 0;
		Generator get_return_object() { return Generator(std::coroutine_handle<promise_type>::from_promise(*this)); }
		std::suspend_always initial_suspend() noexcept { return {}; }
		std::suspend_always final_suspend() noexcept { return {}; }
		std::suspend_always yield_value(int v)
		{
			value = v;
			return {};
		}
		void return_void() {}
		void unhandled_exception() {}
	};
	std::coroutine_handle<promise_type> handle;
	explicit Generator(std::coroutine_handle<promise_type> h) : handle(h) {}
	Generator(Generator &&other) : handle(other.handle) { other.handle = nullptr; }
	~Generator()
	{
		if (handle)
			handle.destroy();
	}
	bool next()
	{
		handle.resume();
		return !handle.done();
	}
	int value() const { return handle.promise().value; }
};

int value_of(int x) { return x * 10; }

Generator numbers(int limit)
{
	for (int i = 0; i < limit; i++)
		co_yield value_of(i);
}

/* Contains only co_return. */
Generator task() { co_return; }

Generator forwarded(int limit) { return numbers(limit); }

/* Its text has the words: co_yield, and "co_await". */
const char *mentions()
{
	/* co_return; */
	return "co_await";
}

int main()
{
	int total = 0;
	auto generator = forwarded(3);
	while (generator.next())
		total += generator.value();
	auto from_lambda = [](int to) -> Generator {
		for (int i = 0; i < to; i++)
			co_yield value_of(i) + 1;
	}(3);
	while (from_lambda.next())
		total += from_lambda.value();
	auto ends = task();
	std::printf("%d %s %d\n", total, mentions(), ends.handle.done());
}
