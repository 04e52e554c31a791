"""The gains of virtual speed-ups, written from docs/definitions.md: slow, and without any code of the product."""
import math

LEVELS = (20, 40, 60, 80, 100)


def within(t, freedom, steps=400):
    """The probability that Student's variable is between -t and t. With x = sqrt(freedom) tan(a), its density becomes a power of
    cos(a), which Simpson's rule integrates well for any t."""
    scale = math.exp(math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2)) / math.sqrt(math.pi)
    width = math.atan(t / math.sqrt(freedom)) / steps
    total = 1 + math.cos(steps * width) ** (freedom - 1)
    total += sum((4 if i % 2 else 2) * math.cos(i * width) ** (freedom - 1) for i in range(1, steps))
    return 2 * scale * total * width / 3


def quantile(freedom):
    low, high = 0.0, 1000.0
    for _ in range(60):
        middle = (low + high) / 2
        if within(middle, freedom) < 0.95:
            low = middle
        else:
            high = middle
    return low


def effective(trial):
    return trial["duration_ns"] - trial["delay_ns"]


def expected(trials, at):
    """The progress that trial `at` would have had without its speed-up."""
    for distance in range(1, len(trials) + 1):
        near = [trials[i] for i in range(max(0, at - distance), min(len(trials), at + distance + 1)) if i != at]
        near = [trial for trial in near if trial["percent"] == 0]
        progress = sum(trial["progress"] for trial in near)
        if progress > 0:
            return effective(trials[at]) * progress / sum(map(effective, near))
    return 0


def gains(trials):
    """Returns {(path, percent): (gain, error, trials)} and {path: (slope, its error)}."""
    groups = {}
    for at, trial in enumerate(trials):
        if trial["percent"]:
            group = groups.setdefault((tuple(trial["path"]), trial["percent"]), [])
            group.append((expected(trials, at), trial["progress"]))
    squares = freedom = 0
    ratios = {}
    for key, group in groups.items():
        total, progress = (sum(pair[i] for pair in group) for i in (0, 1))
        if total <= 0 or progress <= 0:
            continue
        ratios[key] = total / progress
        if len(group) > 1:
            off = [(wanted - ratios[key] * got) / (total / len(group)) for wanted, got in group]
            squares += sum(x * x for x in off)
            freedom += len(group) * (1 - 1 / len(group))
    deviation, t = math.sqrt(squares / freedom), quantile(freedom)
    points = {key: (1 - ratio, t * ratio * deviation / math.sqrt(len(groups[key])), len(groups[key])) for key, ratio in ratios.items()}
    slopes = {}
    for path in {path for path, _ in points}:
        weighted = weights = 0
        for (other, percent), (gain, _, count) in points.items():
            if other == path and gain < 1:
                weight = count / (1 - gain) ** 2
                weighted += weight * percent / 100 * gain
                weights += weight * (percent / 100) ** 2
        if weights:
            slopes[path] = (weighted / weights, t * deviation / math.sqrt(weights))
    return points, slopes
