"""Chains of calls that make a known number of countable events: each round of `work` is one call of read.

    python3 shares.py ROUNDS CHAIN...     makes ROUNDS events in each chain, and some times as many in the chains of SHARES

First it makes events and allocates memory in `begin` until its standard input has a byte or ends.
"""
import os
import select
import sys
import threading

ZERO = os.open("/dev/zero", os.O_RDONLY)
SHARES = {"direct": 5, "through_c": 3, "through_exceptions": 2}


def work(rounds):
	total = 0
	for _ in range(rounds):
		total += len(os.read(ZERO, 1))
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


def too_deep(rounds):
	sys.setrecursionlimit(9999)
	recursion(rounds, 3000)


def in_thread(rounds):
	thread = threading.Thread(target=direct, args=[rounds])
	thread.start()
	thread.join()


class Made:
	"""From 3.12 on, the interpreter calls `__init__` of a class that is often made by code of its own, which has no name."""

	def __init__(self, rounds):
		work(rounds)


def constructor(rounds):
	for _ in range(rounds):
		Made(1)


def Ünïcode_名前(rounds):
	work(rounds)


CHAINS = {
	"direct": direct, "through_c": through_c, "through_exceptions": through_exceptions, "generator": generator,
	"recursion": recursion, "comprehension": comprehension, "constructor": constructor, "thread": in_thread, "unicode": Ünïcode_名前, "too_deep": too_deep,
}


def begin():
	while not select.select([0], [], [], 0.01)[0]:
		bytearray(len(os.read(ZERO, 1)) << 20)
	os.read(0, 1)


def main():
	rounds, names = int(sys.argv[1]), sys.argv[2:]
	begin()
	for name in names:
		CHAINS[name](rounds * SHARES.get(name, 1))


if __name__ == "__main__":
	main()
