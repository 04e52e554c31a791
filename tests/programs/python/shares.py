"""Three chains of calls that use 50, 30 and 20 % of the time by construction: each works through a number of rounds of `work`.

    python3 shares.py ROUNDS CHAIN...
"""
import sys
import threading

SHARES = {"direct": 5, "through_c": 3, "through_exceptions": 2}


def work(rounds):
	total = 0
	for _ in range(rounds * 1000):
		total += 3
	return total


def direct(rounds):
	work(rounds)


class Key:
	"""The sort of a list, which is C, calls `less`."""

	def __init__(self, rounds):
		self.rounds = rounds

	def less(self, _):
		return work(self.rounds)


def through_c(rounds):
	sorted([0], key=Key(rounds).less)


def raising(rounds):
	work(rounds)
	raise ValueError


def through_exceptions(rounds):
	try:
		raising(rounds)
	except ValueError:
		pass


def numbers(rounds):
	for _ in range(10):
		work(rounds)
		yield 1


def generator(rounds):
	return sum(numbers(rounds // 10))


def recursion(rounds, depth=200):
	return work(rounds) if depth == 0 else recursion(rounds, depth - 1)


def comprehension(rounds):
	return [work(rounds // 10) for _ in range(10)]


def in_thread(rounds):
	thread = threading.Thread(target=direct, args=[rounds])
	thread.start()
	thread.join()


def Ünïcode_名前(rounds):
	work(rounds)


CHAINS = {
	"direct": direct, "through_c": through_c, "through_exceptions": through_exceptions, "generator": generator,
	"recursion": recursion, "comprehension": comprehension, "thread": in_thread, "unicode": Ünïcode_名前,
}


def main():
	rounds, names = int(sys.argv[1]), sys.argv[2:]
	for _ in range(100):
		for name in names:
			CHAINS[name](rounds * SHARES.get(name, 1))


if __name__ == "__main__":
	main()
