"""Compares the product's analyses with the definitions, on thousands of random trees."""

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("CPPROF_BUILD", ROOT / "build"))
sys.path.insert(0, str(ROOT / "tests" / "naive"))

import definitions  # noqa: E402

TREES = 1500
SEEDS = range(4)
NAMES = "abcdefg"


def random_stack(rng, names, deepest):
    stack = [rng.choice(names)]
    while len(stack) < deepest and rng.random() < 0.85:
        # Recursion of several kinds: the same function again, its caller again, or any function.
        stack.append(rng.choice([stack[-1], stack[-2] if len(stack) > 1 else stack[0], rng.choice(names)]))
    return tuple(stack)


def random_samples(rng):
    names = NAMES[: rng.randint(1, len(NAMES))]
    deepest = rng.randint(1, 12)
    samples = [(random_stack(rng, names, deepest), rng.randint(1, 20)) for _ in range(rng.randint(1, 20))]
    # Stacks with a common beginning, so that the tree has branches at several depths.
    for _ in range(rng.randint(0, 10)):
        stack, _ = rng.choice(samples)
        keep = rng.randint(1, len(stack))
        longer = stack[:keep] + random_stack(rng, names, max(1, deepest - keep))
        samples.append((longer[:12], rng.randint(1, 20)))
    return samples


def random_changes(rng, samples):
    """Paths of downward profiles, and some other paths, with factors. Some steps are sets of labels."""
    names = sorted({name for stack, _ in samples for name in stack})
    changes = []
    for _ in range(rng.randint(1, 4)):
        stack, _ = rng.choice(samples)
        paths = sorted(definitions.down_paths(stack, {rng.choice(stack)}))
        path = rng.choice(paths)
        if rng.random() < 0.2:
            path = tuple(rng.choice(names) for _ in range(rng.randint(1, 4)))
        steps = tuple(widened(rng, name, names) for name in path)
        changes.append((steps, rng.choice([0, 0.25, 0.5, 1, 1.5, 3])))
    return changes


def widened(rng, name, names):
    """Returns a set with the label alone, or with other labels too."""
    return (name,) if rng.random() < 0.7 else tuple(sorted({name, *rng.sample(names, rng.randint(0, len(names)))}))


def random_roots(rng, samples):
    """Each label as a root, and some sets of labels, as for a function that has several."""
    names = sorted({name for stack, _ in samples for name in stack})
    return [(name,) for name in names] + [widened(rng, rng.choice(names), names) for _ in range(2)]


def ask(samples, changes, roots):
    lines = ["N"]
    lines += [f"S {';'.join(stack)} {hits}" for stack, hits in samples]
    lines += ["Q functions", "Q body"]
    lines += [f"Q {way} {','.join(root)}" for way in ("down", "up") for root in roots]
    lines += ["Q whatif " + " ".join(f"{';'.join(map(','.join, path))}={factor}" for path, factor in changes)]
    return lines


def expected_list(result):
    return [f"{hits} {';'.join(path)}" for path, hits in definitions.in_order(result)]


def compare_what_if(answer, samples, changes):
    predicted = definitions.what_if(samples, changes)
    assert float(answer[0]) == pytest.approx(predicted, abs=1e-9)
    assert [int(line) for line in answer[1:]] == [definitions.affected(samples, path) for path, _ in changes]


def oracle(lines):
    program = BUILD / "tests" / "unit" / "oracle_analyze"
    run = subprocess.run([program], input="\n".join(lines) + "\n", capture_output=True, text=True, timeout=60)
    assert run.returncode == 0, run.stderr
    answers, current = [], []
    for line in run.stdout.splitlines():
        if line == ".":
            answers.append(current)
            current = []
        else:
            current.append(line)
    return iter(answers)


def with_other_resource(rng, samples, zeros):
    """Adds samples of another resource, which have 0 hits. Returns all samples, and the samples of a view with or without zeros."""
    others = [(stack, 0) for stack, _ in random_samples(rng)] + [(stack[: rng.randint(1, len(stack))], 0) for stack, _ in samples]
    every = samples + rng.sample(others, rng.randint(0, min(12, len(others))))
    rng.shuffle(every)
    return every, every if zeros else [(stack, hits) for stack, hits in every if hits]


@pytest.mark.parametrize("zeros", ["", "zeros"])
@pytest.mark.parametrize("seed", SEEDS)
def test_random_trees(seed, zeros):
    rng = random.Random(seed)
    trees, lines = [], [f"O {zeros}"]
    for _ in range(TREES):
        every, samples = with_other_resource(rng, random_samples(rng), zeros)
        roots = random_roots(rng, samples)
        changes = random_changes(rng, samples)
        trees.append((samples, roots, changes))
        lines += ask(every, changes, roots)
    answers = oracle(lines)
    for samples, roots, changes in trees:
        assert next(answers) == expected_list(definitions.functions(samples)), samples
        assert next(answers) == expected_list(definitions.body(samples, zeros)), samples
        for root in roots:
            assert next(answers) == expected_list(definitions.down(samples, root)), (root, samples)
        for root in roots:
            assert next(answers) == expected_list(definitions.up(samples, root)), (root, samples)
        compare_what_if(next(answers), samples, changes)
    assert next(answers, None) is None


def role_of(name):
    return definitions.START if name.startswith("START") else definitions.CREATE if name.startswith("CREATE") else 0


def is_kernel(name):
    return name.startswith("KERNEL")


def in_kernel(rng, stack):
    """Appends the kernel's frames, in some cases."""
    return stack + random_stack(rng, ["KERNEL1", "KERNEL2", "KERNEL3"], rng.randint(1, 5)) if rng.random() < 0.5 else stack


def random_threads(rng):
    """Stacks in which threads start. Some differ little, and some consist of start code alone."""
    names = [*"abc", "START1", "START2", "START3", "CREATE1", "CREATE2", "|"]
    names = rng.sample(names, rng.randint(2, len(names))) + ["|", "START1"][: rng.randint(0, 2)]
    samples = [(random_stack(rng, names, rng.randint(1, 30)), rng.randint(1, 20)) for _ in range(rng.randint(1, 10))]
    for _ in range(rng.randint(0, 10)):
        stack, _ = rng.choice(samples)
        longer = stack[: rng.randint(1, len(stack))] + random_stack(rng, names, 12)
        samples.append((longer, rng.randint(1, 20)))
    return [(in_kernel(rng, stack), hits) for stack, hits in samples]


KERNEL_OPTIONS = {"": lambda path: path, "kernel-hide": lambda path: definitions.kernel_hidden(path, is_kernel),
                  "kernel-only": lambda path: definitions.kernel_only(path, is_kernel)}


@pytest.mark.parametrize("kernel", KERNEL_OPTIONS)
@pytest.mark.parametrize("options", ["", "untrimmed", "no-stitch", "untrimmed no-stitch", "zeros", "untrimmed zeros"])
def test_random_threads(options, kernel):
    rng = random.Random(f"threads {options} {kernel}")
    cases, lines = [], [f"O {options} {kernel}"]
    for _ in range(TREES):
        samples = random_threads(rng)
        if "zeros" in options:
            samples = [(stack, hits if rng.random() < 0.6 else 0) for stack, hits in samples]
        kept = [(KERNEL_OPTIONS[kernel](list(stack)), hits) for stack, hits in samples]
        shown = [
            (tuple(definitions.shown(path, role_of, "|", "untrimmed" not in options, "no-stitch" not in options)), hits)
            for path, hits in kept
        ]
        shown = [(stack, hits) for stack, hits in shown if stack]
        names = sorted({name for stack, _ in shown for name in stack})
        cases.append((samples, shown, names))
        lines += ["N"] + [f"S {';'.join(stack)} {hits}" for stack, hits in samples] + ["Q functions", "Q body"]
        lines += [f"Q down {','.join(names)}"] if names else []
    answers = oracle(lines)
    for samples, shown, names in cases:
        assert next(answers) == expected_list(definitions.functions(shown)), samples
        assert next(answers) == expected_list(definitions.body(shown, "zeros" in options)), samples
        if names:
            assert next(answers) == expected_list(definitions.down(shown, set(names))), samples
    assert next(answers, None) is None


def test_random_work_of_the_kernel():
    rng = random.Random("kernel")
    cases, lines = [], []
    for _ in range(TREES):
        names = rng.sample(["KERNEL1", "KERNEL2", "KERNEL3", "KERNEL_schedule"], rng.randint(1, 4))
        samples = [(stack[: rng.randint(0, len(stack))] + random_stack(rng, names, rng.randint(1, 6)), hits)
                   if rng.random() < 0.8 else (stack, hits) for stack, hits in random_samples(rng)]
        cases.append(samples)
        lines += ["N"] + [f"S {';'.join(stack)} {hits}" for stack, hits in samples] + ["Q kernelwork", "Q waits"]
    answers = oracle(lines)
    for samples in cases:
        expected = definitions.kernel_work(samples, is_kernel)
        ranked = sorted(expected.items(), key=lambda entry: (-entry[1][0], entry[0] is None, entry[0]))
        assert next(answers) == [f"{hits} {by or '-'} {work or '-'} {below}" for by, (hits, work, below) in ranked], samples
        assert next(answers) == expected_list(definitions.body([(definitions.waits_moved(stack, is_kernel), hits) for stack, hits in samples])), samples
    assert next(answers, None) is None


def test_threads_hang_below_what_started_them():
    path = ["START1", "main", "work", "CREATE1", "create", "START2", "|", "START2", "START3", "worker"]
    assert definitions.shown(path, role_of, "|") == ["main", "work", "CREATE1", "worker"]
    assert definitions.shown(path, role_of, "|", stitch=False) == ["worker"]
    assert definitions.shown(path, role_of, "|", trim=False) == [name for name in path if name != "|"]
    assert definitions.shown(path[:8], role_of, "|") == ["main", "work", "CREATE1"]
    assert definitions.shown(["main", "START2", "|", "START2", "worker"], role_of, "|") == ["main", "worker"]


def test_the_worked_examples_of_the_documentation():
    samples = [(("main", "f", "g", "f", "g"), 3)]
    assert definitions.down(samples, {"main"}) == {
        ("main",): 3,
        ("main", "f"): 3,
        ("main", "f", "g"): 3,
        ("main", "f", "g", "f"): 3,
    }
    assert definitions.up(samples, {"g"}) == {
        ("g",): 3,
        ("f", "g"): 3,
        ("g", "f", "g"): 3,
        ("main", "f", "g"): 3,
    }


def test_a_root_is_a_set_of_labels():
    samples = [(("main", "f@1", "g@2", "f@3", "g@2"), 3)]
    assert definitions.down(samples, {"f@1", "f@3"}) == {
        ("f@1",): 3,
        ("f@1", "g@2"): 3,
        ("f@1", "g@2", "f@3"): 3,
        ("f@1", "g@2", "f@3", "g@2"): 3,
    }
    assert definitions.up(samples, {"f@1", "f@3"}) == {
        ("f@3",): 3,
        ("g@2", "f@3"): 3,
        ("f@1", "g@2", "f@3"): 3,
        ("main", "f@1", "g@2", "f@3"): 3,
    }
    assert definitions.what_if(samples, [((("f@1", "f@3"), ("g@2",)), 0)]) == 0


def random_code(rng):
    """Ranges of instructions, [[(start, end), ...], ...], and an address -> functions table for some addresses in and around them."""
    ranges, address = [], rng.randint(1, 5)
    for _ in range(rng.randint(1, 3)):
        ranges.append([])
        for _ in range(rng.randint(1, 5)):
            size = rng.randint(1, 4)
            ranges[-1].append((address, address + size))
            address += size
        address += rng.randint(0, 3)
    names = {}
    for at in rng.sample(range(address + 3), rng.randint(1, address + 3)):
        names[at] = tuple(rng.sample("fghi", rng.randint(1, 3)))
    return ranges, names


def test_random_code():
    """Recursion through the same instruction, by its own address and by the address of a return into it, counts once."""
    rng = random.Random("code")
    cases, lines = [], []
    for _ in range(TREES):
        ranges, names = random_code(rng)
        addresses = sorted(names)
        samples = [
            (tuple((at, names[at]) for at in rng.choices(addresses, k=rng.randint(1, 8))), rng.randint(1, 20))
            for _ in range(rng.randint(1, 12))
        ]
        function = rng.choice(names[rng.choice(samples)[0][0][0]])
        cases.append((samples, function, ranges))
        lines += ["N"] + [f"S {';'.join(f'{at}!' + '/'.join(inner) for at, inner in stack)} {hits}" for stack, hits in samples]
        code = " ".join(":".join(map(str, [part[0][0], *(end for _, end in part)])) for part in ranges)
        lines += [f"Q instructions {function} {code}"]
    answers = oracle(lines)
    for samples, function, ranges in cases:
        found, unplaced = definitions.instructions(samples, function, [each for part in ranges for each in part])
        occurring = sorted({at for stack, _ in samples for at, names in stack if function in names})
        expected = [" ".join(map(str, occurring))]
        expected += [f"{start} {body} {total}" for (start, _), (body, total) in sorted(found.items())]
        assert next(answers) == expected + [f"unplaced {unplaced}"], (samples, function, ranges)
    assert next(answers, None) is None
