"""The reference of the model file, docs/model-file.md, written from the schema.

python -m fem_mbs.modelfile.reference > docs/model-file.md
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from fem_mbs.analysis.options import REQUIRED, STEP_OPTIONS
from fem_mbs.analysis.transient.rules import DEFAULTS, RULES
from fem_mbs.declarations.declaration import Declaration
from fem_mbs.declarations.kinds import Kind, shown
from fem_mbs.functions.expressions import FUNCTIONS
from fem_mbs.functions.kinds import FUNCTION_KINDS
from fem_mbs.model.checks import QUANTITIES
from fem_mbs.model.sensors import sensor_kinds
from fem_mbs.modelfile.schema import TABLES, Document, Table
from fem_mbs.properties.sections import SECTION_SHAPES

__all__ = ["reference"]

_HEAD = """\
# The model file

A model file is [TOML](https://toml.io). It stands for calls of the builder `fem_mbs.Model`, table by table in the
order of this page, and gives bit-equal results. `fem-mbs check FILE` reads one and explains what it means; `fem-mbs
new MESH` writes one to start from; the examples have two with comments.

Keys before the first table belong to the whole model. A table `[material.steel]` is a thing called "steel"; tables in
double brackets, `[[joint]]`, can be repeated. An unknown table or key, a value of the wrong type or one that is not
finite ends in one line that names file, table and key, and exit code 2. Editors complete keys by
[model.schema.json](model.schema.json): begin the file with `#:schema PATH/model.schema.json`. Numbers
are in one consistent set of units; the units here are SI.

**Places.** What another table calls a *place* is the name of a `[[body]]` or `[[node]]`, a set of nodes of a mesh
(`"rod:left"` for the set `left` of `[mesh.rod]`; a line set stands for its nodes), a whole mesh (`"rod"`), or
`"ground"`. Where one node is needed, the set must hold one. Points are given in global coordinates of the start and
travel with their body.

**Functions of time** can be given as a number, as the name of a `[function.NAME]`, as an expression of `t`
(`"0.1*sin(20*t)"`) or as a table with its kind (`{kind = "ramp", duration = 0.1}`), in place or by name.
"""

_EXPRESSIONS = f"""\
Expressions know `+ - * / **`, comparisons, `and or not`, `a if c else b`, the constants `pi` and `e`, and the functions
{", ".join(f"`{name}`" for name in FUNCTIONS)}.
Angles are in radians, as everywhere but where a key says [deg] or [degrees] (`rotate`, `angles` of an arc, `phases` of
a harmonic step); `step(x)` is 1 from x = 0 on, 0 before. Their derivatives, which drives need, are exact.
"""

_FUNCTION_TEXTS = {
    "constant": "value",
    "constant_speed": "offset + rate t",
    "step": "start_value (0) before `start` (0), end_value (1) from then on",
    "ramp": "linear from start_value (0) to end_value (1) within `duration` after `start` (0)",
    "smoothstep": "the same on a cycloid: velocity and acceleration are continuous",
    "hat": "0, up to `value` (1) at `peak` (the middle), and 0 again `duration` after `start` (0)",
    "harmonic": "offset + amplitude sin(omega t + phase); omega [rad/s] or frequency [1/s], phase [rad]",
    "spin_up": "angle of a shaft that reaches the speed `rate` within `duration` (Simo & Vu-Quoc 1986)",
    "start_up": "angle of a motor: second derivative acceleration (1 + cos(pi t/duration)), then constant speed "
    "(Russell & Willmert 1991)",
    "table": 'linear between `times` and `values`; extrapolate = "hold", "linear" or "error"; or periodic = true',
    "spline": 'cubic spline through them; ends = "natural", "clamped", "periodic" or "not-a-knot"',
    "csv": "table or spline from a CSV file (relative to the model file); columns by number from 1 or by name",
    "expression": "an expression of t; `kinks`: times at which it has corners that cannot be seen in it",
    "sum": "sum of a list of functions",
    "product": "product of a list of functions",
    "scaled": "factor (1) times a function, later by `delay` (0)",
}

_SENSOR_TEXTS = {
    "modal": "coordinates of a reduced part [m]: of one shape (`mode`, 1 is the lowest), or of all",
    "position": "of a node, or of a point of a body [m]",
    "displacement": "since the start [m]",
    "velocity": "[m/s]",
    "rotation": "since the start: angle, in space rotation vector [rad]",
    "distance": "between two places [m]",
    "deflection": "distance of a point from the chord between a and b, in the plane positive to its left [m]; "
    "relative = true: over the length of the chord at the start",
    "angle": "by which b has turned more than a [rad]",
    "element": "an output of one element of a group, by name: of plane beams `N`, `Q`, `M_p`, `M_q`, `N_p`, `N_q`, "
    "`Q_p`, `Q_q` (_p at the start, _q at the end, N, Q their means), `strain`; of beams in space `N`, `Vy`, `Vz`, "
    "`T`, `My 1`, `My 2`, `Mz 1`, `Mz 2`, `N 1` ..., `strain`, `twist` (N pulls, M = EI theta', theory, "
    "section 4); of a spring, motor or bushing: `force` or `moment`, of a bushing `force x`, `displacement x` "
    "..., of a bearing `force u`, `force v` (along its two directions), `displacement u`, `displacement v`, "
    "`speed`",
    "strain": "axial strain of one element",
    "force": "axial force of one element [N]",
    "reaction": "force and moment [N], [N m] in global axes that supports or motions of a place exert on the model, or "
    "what a joint, gear, coupling, tie or equation exerts (below)",
    "joint": 'of the joint called so: a coordinate since the start, "angle" or "angle_b" [rad], "displacement" [m] '
    '(the first, if there is no quantity), or what drives it, "drive moment" [N m], "drive force" [N]',
    "drive": "what the motion or driven joint called so does on its coordinate [N], [N m]: positive where it does "
    "positive work as the coordinate grows",
    "work": "what the load, motor, driven joint or motion called so has given to the model since the start of the "
    "step; a damper's is negative, an ideal joint's zero [J]",
    "energy": '"total", "kinetic", "strain", "potential", "dissipated", "load work", "driver work" or "closing error" '
    "[J]; works and losses since the start of the step",
}

_OUTPUTS = (
    ("of", "output", "positive where"),
    (
        "beams", "`N`, `T`; plane `Q`, space `Vy`, `Vz`",
        "what the part beyond a section exerts on the part before it pulls along the beam, twists by the right hand "
        "about it, pushes along y, z of the section (plane: to the left of the beam's direction)",
    ),
    ("plane beams", "`M_p`, `M_q`", "that bends counter-clockwise; at the first and the last node of the element"),
    (
        "spatial beams", "`My 1`, `My 2`, `Mz 1`, `Mz 2`",
        "the same about y and z of the section by the right hand; 1 at the first, 2 at the last node of the element",
    ),
    ("beams, trusses", "`strain`, `twist`", "the line is longer; the last section is turned about the axis"),
    ("trusses", "`N`", "it pulls at its ends; a damper's share is in it, as in the section forces of beams"),
    (
        "springs, on joints too", "`force`, `moment`; `length`, `displacement`, `angle`",
        "it pulls its ends together, or against the growth of its coordinate",
    ),
    ("motors, users' forces", "`force`, `moment`", "it works towards the growth of its coordinate or distance"),
    ("nodal springs", "`force`, `elongation`", "it pulls `on` back against the component"),
    ("bushings", "`force x` ..., `moment x` ...", "its displacement or angle is positive (b against a, in its axes)"),
    ("bearings", "`force u`, `force v`", "its first part is displaced along its first or second direction"),
    ("friction", "`force`, `moment`", "it works against the growth of the coordinate"),
)  # fmt: skip

_REACTIONS = (
    ("of", "what it exerts on", "moments about"),
    ("supports and motions of a place (`x` ... `mz`)", "the model", "each node, summed up"),
    (
        "joint, with its own driver, without motors, springs and friction",
        "its part a (`slider`, `position`: their only part)", "the point of the joint in that part",
    ),
    ("joint `along_beam`", "the beam", "the point on the beam"),
    ("coupling", "its reference", "the reference"),
    ("tie", "the tied nodes", "the origin"),
    ("equation", "all its nodes", "the origin"),
)  # fmt: skip

_REACTION_COLUMNS = """\
**Reactions** have the columns `force x`, `force y`, `force z`, `moment x`, `moment y`, `moment z`, in the plane
`force x`, `force y`, `moment`, in global axes:
"""

_REACTION_NOTES = """\
A `distance` joint also has its `tension`, positive where it pulls; a screw `thread moment` and `thread force`, on its
angle and its displacement. A gear, rack or rope has `force a` and `force b`, [N] or [N m] on the coordinates of its two
joints. They are positive where they do work as the coordinate grows. The columns `a force x` ... `a moment z` are the
force and the moment on part a of its joint a, about the point of that joint; `b force x` ... `b moment z` are those on
part a of its joint b.

**Joint coordinates** are zero at the start and count what part b does against part a: angles about the axis by the
right hand, any number of turns, displacements along it, with the axis as part a carries it. `angle_b` of a universal
joint is the turn about the axis of part b.
"""

_MIDDLES = """\
Forces, strains and reactions of a transient belong to the middle of time steps; tables and figures have the means of
two consecutive ones, at the times between. With the rules of Newmark's family they belong to the end of steps; of
undamped ones reactions and drives are combinations of four steps, since those of single steps alternate.

**Outputs of elements** (`element`):
"""

_STEP_TEXTS = {
    "duration": "[s]",
    "static.duration": "that passes over the increments [s]: all that `vary` does not name follows its function of "
    "time (loads act in full), and the next step goes on from its end; 0: none",
    "static.vary": '"all" loads (and gravity, under that name), or a list of loads, motions and equations, which the '
    "load factor multiplies; loads that no step has varied do not act yet; with a duration none, if not given",
    "linear_static.duration": "that passes [s]: functions are taken at its end, where the next step begins; 0: none",
    "h": "time step [s]; the duration is a whole number of them",
    "rule": "; ".join(f'"{name}" ({rule.text})' for name, rule in RULES.items()),
    "dynamic": "false: quasi-static, an equilibrium at every time without inertia",
    "frames": "states kept for pictures and ParaView, evenly spread; 0: none",
    "restarts": "points from which `fem-mbs run --restart` can continue, evenly spread",
    "adaptive": "largest local error of a step: displacements over the model's length, rotations in radians; h is then "
    "the first step, and the interval of the results; 0: all steps are h",
    "increments": "of load or displacement control, cut where Newton-Raphson does not converge; of arc length: so many "
    "steps at least to reach `until`",
    "ramp": "false: the loads act at once",
    "until": "load factor at the end",
    "control": '"load", "displacement" or "arc" (arc length)',
    "on": "place of the displacement that is controlled, or that ends the path",
    "component": '"x", "y" or "z" of it',
    "displacement": "its value at the end [m]",
    "size": "first arc length: displacements over the model's size and rotations, root of the sum of squares; 0: 1/50",
    "largest": "arc length; 0: ten times the first",
    "spherical": "weight of the load factor in the arc length; 0: cylindrical",
    "points": "of a path, at most",
    "stability": "count negative eigenvalues in every point, find limit points, bifurcations and jumps",
    "tolerance": "of the load factor of critical points, relative",
    "branch": "number of the bifurcation or jump from which the path follows the other branch; 0: none",
    "branch_size": "first step onto the branch, as `size`; negative: to the other side",
    "line_search": "in every iteration; else only after a failure",
    "count": "of modes, or of load factors",
    "loads": '"all", or a list of loads (and "gravity"): they act in addition to what the state carries, and of '
    "buckling grow until the model buckles",
    "near": "frequency that the modes are to be nearest to [Hz], else the lowest",
    "band": "[low, high] [Hz]: all modes between them, proved to be all, whatever `count` says",
    "component_cutoff": "by synthesis of the `[[component]]`s, whose elastic modes up to this frequency [Hz] are kept "
    "(where they say nothing else); about the start, without loads; none: of the whole model",
    "within": "[low, high] [Hz]: of the modes found only those between them are kept; `left_out` of the summary counts "
    "the others",
    "check": 'of modes: "probe" (look from another start for what was missed), "inertia" (count them by a '
    'factorisation) or "none"; of buckling: true counts the factors',
    "eigenvalues": "complex modes along it, a table {every = 10, count = 5}: every so many steps, increments or points "
    "that many modes; also `near`, `which`, `reach`, `check` as of `complex_modes`",
    "inputs": 'names of loads (and "gravity"), motions, driven joints and motors that drive a state-space model',
    "sensors": "names of the sensors that are its outputs, with ' or '' for their derivatives by time",
    "form": '"state space": dense, of minimal coordinates; "descriptor": sparse, with constraints',
    "preload": "name of a linear static step before, about whose displaced place the step is linear, with its stresses "
    "and loads, which stay constant",
    "report": '"total" (sensors, frames and prints are those of the state and the step together) or "increment" (what '
    "the step adds to the state alone)",
    "start": "name of a linear static step or linear transient before, from whose end it goes on: displacements, of a "
    "transient velocities too; after a static step it is at rest but for given velocities and what is driven",
    "complex_modes.count": "of modes; a conjugate pair is one, rigid-body motions come in addition",
    "complex_modes.near": "frequency that they are to be nearest to [Hz], 0: the lowest; or [real, imaginary], the "
    "eigenvalue p of exp(p t) [1/s]",
    "complex_modes.check": '"probe" (look from another start for copies of multiple eigenvalues) or "none"',
    "coriolis": "at rest in the frame of a centrifugal load: with its Coriolis forces",
    "basis": "name of a modal step before, whose shapes alone span the motions (as CalculiX does); none: all motions",
    "stability_map.parameters": 'one or two tables: `values` (rising), and `load` (a name, a list or "all": factors), '
    "`rotor` (speeds [rad/s]), or `element` and `number` (a number of elements as their type calls it: stiffness, "
    "damping, mass_damping, coefficient ...; with `factor = true` values multiply it); `name` for figures",
    "stability_map.count": "of modes at every point; the right-most of them counts",
    "stability_map.near": "frequency that they are to be nearest to [Hz], 0: the lowest; or [real, imaginary] [1/s]",
    "stability_map.check": '"none", or "probe" (look for copies of multiple eigenvalues)',
    "refine": "so many times intervals in which stability is lost are halved: `boundary` of the summary",
    "what": '"growth" or "frequency": what figures show',
    "which": '"nearest", or "rightmost": the largest real parts',
    "reach": 'frequency up to which those of `which = "rightmost"` are sought [Hz], else those of the 2 count + 10 '
    "lowest",
    "shift": "where the matrices are factored [1/s], or [real, imaginary]; else near `near`",
    "speed": "of the rotor [rad/s], else the one that it has in the state",
    "frame": 'in which small motions are seen, "fixed" or "rotating": their coefficients must be constant there; '
    '"auto" takes the first for which they are',
    "sign": '"both", "positive" or "negative" factors',
    "time": "at which functions are taken, of a transient: at which it starts [s], else the present time",
    "rotor": "name of the rotor that turns",
    "speeds": "[rad/s]: an increasing list, or {start, end, n}, n equal intervals",
    "campbell.count": "of modes to follow, the lowest that oscillate",
    "orders": "list of k, for critical speeds where a mode oscillates k times per turn; none: unbalance, [1] in the "
    "fixed frame and [0] in the rotating one",
    "unbalances": "list of {at, amount, phase}: a place, mass times distance from the axis [kg m], and angle [rad] "
    "about the axis, from y for an axis along x, z for y, x for z; all act together",
    "at": "places whose displacements are wanted; none: those of the unbalances",
    "frequencies": '[Hz]: a rising list, or {start, end, n, spacing}, n intervals, equal ("linear") or of equal ratio '
    '("log")',
    "harmonic.loads": '"all" (but gravity and centrifugal loads), or a list of loads, "gravity", motions, driven '
    "joints and base excitations",
    "amplitudes": "values that the functions of loads have as amplitudes, by their names (of gravity: a factor); "
    "of those it does not name the function's value at `time`",
    "phases": "table of phases by the names of loads [degrees]: amplitude cos(2 pi f t + phase); others have none",
    "method": '"direct" (a factorisation per frequency), "modal", or "auto": modal for large models without damping or '
    "where one of the keys of modes is given",
    "modes": "so many of the lowest, instead of `cutoff`",
    "cutoff": "all modes up to this frequency are taken, beyond it the static deflections of the loads [Hz]; none: "
    "twice the highest frequency",
    "harmonic.damping": "ratio of all modes, or a list of ratios, its last one for all further modes",
    "structural": "loss factor eta of the stiffness, K (1 + i eta)",
    "harmonic.frames": "shapes kept, evenly spread over the frequencies, in the size that they have; 0: none",
    "rtol": "largest residual over the largest element contribution of its kind, at most 1e-3",
    "ctol": "constraint error over the length of the model, at most 1e-6",
    "max_iterations": "of Newton-Raphson in a step",
    "newton": '"chord" (one tangent per step while it contracts well) or "full"',
    "predictor": '"none", "velocity", "increment" or "extrapolation"',
    "halvings": "how often a step that does not converge is halved",
    "solver": '"auto", "banded", "cholmod" or "superlu"',
    "beta": "of Newmark's rule, 1/12 to 1",
    "gamma": "of Newmark's rule, 1/2 to 1",
    "alpha": 'of `rule = "hht"`: -1/3 (most damping) to 0 (none: Newmark\'s average acceleration)',
    "linear_transient.alpha": 'of `rule = "hht"`: -1/3 (most damping) to 0 (none); half of the default of a transient, '
    f"{DEFAULTS['alpha']:g}, since eliminated constraints have no oscillating multipliers that it must damp",
    "rho_inf": 'of `rule = "generalised-alpha"`: spectral radius at infinite frequency, 0 (most damping) to 1',
    "decay": 'of `rule = "decaying"`: a in sigma = S [(1/2 + a) e_1 + (1/2 - a) e_0], 0 (the mid-point rule) to 1',
}


_STEP_NOTES = {
    "transient": """\
It starts where the step before has left the model: from the static equilibrium, if that was a static step, with
velocities made consistent at the first transient; with a centrifugal load of `spin = true`, in steady rotation. All
rules but "decaying" and "explicit" are of second order: a step that is half as long has a fourth of the error, whatever
the size of the rotations; of the mid-point rule it is about (angle per step)^2/12 of a motion, 1 % at 0.3 rad.
`fem-mbs check` notes what turns by more than 30 degrees in a step: stable, with exact energy, but coarse. A step in
which a node turns by more than 90 degrees is made in parts; the summary counts them, and where parts do not help, or
the rule is "explicit", the run ends with an error. `fem-mbs check` refuses explicit steps above their limit of
stability at the start, 2/w of the highest frequency w.

The energy ledger tells whether a run holds. "midpoint" and "decaying" close it to round-off: beyond 1e-6 of the energy
that is exchanged there is a warning, beyond 1e-3 the step has failed. The other rules keep the energy as far as their
steps resolve the motion: a warning beyond 5 %; beyond 50 % the step has failed, but for what "generalised-alpha", "hht"
and "newmark" with `gamma` above 1/2 lose, which is what they are for. The results of a failed step are complete, the
table marks it, `failures` of the summary says why, and the exit code is 1. A run that gains energy without bound, or
whose energies are not finite, stops with an error.""",
    "static": """\
Under load control every equilibrium must join the last one. The step compares their distance with the distance that
the tangents at both predict, and cuts the increment where it is larger. Where the jump remains, `snap_through` in the
summary gives the load factors before and after it. A model that is loose at the start, or that jumps, is moved down its
potential energy to the next stable equilibrium. `negative_eigenvalues` in the summary counts the negative eigenvalues
of the stiffness at the end of the step, for models of up to 5000 equations. If there are any, the equilibrium is
unstable, and a warning gives the load factor from which on. For loads without a potential (follower forces, moments
about fixed axes in space) this count decides nothing and is `null` unless it is 0. Such a model is called unstable only
where the determinant of its stiffness is negative; else a warning recommends a `complex_modes` step about the state.

Paths (`control = "arc"` or `"displacement"`, `stability`, `line_search`) refuse steps that leave the path. If a preload
or another load puts the model out of balance at the start, the path begins at the next equilibrium, and a warning says
so. A path that ends after `points` before it reaches `until` or `displacement` has failed, and so has a `branch` whose
bifurcation does not exist: the results are complete, the summary has `failures`, and the exit code is 1. Load control
that meets a limit point before `until` ends below it in the same way; its `critical_points` hold the limit point.

`critical_points` in the summary tells three kinds apart. The load factor turns at a "limit". Eigenvalues of the
stiffness pass zero at a "bifurcation". They change their sign without passing zero at a "jump", where the stiffness
jumps: a contact opens, a cable slackens, a law has a corner. A limit point may also lie where the stiffness jumps. A
warning tells each jump of the stiffness. A branch may begin at a jump, though it need not.""",
    "campbell": """\
At every speed the model is linearised about its steady rotation. Branches are followed by bi-orthogonal products of
left and right vectors; `critical_speeds` lists where they meet the lines of the orders, with what the direct search, an
eigenproblem in the speed, gives for them (`direct`).""",
    "inverse": """\
Motions and driven joints must leave nothing free but what deforms. Every driver gets a sensor "drive NAME"; the run
also writes `drives-<number>-<step>.csv`, time and forces at the ends of time steps, which functions of the kind `csv`
read (`interpolation = "spline"`), so that forces and moments of another model follow them.""",
    "linearise": """\
It writes `matrices_NAME.npz` beside the results: M, C, K and constraints G of small motions about what the steps before
have left, and with inputs or sensors `state_space_NAME.npz` (docs/results.md).""",
    "stability_map": """\
The steps before are made anew at every point of the grid, up to the state that they leave. Its summary has the largest
growth rate (real part) and the frequency of that mode at every point.""",
    "harmonic": """\
Small steady vibrations about what the steps before have left: with a static step before, or `preload`, under its loads
and with its geometric stiffness; the loads of the step shake in addition. `response-<number>-<step>.csv` has amplitudes
and phases [degrees] of all sensors but works and energies; `peaks` of the summary where they are largest.""",
    "complex_modes": """\
It stands about what the steps before have left: an equilibrium, an instant of a transient (its matrices are held as
they are then), or, with `rotor`, the state in which that turns steadily, which is found from there. Loads that no step
has brought in do not act.""",
}


def reference() -> str:
    """Return the text of docs/model-file.md."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield _HEAD
    yield "## Top level\n"
    yield from _keys(Document)
    for table in TABLES:
        yield f"## {_title(table)}\n"
        yield f"{table.text}\n"
        if not table.single:
            yield from _keys(table.declaration)
        yield from _EXTRA.get(table.name, _nothing)()


def _title(table: Table) -> str:
    if table.name == "initial":
        return "`[initial]` or `[[initial]]`"
    if table.name == "assembly":
        return "`[assembly]`"
    return f"`[{table.name}.NAME]`" if table.many == "named" else f"`[[{table.name}]]`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def _rows(*rows: tuple[str, ...]) -> Iterator[str]:
    head, *rest = rows
    yield f"| {' | '.join(head)} |"
    yield f"|{'---|' * len(head)}"
    for row in rest:
        yield f"| {' | '.join(_cell(c) for c in row)} |"
    yield ""


def _keys(declaration: type[Declaration]) -> Iterator[str]:
    rows = [("key", "value", "default", "meaning")]
    for name, (_, key) in declaration.in_file().items():
        needed = key.required and not key.shows
        rows.append((f"`{name}`", key.label, "**required**" if needed else key.default_text, key.text))
    yield from _rows(*rows)


def _nothing() -> Iterator[str]:
    yield from ()


def _function_kinds() -> Iterator[str]:
    yield _EXPRESSIONS
    rows = [("kind", "parameters", "f(t)")]
    rows += [(f"`{k}`", ", ".join(f"`{p}`" for p in keys), _FUNCTION_TEXTS[k]) for k, keys in FUNCTION_KINDS.items()]
    yield from _rows(*rows)


def _shapes() -> Iterator[str]:
    yield (
        'The keys that belong to each shape (a section must not have others; for beams in space all but "matrix" also\n'
        "take `centroid`, `shear_centre`, `mass_centre` and `rotate`):\n"
    )
    yield from _rows(
        ("shape", "keys"), *((f"`{k}`", ", ".join(f"`{p}`" for p in v)) for k, v in SECTION_SHAPES.items())
    )


def _inner_tables(table_name: str) -> Iterator[str]:
    for table in TABLES:
        if table.name == table_name:
            for name, (_, key) in table.declaration.in_file().items():
                if not isinstance(key.kind, Kind):
                    yield f"`{name} = {{...}}`:\n"
                    yield from _keys(key.kind)


def _sensors() -> Iterator[str]:
    yield "The keys that belong to each kind:\n"
    rows = [("kind", "keys", "what")]
    rows += [(f"`{k}`", ", ".join(f"`{p}`" for p in keys), _SENSOR_TEXTS[k]) for k, keys in sensor_kinds().items()]
    yield from _rows(*rows)
    yield _MIDDLES
    yield from _rows(*_OUTPUTS)
    yield _REACTION_COLUMNS
    yield from _rows(*_REACTIONS)
    yield _REACTION_NOTES


def _steps() -> Iterator[str]:
    for kind, options in STEP_OPTIONS.items():
        yield f'Options of `type = "{kind}"`:\n'
        rows = [("key", "default", "meaning")]
        for name, default in options.items():
            given = "none" if default is None else shown(default)
            needed = (name in REQUIRED and default is None) or (name == "rotor" and kind in ("campbell", "unbalance"))
            text = _STEP_TEXTS.get(f"{kind}.{name}", _STEP_TEXTS.get(name))
            rows.append((f"`{name}`", "**required**" if needed else given, text))
        yield from _rows(*rows)
        if kind in _STEP_NOTES:
            yield f"{_STEP_NOTES[kind]}\n"


def _checks() -> Iterator[str]:
    yield (
        f"Quantities: {', '.join(f'`{q}`' for q in QUANTITIES)}.\n"
        "`fem-mbs run` prints the outcome, writes it into summary.json (`checks`: case, sensor, quantity, measured,\n"
        "reference, tolerance, time, source, pass) and ends with exit code 1 if one fails; the results are complete\n"
        "all the same.\n"
    )


_EXTRA = {
    "function": _function_kinds,
    "section": _shapes,
    "mesh": lambda: _inner_tables("mesh"),
    "part": lambda: _inner_tables("part"),
    "sensor": _sensors,
    "step": _steps,
    "check": _checks,
}


if __name__ == "__main__":
    sys.stdout.write(reference())
