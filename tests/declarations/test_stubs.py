"""Types and docstrings of the builder's calls: the stub is that of the declarations, and a type checker uses it."""

import inspect
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from fem_mbs import Model
from fem_mbs.declarations.declaration import Declaration, key
from fem_mbs.declarations.docstrings import documented, with_arguments
from fem_mbs.declarations.kinds import NUMBER
from fem_mbs.declarations.steps import step_kinds
from fem_mbs.model import made
from fem_mbs.model.parts.grids import GRIDS
from fem_mbs.model.sensors.kinds import sensor_kinds
from fem_mbs.model.stubs import stub_text

STUB = Path(made.__file__).with_suffix(".pyi")
DECLARATIONS: dict[str, type[Declaration]] = {
    **made.DECLARED,
    **{f"sensor {name}": kind for name, kind in sensor_kinds().items()},
    **{f"grid {name}": kind for name, kind in GRIDS.items()},
    **{f"{name} step": kind.Options for name, kind in step_kinds().items()},
}

USER = """\
import numpy as np

from fem_mbs import Model

model = Model()
model.spring("s", "a", 3, 100.0, point_a=[1.0, 2], point_b=np.zeros(3), stops=(0, 1))
model.mesh("m", line={"start": [0, 0, 0], "end": [1, 0, 0], "n": 4})
model.grid("g", "box", size=[1, 1, 1], n=[2, 2, 2])
model.force("f", "m:end", [0, 0, -1], function="sin(t)")
model.sensor("u", "displacement", on="m:end")
model.sensor("e", "energy", quantity="total")
model.joint("j", "revolute", "a", "b", axis=[0, 0, 1])
model.transient_step(1.0, 1e-3, rule="hht", alpha=-0.1, eigenvalues={"every": 5, "near": [0, 1]})
model.static_step(increments=4)
model.harmonic_step([1.0, 2.0])

model.transient_step(1.0, 1e-3, rul="hht")  # wrong: rul
model.transient_step(1.0, 1e-3, rule="trapezoidal")  # wrong: rule
model.transient_step("1 s", 1e-3)  # wrong: transient_step
model.transient_step(1.0)  # wrong: h
model.transient_step(1.0, 1e-3, frames="all")  # wrong: frames
model.transient_step(1.0, 1e-3, eigenvalues={"evry": 5})  # wrong: eigenvalues
model.transiant_step(1.0, 1e-3)  # wrong: transiant_step
model.spring("s", "a", "b", stifness=3.0)  # wrong: stifness
model.spring("s", "a", "b", point_a="here")  # wrong: point_a
model.mesh("m", line={"start": [0, 0, 0], "end": [1, 0, 0]})  # wrong: line
model.grid("g", "box", radius=1.0, n=[2, 2, 2])  # wrong: grid
model.sensor("u", "displacment", on="m:end")  # wrong: sensor
model.sensor("u", "displacement", of="m:end")  # wrong: sensor
model.sensor("u", "rotation")  # wrong: sensor
model.joint("j", "hinge", "a", "b")  # wrong: joint
"""

#: As much of numpy as the stub needs, so that the test does not wait for the types of all of it.
NUMPY = """\
from typing import Any, Generic, TypeVar
T = TypeVar("T", covariant=True)
class ndarray(Generic[T]): ...
class floating(Generic[T]): ...
class integer(Generic[T]): ...
def zeros(n: int) -> ndarray[Any]: ...
"""


def test_the_stub_is_that_of_the_declarations():
    assert STUB.read_text() == stub_text(), "python -m fem_mbs.model.stubs > fem_mbs/model/made.pyi"


@pytest.fixture(scope="module")
def found(tmp_path_factory):
    """Return what mypy says of the user's script: numbers of lines -> messages."""
    pytest.importorskip("mypy")
    folder = tmp_path_factory.mktemp("types")
    for package in ("fem_mbs", "fem_mbs/model", "numpy"):
        (folder / package).mkdir()
    shutil.copy(STUB, folder / "fem_mbs/model")
    (folder / "fem_mbs/model/__init__.pyi").touch()
    (folder / "fem_mbs/__init__.pyi").write_text(
        "from fem_mbs.model.made import MadeCalls\nclass Model(MadeCalls):\n    def __init__(self) -> None: ...\n"
    )
    for module, name in re.findall(r"^from (fem_mbs\.[\w.]+) import (\w+)$", STUB.read_text(), re.MULTILINE):
        path = folder.joinpath(*module.split(".")).with_suffix(".pyi")
        path.parent.mkdir(parents=True, exist_ok=True)
        for package in path.relative_to(folder).parents[:-1]:
            (folder / package / "__init__.pyi").touch()
        with path.open("a") as file:
            file.write(f"class {name}: ...\n")
    (folder / "numpy/__init__.pyi").write_text(NUMPY)
    (folder / "numpy/typing.pyi").write_text(
        "from typing import TypeVar\nfrom numpy import ndarray\nT = TypeVar('T')\nNDArray = ndarray[T]\n"
    )
    (folder / "user.py").write_text(USER)
    (folder / "mypy.ini").write_text("[mypy]\nignore_missing_imports = True\n")
    call = [sys.executable, "-m", "mypy", "--config-file", "mypy.ini", "user.py"]
    run = subprocess.run(call, cwd=folder, capture_output=True, text=True, env=os.environ | {"MYPYPATH": str(folder)})
    errors: dict[int, str] = {}
    for line in run.stdout.splitlines():
        place, _, message = line.partition(": error: ")
        if message:
            assert place.startswith("user.py:"), line
            number = int(place.split(":")[1])
            errors[number] = f"{errors.get(number, '')}{message}\n"
    return errors


def test_a_type_checker_accepts_what_is_right_and_finds_what_is_wrong(found):
    for number, line in enumerate(USER.splitlines(), 1):
        code, _, wrong = line.partition("  # wrong: ")
        assert bool(wrong) == (number in found), (code, found.get(number))
        if wrong:
            assert f'"{wrong}"' in found[number], (code, found[number])


@pytest.mark.parametrize("name", DECLARATIONS)
def test_every_argument_is_described(name):
    """Texts, with units where the key has one; the docstring describes no argument that there is not."""
    declaration = DECLARATIONS[name]
    for argument, said in declaration.keys().items():
        assert said.meaning, f"{name}: {argument} has no text"
    assert set(documented(declaration.__doc__)) <= set(declaration.keys())


@pytest.mark.parametrize("name", [*made.DECLARED, "sensor", "grid", *(f"{name}_step" for name in step_kinds())])
def test_calls_have_signatures_and_docstrings(name):
    call = getattr(Model, name)
    own = set(inspect.signature(call).parameters) - {"self"}
    text = inspect.getdoc(call)
    assert text
    assert not text.startswith("Args:")
    assert own - {"name", "shape"} <= set(documented(text)) or name in ("grid", "parameter"), name
    assert call.__name__ == name


def test_units_stand_in_docstrings():
    text = inspect.getdoc(Model.transient_step)
    assert "duration: of the step [s]" in text
    assert "[N m/rad]" in inspect.getdoc(Model.torsion_spring)


def test_texts_of_the_class_take_the_place_of_those_of_keys():
    keys = {
        "a": key(NUMBER, "first", 1.0, unit="m").metadata["key"],
        "b": key(NUMBER, "second").metadata["key"],
        "c": key(NUMBER, "third", 2.0).metadata["key"],
    }
    text = """Do it.

    Args:
        a: the first
            of all.
        b, c: shared.

    Raises:
        ValueError: no.
    """
    assert with_arguments(text, keys) == (
        "Do it.\n\nArgs:\n    a: the first of all. [m]\n    b: second; shared.\n    c: third (default 2.0); shared.\n\n"
        "Raises:\n    ValueError: no."
    )
    assert with_arguments("Do it.", {"b": keys["b"]}) == "Do it.\n\nArgs:\n    b: second"


def test_sensors_and_grids_have_one_signature():
    shown = inspect.signature(Model.sensor).parameters
    for kind in sensor_kinds().values():
        assert set(kind.keys()) <= set(shown)
    assert shown["on"].kind is inspect.Parameter.KEYWORD_ONLY
    assert {"size", "corners", "radii"} <= set(inspect.signature(Model.grid).parameters)
