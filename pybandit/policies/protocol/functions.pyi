from collections.abc import Mapping
from typing import Any, ClassVar

from numpy import int64
from numpy.typing import NDArray

from pybandit._shared.types import Rng
from pybandit.policies.protocol.base import NativePolicy

class FunctionPolicy(NativePolicy):
    rules: ClassVar[Any]
    functions: ClassVar[Mapping[str, Any] | None]
    def __init__(self, n_arms: int, *, rng: Rng = None, **options: Any) -> None: ...
    def seed(self, rng: Any) -> None: ...
    def recommend(self) -> NDArray[int64]: ...
