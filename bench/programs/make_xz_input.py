#!/usr/bin/env python3
"""Writes about 60 MB of text that compresses like real text, always the same bytes:
`make_xz_input.py FILE`."""
import random
import sys

SIZE = 60 << 20


def main():
	rng = random.Random(1993)
	letters = "etaoinshrdlucmfwypvbgkjqxz"
	weights = [1 / (i + 1.5) for i in range(len(letters))]
	words = ["".join(rng.choices(letters, weights, k=rng.randint(2, 11))) for _ in range(20000)]
	shares = [1 / (i + 3) for i in range(len(words))]
	written = 0
	with open(sys.argv[1], "w", encoding="ascii") as out:
		while written < SIZE:
			line = " ".join(rng.choices(words, shares, k=4000)) + "\n"
			out.write(line)
			written += len(line)


main()
