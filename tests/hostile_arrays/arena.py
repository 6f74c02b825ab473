"""Arrays into which another process and another thread write odd numbers all the time."""

import mmap
import os
import threading
import time

import numpy as np

WORDS = 1 << 13
# words of 64 bits: indices and sizes out of range, pairs of such int32, and odd floats
ODD = np.array([2**31 - 1, -1, 2**62, -2**63, 2**63 - 1, 0x7FFFFFFF7FFFFFFF, 10**9, 3,
                *np.array([np.nan, np.inf, -np.inf, 1e308, -1e-310, -3.0]).view(np.int64)],
               dtype=np.int64)


class Lying(np.ndarray):
    """A subclass whose shape and size are not those of its memory."""

    @property
    def shape(self):
        return tuple(size + 1000 for size in super().shape)

    @property
    def size(self):
        return super().size + 1000


class Another:
    """An object whose `shape` is wrong and whose `__array__` returns shorter arrays later."""

    def __init__(self, values):
        self.values, self.calls = values, 0

    @property
    def shape(self):
        return tuple(size + 1000 for size in self.values.shape)

    @property
    def ndim(self):
        return self.values.ndim

    def __len__(self):
        return len(self.values) + 1000

    def __getitem__(self, key):
        return self.values[key]

    def __array__(self, dtype=None, copy=None):
        self.calls += 1
        return self.values if self.calls < 2 else self.values[:1]


class Interface:
    """Passes the memory of an array by the array interface, as other libraries do."""

    def __init__(self, values):
        self.values = values
        self.__array_interface__ = values.__array_interface__


def read_only(values):
    view = values.view()
    view.flags.writeable = False
    return view


# objects over the memory of an array that a user may pass
FORMS = [lambda values: values, read_only, lambda values: np.asfortranarray(values),
         lambda values: values.view(Lying), Another, Interface,
         lambda values: memoryview(values) if values.ndim else values,
         lambda values: values[..., ::-1]]


class Arena:
    """Memory shared by two processes, for the arrays of callers.

    `start` forks a process and starts a thread that write odd numbers into it.
    """

    def __init__(self):
        memory = mmap.mmap(-1, 2 * 8 * WORDS)
        self.live, self.good = np.frombuffer(memory, dtype=np.int64).reshape(2, WORDS)
        self.at, self.form, self.as_int32 = 0, 0, False

    def begin(self, i):
        """Use the memory again, in another form."""
        self.at, self.form, self.as_int32 = 0, i % len(FORMS), i // len(FORMS) % 2 == 1

    def place(self, values):
        """Return `values`, numbers, as an array in this memory, in the form of this round."""
        values = np.asarray(values)
        is_whole = values.dtype.kind in "iub"
        kind = (np.int32 if self.as_int32 else np.int64) if is_whole else np.float64
        n = -(-values.size * np.dtype(kind).itemsize // 8)
        if self.at + n > WORDS:
            return values
        place = slice(self.at, self.at + n)
        self.at += n
        for memory in (self.good, self.live):
            memory[place].view(kind)[:values.size] = values.ravel()
        return FORMS[self.form](self.live[place].view(kind)[:values.size].reshape(values.shape))

    def __call__(self, values):
        """Place arrays and lists of numbers, rows of unequal lengths too; leave anything else."""
        if not isinstance(values, (list, tuple, np.ndarray)) or not len(values):
            return values
        try:
            numbers = np.array(values)
        except ValueError:
            return [self(part) for part in values]
        return self.place(numbers) if numbers.dtype.kind in "iubf" else values

    def start(self):
        """Let another process, and a thread of this one, write from now on."""
        parent = os.getpid()
        if os.fork() == 0:
            try:
                self._write(lambda: os.getppid() == parent)
            finally:
                os._exit(0)
        threading.Thread(target=self._write, args=(lambda: True,), daemon=True).start()

    def _write(self, goes_on):
        rng = np.random.default_rng(os.getpid())
        while goes_on():
            self.live[:] = self.good
            for odd in rng.permutation(ODD)[:4]:
                time.sleep(rng.random() * 2e-4)
                if rng.random() < 0.5:
                    self.live[rng.integers(WORDS, size=WORDS // 4)] = odd
                else:
                    self.live[rng.integers(64)::rng.integers(1, 9)] = odd
                if rng.random() < 0.5:
                    self.live[:] = self.good

