#!/usr/bin/env python3
"""Makes the corpus of fuzz_naming_answer: answers about two locations, as src/frames/naming_answer.h describes them, and wrong ones.
Usage: corpus_naming_answer.py [FOLDER]"""

import pathlib
import struct
import sys

HERE = pathlib.Path(__file__).resolve().parent
NONE = 0xFFFFFFFF
TEXTS = ["", "known", "known_symbol", "known.c", "inner", "inner\tknown"]


def function(name=1, key=0, linkage=0, file=0, note=0, line=0, scope=0, is_static=0, role=0):
    return struct.pack("<7IBBxx", name, key, linkage, file, note, line, scope, is_static, role)


def frame(function=0, file=0, line=0, discriminator=0, inlined=0):
    return struct.pack("<5I", function, file, line, discriminator, inlined)


def answer(functions=(), frames=(), cause=NONE, detail=0, texts=TEXTS, counts=None):
    texts = [text.encode() + b"\0" for text in texts]
    counts = counts or (len(texts), len(functions), len(frames))
    return struct.pack("<5I", cause, detail, *counts) + b"".join((*texts, *functions, *frames))


FUNCTIONS = [function(1, linkage=2, file=3, line=7), function(4, key=3, note=5, file=3, line=9, is_static=1, role=2)]
FRAMES = [frame(1, 3, 10, 2, 1), frame(0, 3, 8), frame(1)]
ANSWERS = {
    "whole": answer(FUNCTIONS, FRAMES),
    "failure": answer(cause=1, detail=1, texts=TEXTS[:2]),
    "another-cause": answer(cause=2, texts=TEXTS[:2]),
    "another-detail": answer(cause=0, detail=2, texts=TEXTS[:2]),
    "another-string": answer([function(6)], [frame(), frame()]),
    "another-role": answer([function(role=4)], [frame(), frame()]),
    "another-function": answer(FUNCTIONS, [frame(2), frame()]),
    "one-location": answer(FUNCTIONS, [frame()]),
    "three-locations": answer(FUNCTIONS, [frame()] * 3),
    "inlined-only": answer(FUNCTIONS, [frame(), frame(), frame(inlined=1)]),
    "many-functions": answer(FUNCTIONS, FRAMES, counts=(6, NONE, 3)),
    "many-strings": answer(FUNCTIONS, FRAMES, counts=(NONE, 2, 3)),
    "unused-strings": answer(FUNCTIONS, FRAMES, texts=[*TEXTS, *"abcdefghijk"]),
    "long-text": answer(FUNCTIONS, FRAMES, texts=["", *TEXTS[1:5], "x" * 2000]),
    "behind": answer(FUNCTIONS, FRAMES) + b"\0",
    "empty": b"",
}

folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "corpus" / "naming_answer"
folder.mkdir(parents=True, exist_ok=True)
for name, data in ANSWERS.items():
    (folder / name).write_bytes(data)
