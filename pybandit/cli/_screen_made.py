"""What the options of `pybandit study` make: a file's dialect, the plates of a study."""

from pybandit.lab._read import COLUMNS
from pybandit.lab.plates import Layout, Plates, controls_of
from pybandit.tables._markers import MARKERS, markers_of
from pybandit.tables._sheet import Dialect


def dialect_of(arguments):
    """The `Dialect` of these options."""
    columns = {role: getattr(arguments, f"{role}_column") for role in COLUMNS}
    markers = MARKERS if arguments.lost else frozenset()
    if arguments.lost_markers is not None:
        markers = markers_of(arguments.lost_markers)
    return Dialect(arguments.decimal, arguments.thousands,
                   {role: name for role, name in columns.items() if name is not None},
                   arguments.sheet, arguments.measurement, markers,
                   arguments.take_limits, arguments.instrument).checked()


def plates_of(arguments, names):
    """The `Plates` of these options, for arms of these names."""
    layout = Layout.parse(arguments.plate)
    plates = Plates(
        layout, controls_of(arguments.controls, layout), arguments.control_label,
        arguments.normalise, arguments.log, arguments.flip,
        controls_of(arguments.positives, layout), arguments.positive_label, arguments.fill,
        arguments.fill_seed, arguments.free_edges)
    for wells, label, option in ((plates.controls, plates.label, "--control-label"),
                                 (plates.positives, plates.positive_label, "--positive-label")):
        if wells and label in names:
            raise ValueError(f"{option} must differ from the arms; got {label!r}")
    return plates
