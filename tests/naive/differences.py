"""The differences of docs/definitions.md, as written there and in no other way: the distributions are added up or integrated.

A recording is {entry: hits}, its total, and its number of independent samples. The interval is 1, so amounts are hits.
"""

import math
from statistics import fmean, variance

P_TO_REACH = 0.001
EXPECTED_FEW, EXPECTED_MANY = 10, 1000
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


def beta_part(a, b, x):
    """The incomplete beta function I_x(a, b), for any a >= 0: steps up to a smooth integrand, and Simpson's rule over x = sin^2(angle)."""
    if a == 0:
        return 1.0
    def log_beta(a, b):
        return math.lgamma(a) + math.lgamma(b) - math.lgamma(a + b)
    found = 0.0
    while a < 4:
        found += math.exp(a * math.log(x) + b * math.log(1 - x) - log_beta(a, b)) / a
        a += 1
    steps, high = 2000, math.asin(math.sqrt(x))
    values = [math.exp((2 * a - 1) * math.log(math.sin(angle)) + (2 * b - 1) * math.log(math.cos(angle)) - log_beta(a, b))
        for angle in (high * i / steps for i in range(1, steps + 1))]
    return found + 2 * high / steps / 3 * (values[-1] + 4 * sum(values[0:-1:2]) + 2 * sum(values[1:-1:2]))


def divided_binomial_tails(hits, trials, chance):
    """The binomial distribution's tails for numbers that need not be whole."""
    return min(1.0, 2 * min(beta_part(hits, trials - hits + 1, chance), beta_part(trials - hits, hits + 1, 1 - chance)))


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
    if (x_a + x_b) * min(r_a, r_b) / (r_a + r_b) < EXPECTED_FEW:
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


def exact_tails(entry, a, b, e2):
    """The exact test of the entry's samples, divided by their design effect. The variance of the change is e2."""
    r_a, r_b = rates(a, b)
    k_a, k_b = (sum(recording.hits.get(entry, 0) for recording in side) for side in (a, b))
    n = sum(recording.samples for recording in a + b)
    t_a, t_b = (fmean(recording.total for recording in side) for side in (a, b))
    q = sum(fmean(other.fraction(entry) for other in side) / recording.samples for side in (a, b) for recording in side) / len(a + b)
    expected = (k_a + k_b) * min(r_a, r_b) / (r_a + r_b)
    g = max(e2 / (q * (t_a**2 / len(a) + t_b**2 / len(b))), 1 if expected < EXPECTED_FEW else 1 - (k_a + k_b) / n)
    return divided_binomial_tails(k_b / g, (k_a + k_b) / g, r_b / (r_a + r_b)) if expected / g < EXPECTED_MANY else 0.0


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
        w2, own = (s2, freedom) if v == 0 else (u * v, math.inf) if d == math.inf else (max(v, (d * u * v + freedom * s2) / (d + freedom)), d + freedom)
        first = w2 * (t_a**2 / len(a) + t_b**2 / len(b))
        second = c2 * (x_a**2 / len(a) + x_b**2 / len(b))
        e2 = first + second
        all_freedom = e2**2 / (first**2 / own + second**2 / freedom)
        p = max(student_tails((x_b - x_a) / math.sqrt(e2), all_freedom), exact_tails(entry, a, b, e2)) if is_tested(entry, a, b) else None
        parts_of_sides = [fmean(recording.fraction(entry) for recording in side) for side in (a, b)]
        least = sum(t**2 * part * (1 - part) / sum(recording.samples for recording in side)
            for t, part, side in zip((t_a, t_b), parts_of_sides, (a, b)))
        result[entry] = (math.sqrt(max(e2, least)) * student_quantile(0.05, all_freedom), p)
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
