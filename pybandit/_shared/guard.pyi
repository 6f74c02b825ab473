from types import TracebackType
from typing import Self

from pybandit._shared.errors import ProtocolError

class Guard:
    def __new__(cls, owner: type, doing: str | None = None) -> Self: ...
    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None: ...

def not_made(owner: type) -> ProtocolError: ...
def made_already(owner: type) -> ProtocolError: ...
