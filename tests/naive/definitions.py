"""The definitions of docs/definitions.md, as written there and in no other way.

A sample is (stack, hits), the stack a tuple of names, outermost first. Slow and
plain on purpose: this is what the product's fast version is compared with.
"""

from collections import Counter


def fold(path, name):
    """A path extended by a name, cut back if the name is in it already."""
    if name in path:
        return path[: path.index(name) + 1]
    return path + (name,)


START, CREATE = 1, 3


def without_start(stack, role_of):
    """A stack without the start code at its outer end."""
    while stack and role_of(stack[0]) == START:
        stack = stack[1:]
    return stack


def without_creation(stack, role_of):
    """A creating stack without what only starts the thread."""
    window = range(max(len(stack) - 8, 0), len(stack))
    creators = [index for index in window if role_of(stack[index]) == CREATE]
    if creators:
        return stack[: creators[0] + 1]
    end = len(stack)
    while end - 1 in window and role_of(stack[end - 1]) == START:
        end -= 1
    return stack[:end]


def shown(path, role_of, mark, trim=True, stitch=True):
    """Returns the shown part of a path in which marks stand where threads start."""
    stacks = [[]]
    for frame in path:
        if frame == mark:
            stacks.append([])
        else:
            stacks[-1].append(frame)
    if not stitch:
        stacks = stacks[-1:]
    last = stacks[-1]
    if trim:
        stacks = [without_creation(stack, role_of) for stack in stacks[:-1]] + [last]
        stacks = [without_start(stack, role_of) for stack in stacks]
    return [frame for stack in stacks for frame in stack] or last[-1:]


def kernel_hidden(path, is_kernel):
    """A path without the kernel's frames."""
    return [frame for frame in path if not is_kernel(frame)]


def kernel_only(path, is_kernel):
    """Only the kernel's frames of a path, or nothing if it does not end in the kernel."""
    return [frame for frame in path if is_kernel(frame)] if is_kernel(path[-1]) else []


def kernel_work(samples, is_kernel):
    """The hits of each function that entered the kernel, and the function of the kernel that most of them are below."""
    entered = {}
    for stack, hits in samples:
        inner = len(stack)
        while inner and is_kernel(stack[inner - 1]):
            inner -= 1
        if inner < len(stack):
            entered.setdefault(stack[inner - 1] if inner else None, []).append((stack[inner:], hits))
    result = {}
    for function, parts in entered.items():
        hits = sum(hits for _, hits in parts)
        below, depth = Counter(), Counter()
        for part, count in parts:
            for name in set(part):
                below[name] += count
                depth[name] = max(depth[name], part.index(name))
        enough = [name for name in below if 2 * below[name] >= hits and "schedule" not in name]
        best = min(enough, key=lambda name: (below[name], -depth[name], name)) if enough else None
        if function is not None or best is not None:
            result[function] = (hits, best, below[best] if best else 0)
    return result


def waits_moved(stack, is_kernel):
    """The stack of a sample in the summary's list of functions: a wait ends in the function that entered the kernel."""
    inner = len(stack)
    while inner and is_kernel(stack[inner - 1]):
        inner -= 1
    return stack[:inner] if 0 < inner < len(stack) and "schedule" in stack[-1] else stack


def total(samples):
    return sum(hits for _, hits in samples)


def by_label(samples, key=None):
    """Returns the hits of samples (labels, hits), labels a dictionary, by the labels that they have in common."""
    result = Counter()
    for labels, hits in samples:
        common = labels if key is None else {key: labels[key]} if key in labels else {}
        result[tuple(sorted(common.items()))] += hits
    return result


def is_labelled(labels, words):
    """Whether --label's words select a sample; words: [(key, value or None)]."""
    return all(
        any(key in labels and value in (None, labels[key]) for key, value in words if key == wanted)
        for wanted, _ in words
    )


def charged(samples, is_own):
    """The hits of each function of own code, each sample charged to its innermost frame of own code (None: it has none)."""
    result = Counter()
    for stack, hits in samples:
        own = [frame for frame in stack if is_own(frame)]
        result[own[-1] if own else None] += hits
    return result


def functions(samples):
    """Each function once per sample in whose stack it occurs."""
    result = Counter()
    for stack, hits in samples:
        for name in set(stack):
            result[(name,)] += hits
    return result


def body(samples, zeros=False):
    """Only the innermost function. With zeros, every function has a row."""
    result = Counter(dict.fromkeys(functions(samples), 0)) if zeros else Counter()
    for stack, hits in samples:
        result[(stack[-1],)] += hits
    return result


def down_paths(stack, root):
    """The paths that a sample counts for in the downward profile of a root, a set of labels."""
    paths = set()
    starts = [index for index, name in enumerate(stack) if name in root]
    if starts:
        path = ()
        for name in stack[starts[0] :]:
            paths.add(path + (name,))
            path = fold(path, name)
    return paths


def up_paths(stack, root):
    """The same of the upward profile: the mirror image."""
    return {path[::-1] for path in down_paths(stack[::-1], root)}


def down(samples, root):
    result = Counter()
    for stack, hits in samples:
        for path in down_paths(stack, root):
            result[path] += hits
    return result


def up(samples, root):
    result = Counter()
    for stack, hits in samples:
        for path in up_paths(stack, root):
            result[path] += hits
    return result


def is_covered(stack, steps):
    """Whether a what-if path, a tuple of sets of labels, covers a sample."""
    return any(
        len(path) == len(steps) and all(name in step for name, step in zip(path, steps))
        for path in down_paths(stack, steps[0])
    )


def what_if(samples, changes):
    """The new total as a fraction of the old; `changes`: [(path, factor)]."""
    saved = 0.0
    for stack, hits in samples:
        savings = [1 - factor for path, factor in changes if is_covered(stack, path)]
        if savings:
            saved += hits * max(savings)
    return 1 - saved / total(samples)


def affected(samples, path):
    """The hits that a what-if path covers."""
    return sum(hits for stack, hits in samples if is_covered(stack, path))


def at(instructions, address):
    """The instruction, (start, end), that contains an address, or None."""
    return next((each for each in instructions if each[0] <= address < each[1]), None)


def instructions(samples, function, code):
    """({instruction: [body, total]}, hits at unknown code) of a function.

    A sample is (stack, hits), the stack a tuple of (address, functions that are inlined there and the function that contains them).
    """
    result, unplaced = {}, 0
    for stack, hits in samples:
        executed = [at(code, address) for address, names in stack if function in names]
        for instruction in set(executed) - {None}:
            result.setdefault(instruction, [0, 0])[1] += hits
        if function in stack[-1][1]:
            if executed[-1] is None:
                unplaced += hits
            else:
                result[executed[-1]][0] += hits
    return result, unplaced


def in_order(result):
    """Entries as a report lists them: most hits first, ties by path."""
    return sorted(result.items(), key=lambda entry: (-entry[1], entry[0]))
