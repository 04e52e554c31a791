"""The differences of docs/definitions.md, as written there and in no other way: the distributions are added up or integrated.

A recording is {entry: hits}, its total, and its number of independent samples. The interval is 1, so amounts are hits.
"""

import math
from statistics import fmean, variance

P_TO_REACH = 0.001
EXPECTED_MIN = 10
RATE = 0.05
NORMAL_QUANTILE = 1.959963984540054


class Recording:
    def __init__(self, hits, total):
        self.hits = hits
        self.total = total
        self.samples = total  # merged: each hit is a sample

    def fraction(self, entry):
        return self.hits.get(entry, 0) / self.total


def normal_tails(z):
    return math.erfc(abs(z) / math.sqrt(2))


def student_tails(t, freedom):
    """2 P(T >= |t|), by Simpson's rule over T = sqrt(freedom) tan(angle)."""
    if freedom > 1e6:
        return normal_tails(t)
    low, high, steps = math.atan(abs(t) / math.sqrt(freedom)), math.pi / 2, 400 if 4 < freedom < 100 else 2000
    width = (high - low) / steps
    values = [max(0.0, math.cos(low + i * width)) ** (freedom - 1) for i in range(steps + 1)]
    area = width / 3 * (values[0] + values[-1] + 4 * sum(values[1:-1:2]) + 2 * sum(values[2:-1:2]))
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    return min(1.0, 2 * scale * area)


def student_quantile(tails, freedom):
    low, high = 0.0, 100.0
    for _ in range(25):
        middle = (low + high) / 2
        low, high = (middle, high) if student_tails(middle, freedom) > tails else (low, middle)
    return high


def binomial_tails(hits, trials, chance):
    term = [math.comb(trials, k) * chance**k * (1 - chance) ** (trials - k) for k in range(trials + 1)]
    return min(1.0, 2 * min(sum(term[hits:]), sum(term[: hits + 1])))


def rates(a, b):
    """The samples of a gtick on each side."""
    return [sum(recording.samples / recording.total for recording in side) for side in (a, b)]


def is_tested(entry, a, b):
    r_a, r_b = rates(a, b)
    own = sum(recording.fraction(entry) * recording.samples for recording in a + b)
    return (min(r_a, r_b) / (r_a + r_b)) ** own <= P_TO_REACH


def figures_of_single(entry, a, b, spread):
    """Returns (error, p)."""
    x_a, x_b = a.hits.get(entry, 0), b.hits.get(entry, 0)
    r_a, r_b = rates([a], [b])
    e2 = 0.0
    for recording, x in ((a, x_a), (b, x_b)):
        p = recording.fraction(entry)
        e2 += recording.total**2 * p * (1 - p) / recording.samples + (spread * x) ** 2
    e = math.sqrt(e2)
    if not is_tested(entry, [a], [b]):
        return e * NORMAL_QUANTILE, None
    tails = normal_tails((x_b - x_a) / e) if e > 0 else float(x_a == x_b)
    if (x_a + x_b) * min(r_a, r_b) / (r_a + r_b) < EXPECTED_MIN:
        tails = max(tails, binomial_tails(x_b, x_a + x_b, r_b / (r_a + r_b)))
    return e * NORMAL_QUANTILE, tails


def parts(entry, a, b):
    """Returns s^2 and v."""
    freedom = len(a) + len(b) - 2
    squares = sampling = 0.0
    for side in (a, b):
        mean = fmean(recording.fraction(entry) for recording in side)
        for recording in side:
            squares += (recording.fraction(entry) - mean) ** 2
            sampling += mean * (1 - mean) / recording.samples
    return squares / freedom, sampling / (len(a) + len(b))


def derivative(function, x, step=1e-3):
    return (function(x + step) - function(x - step)) / (2 * step)


def digamma(x):
    return derivative(math.lgamma, x)


def trigamma(x, step=1e-2):
    return (math.lgamma(x + step) - 2 * math.lgamma(x) + math.lgamma(x - step)) / step**2


def fit(ratios, freedom):
    """Returns u and d."""
    logarithms = [math.log(ratio) - digamma(freedom / 2) + math.log(freedom / 2) for ratio in ratios if ratio > 0]
    if len(logarithms) < 3:
        return 1.0, 0.0
    scatter = variance(logarithms) - trigamma(freedom / 2)
    if scatter <= 1e-6:
        return max(1.0, math.exp(fmean(logarithms))), math.inf
    low, high = 0.02, 1e7
    for _ in range(200):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if (trigamma(middle) if middle < 50 else 1 / middle + 1 / (2 * middle**2)) > scatter else (low, middle)
    return max(1.0, math.exp(fmean(logarithms) + digamma(high) - math.log(high))), 2 * high


def figures_of_several(entries, a, b):
    """Returns {entry: (error, p)}; p is None if the entry is not tested."""
    freedom = len(a) + len(b) - 2
    t_a, t_b = (fmean(recording.total for recording in side) for side in (a, b))
    c2 = sum((recording.total / mean - 1) ** 2 for side, mean in ((a, t_a), (b, t_b)) for recording in side) / freedom
    both = {entry: parts(entry, a, b) for entry in entries}
    u, d = fit([s2 / v for entry, (s2, v) in both.items() if v > 0 and is_tested(entry, a, b)], freedom)
    result = {}
    for entry, (s2, v) in both.items():
        x_a, x_b = (fmean(recording.hits.get(entry, 0) for recording in side) for side in (a, b))
        w2, own = (s2, freedom) if v == 0 else (u * v, math.inf) if d == math.inf else ((d * u * v + freedom * s2) / (d + freedom), d + freedom)
        first = w2 * (t_a**2 / len(a) + t_b**2 / len(b))
        second = c2 * (x_a**2 / len(a) + x_b**2 / len(b))
        if first + second == 0:
            result[entry] = (0.0, 0.0 if x_a != x_b else 1.0)
            continue
        e = math.sqrt(first + second)
        all_freedom = (first + second) ** 2 / (first**2 / own + second**2 / freedom)
        p = student_tails((x_b - x_a) / e, all_freedom) if is_tested(entry, a, b) else None
        result[entry] = (e * student_quantile(0.05, all_freedom), p)
    return result


def differences(entries, a, b, spread=0.05):
    """Returns {entry: (error, p or None)} of two sides, lists of recordings."""
    if len(a) + len(b) > 2:
        return figures_of_several(entries, a, b)
    return {entry: figures_of_single(entry, a[0], b[0], spread) for entry in entries}


def marks(found):
    """Returns the marked entries of [(entry, p)]."""
    tested = sorted(((p, entry) for entry, p in found if p is not None), key=lambda row: row[0])
    last = max((rank for rank, (p, _) in enumerate(tested, 1) if p <= RATE * rank / len(tested)), default=0)
    return {entry for _, entry in tested[:last]}
