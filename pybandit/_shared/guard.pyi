from types import TracebackType
from typing import Self

class Guard:
    def __new__(cls, owner: type) -> Self: ...
    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...
