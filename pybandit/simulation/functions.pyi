from collections.abc import Mapping
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from pybandit.simulation.base import Environment

class FunctionEnvironment(Environment):
    rules: ClassVar[Any]
    functions: ClassVar[Mapping[str, Any] | None]
    def __init__(self, means: ArrayLike, noise_std: ArrayLike, **options: Any) -> None: ...
