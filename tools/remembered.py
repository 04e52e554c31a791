"""Records which files passed a check, so that a check runs again only if a file that it read has changed.

A record contains the hash of all inputs of the result: the check's own words (command, options, version of the tool)
and the contents of the files that it read. It is written only when the file passes.
"""
import hashlib
import json
import pathlib


class Remembered:
    def __init__(self, folder, words):
        """folder: where the records are stored; words: inputs that every result of this check depends on."""
        self.folder = pathlib.Path(folder)
        self.words = words
        self.contents = {}
        self.folder.mkdir(parents=True, exist_ok=True)

    def passed(self, name, words):
        """Returns whether the file passed with these words, and every file that was read then is unchanged."""
        try:
            record = json.loads(self.record(name).read_text())
            return record["hash"] == self.hash(words, record["read"])
        except (OSError, ValueError, KeyError, TypeError):
            return False

    def remember(self, name, words, read):
        """Records that the file has passed. read: the files that the result depends on, including the file itself."""
        read = sorted({str(path) for path in read})
        self.record(name).write_text(json.dumps({"hash": self.hash(words, read), "read": read}))

    def record(self, name):
        return self.folder / (str(name).replace("/", "@") + ".json")

    def hash(self, words, read):
        hashed = hashlib.sha256(json.dumps([self.words, words, read]).encode())
        for path in read:
            if path not in self.contents:
                self.contents[path] = hashlib.sha256(pathlib.Path(path).read_bytes()).digest()
            hashed.update(self.contents[path])
        return hashed.hexdigest()


def files_of_rule(rule):
    """Returns the prerequisites of a rule that a compiler wrote for make."""
    return rule.replace("\\\n", " ").split(":", 1)[1].split()
