"""Compares the figures and marks of `cpprof diff` with their definitions, on random recordings."""
import json
import math
import random
import sys
from pathlib import Path

import pytest
from cli_support import done

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "naive"))

from differences import Recording, differences, marks # noqa: E402


def random_recording(rng, weights, noise):
	drift = math.exp(noise * rng.gauss(0, 1))
	hits = {name: round(max(0, drift * weight * math.exp(noise * rng.gauss(0, 1)) + math.sqrt(weight) * rng.gauss(0, 1)))
		for name, weight in weights.items()}
	return {name: count for name, count in hits.items() if count > 0}


def random_sides(rng, counts):
	"""Returns {file name: {function: hits}} of both sides. Some functions differ between the sides, some are in one alone."""
	weights = {f"f{index}": rng.choice([1, 4, 20, 100, 500]) for index in range(rng.randint(3, 25))}
	changed = {name: weight * rng.choice([1, 1, 1, 1, 0.5, 2, 0]) for name, weight in weights.items()}
	noise = rng.choice([0, 0.02, 0.1])
	return [{f"{side}{index}.data": {**random_recording(rng, chosen, noise), "always": 50} for index in range(count)}
		for side, chosen, count in zip("ab", (weights, changed), counts)]


@pytest.mark.parametrize("seed, counts", [(1, (1, 1)), (2, (1, 1)), (3, (2, 2)), (4, (3, 3)), (5, (1, 3)), (6, (5, 4)), (7, (2, 1))])
def test_differences_are_as_defined(tmp_path, seed, counts):
	sides = random_sides(random.Random(seed), counts)
	for name, hits in {**sides[0], **sides[1]}.items():
		(tmp_path / "stacks").write_text("".join(f"{function} {count}\n" for function, count in hits.items()))
		done("import", "--format", "folded", "-o", name, "stacks", directory=tmp_path)
	(result,) = json.loads(done("diff", "--body", "--limit", "0", "--threshold", "0", "--format", "json", *sides[0], "--", *sides[1],
		directory=tmp_path))["results"]
	a, b = ([Recording(hits, sum(hits.values())) for hits in side.values()] for side in sides)
	entries = sorted({name for side in sides for hits in side.values() for name in hits})
	expected = differences(entries, a, b)
	rows = {row["path"][0]: row for row in result["entries"]}
	assert sorted(rows) == entries
	for name, row in rows.items():
		error, p = expected[name]
		means = [sum(recording.hits.get(name, 0) for recording in side) / len(side) for side in (a, b)]
		assert [row["gticks_a"], row["gticks_b"]] == pytest.approx(means) and row["change"] == pytest.approx(means[1] - means[0])
		assert row["error"] == pytest.approx(error, rel=2e-3), name
		assert row["p"] == (None if p is None else pytest.approx(p, rel=5e-3, abs=1e-9)), name
	assert {name for name, row in rows.items() if row["significant"]} == marks([(name, p) for name, (_, p) in expected.items()])
	changes = [abs(row["change"]) for row in result["entries"]]
	assert changes == sorted(changes, reverse=True)
