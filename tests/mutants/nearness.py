"""Which tests are likely to run a module: by what they import and name, and by what imports the module.

So lines are found without recording all tests.  A test is near to a module that its file imports, to that of an element
type that it names, and to one that is called like a word of it; and, by a half each, to what these import.
"""

from __future__ import annotations

import inspect
import re
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from .operators import Place

__all__ = ["Nearness"]

_PACKAGE = "fem_mbs"
_MODULE = re.compile(rf"{_PACKAGE}(?:\.\w+)+")
_WORD = re.compile(r"\w+")
_FAR = 4  # imports between a test and a module
#: How near a test is by the element types that it names, the imports of its file, the words of its name and its source,
#: and the functions of the module that it calls.
_TYPE, _IMPORT, _WORDS, _CALL = 1.0, 0.5, 0.4, 1.0

_COST = 4.0  # of a second of a test: kernels that run as Python functions take some 50 times as long


class Nearness:
    """Orders tests by how likely they run the lines of a place.

    Args:
        root: of the checkout; folders: with modules of the package.
        items: the tests by name; seconds: what long ones take.
    """

    def __init__(
        self, root: Path, folders: Collection[str], items: Mapping[str, Any], seconds: Mapping[str, float]
    ) -> None:
        from fem_mbs.elements.registry import element_type, element_types  # after the lines of imports are recorded

        self.seconds = seconds
        self.files: dict[str, str] = {}  # by the names of modules
        for folder in folders:
            for path in sorted((root / folder).rglob("*.py")):
                file = path.relative_to(root)
                name = ".".join(file.with_suffix("").parts).removesuffix(".__init__")
                self.files[name if name.startswith(_PACKAGE) else f"{_PACKAGE}.{name}"] = str(file)
        self.users: dict[str, set[str]] = defaultdict(set)  # files that import a file
        for file in self.files.values():
            for used in self._imported((root / file).read_text("utf-8")):
                self.users[used].add(file)
        self.words: dict[str, set[str]] = {}
        sources: dict[str, set[str]] = {}
        for name, item in items.items():
            function = name.partition("[")[0]
            if function not in sources:
                sources[function] = self._words(item)
            self.words[name] = sources[function] | set(_WORD.findall(name))
        self.near: dict[str, dict[str, float]] = defaultdict(dict)  # tests by files
        types = {name: self.files[element_type(name).force.__module__] for name in element_types()}
        stems = defaultdict(set)
        for file in self.files.values():
            stems[Path(file).stem].add(file)
        imports: dict[Path, set[str]] = {}
        for name, item in items.items():
            if item.path not in imports:
                imports[item.path] = self._imported(item.path.read_text("utf-8"))
            found = dict.fromkeys(imports[item.path], _IMPORT)
            for word in self.words[name]:
                for file in stems.get(word.removesuffix("_step"), ()):
                    found[file] = found.get(file, 0.0) + _WORDS
                if word in types:
                    found[types[word]] = found.get(types[word], 0.0) + _TYPE
            for file, value in found.items():
                self.near[file][name] = value

    def _imported(self, text: str) -> set[str]:
        """Return the files of all modules that a text names."""
        found = set()
        for name in _MODULE.findall(text):
            while name not in self.files and "." in name:
                name = name.rpartition(".")[0]
            if name in self.files and name != _PACKAGE:
                found.add(self.files[name])
        return found

    @staticmethod
    def _words(item: Any) -> set[str]:
        """Return the words of the source of a test and of the name of its file."""
        words = set(item.path.stem.split("_"))
        try:
            return words | set(_WORD.findall(inspect.getsource(item.obj)))
        except (AttributeError, OSError, TypeError):
            return words

    def tests(self, place: Place) -> list[str]:
        """Return tests, near and cheap ones first, not many of one function, file or case in a row."""
        distances, last = {place.file: 0}, {place.file}
        for distance in range(1, _FAR):
            last = {user for file in last for user in self.users[file]} - set(distances)
            distances |= dict.fromkeys(last, distance)
        score: dict[str, float] = {}
        for file, distance in distances.items():
            for test, value in self.near[file].items():
                score[test] = max(score.get(test, 0.0), value * 0.5**distance)
        called = place.function.rpartition(".")[2].strip("_")
        for test in score:
            if len(called) > 3 and called in self.words[test]:
                score[test] += _CALL
            score[test] /= 1.0 + _COST * self.seconds.get(test, 0.0)
        ranks = {}
        taken: Counter[str] = Counter()
        for test in sorted(score, key=lambda test: -score[test]):
            (function, _, case), file = test.partition("["), test.partition("::")[0]
            case = f"{file} {case}"
            taken.update((function, file, case))
            ranks[test] = score[test] / (taken[function] * (taken[file] * taken[case]) ** 0.5)
        return sorted(ranks, key=lambda test: -ranks[test])
