"""Run a race on calls of one item each, many at once.

One task decides: it asks the race for pairs of model and item, starts calls, stores answers and
reports them to the race. Each call is a task of its own that sends one answer. Calls that only
run in threads of our own need a task only if their first try fails.
"""

import collections
import functools
import math

import numpy as np

from pybandit._shared.optional import require
from pybandit._shared.progress import make_bar
from pybandit.evaluation._calls import Calls, FailedForGood, close_unawaited, finite
from pybandit.evaluation._run import _limit_of, _limits_of
from pybandit.evaluation._store import POLL
from pybandit.evaluation._tasks import task_group
from pybandit.evaluation._workers import SETTLE, NotStarted, soon

# Maximum number of rewards that wait for one slow call, as a multiple of `concurrency`. Beyond
# it nothing is read ahead: each call costs money, and the race may end before it is needed.
MOST_AHEAD = 4


class RaceDriver:
    """Runs the calls of one race and reports their scores."""

    def __init__(self, race, source, options, bar):
        self.race, self.source, self.options, self.bar = race, source, options, bar
        self.paid, self.limits = source.paid, _limits_of(race)
        self.calls = Calls(source.function, options, self.paid.parts, source.keys)
        self.anyio, self.running = self.calls.anyio, set()
        self.answers, self.event = [], self.anyio.Event()
        # calls without a task that have ended, with their futures; threads append to it
        self.ended, self.is_woken, self.wake = collections.deque(), False, None
        self.queue, self.n_since = [], math.inf
        self.failures = np.zeros(race.n_arms, dtype=np.int64)

    async def run(self):
        """Play the race to its end.

        Returns the number of calls that were running then, and the failures per model.
        """
        try:
            await self._with_calls()
        finally:
            try:
                self._keep(self._arrived(None))
            finally:
                self.calls.close()
                running = {**self.calls.futures, **self.calls.direct}
                self.paid.keep_running(running)
                for cell, future in running.items():
                    future.add_done_callback(functools.partial(self._late, cell))
        if not self.race.done:
            raise RuntimeError("the race stopped before its end: other code cancelled its calls")
        return len(self.running & self.calls.started), self.failures

    async def _with_calls(self):
        async with task_group(self.anyio) as group:
            self.calls.group = group
            await self._until_done(group)

    async def _until_done(self, group):
        direct = self.calls.need_no_task
        if direct:
            self.wake = soon(self._set_event)
        # wake up regularly: other processes may have paid for missing scores, and a thread may
        # have ended without an answer
        most = POLL if self.paid.shared else SETTLE if direct else None
        while True:
            self._begin(group)
            if self.race.done:
                return
            if self.paid.shared:
                self.paid.cells.beat()
            with self.anyio.move_on_after(most) as wait:
                await self.event.wait()
            if direct and wait.cancelled_caught:
                self.ended.extend(self.calls.settled())
            self.event = self.anyio.Event()
            self._take(self._arrived(group))

    def _arrived(self, group):
        """Return the answers that arrived since the last call.

        Calls that ended without a number are handed to tasks of `group`; without a group they stay
        among the running ones.
        """
        answers, self.answers = self.answers, []
        self.is_woken = False  # first: a thread that appends from now on wakes this task again
        while self.ended:
            cell, future = self.ended.popleft()
            if self.calls.direct.get(cell) is not future:  # `settled` returned it, too
                continue
            numbers = self.calls.quick(future)
            if numbers is not None:
                del self.calls.direct[cell]
                answers.append((cell, numbers))
            elif group is not None:
                # noted here, too: the task may be cancelled before it starts
                self.calls.futures[cell] = self.calls.direct.pop(cell)
                group.start_soon(self._call, cell, future)
        return answers

    def _set_event(self):
        self.event.set()

    def _end(self, cell, future):
        """Note in a thread that a call without a task has ended."""
        self.ended.append((cell, future))
        if not self.is_woken:
            self.is_woken = True
            self.wake(future)

    def _begin(self, group):
        """Start wanted calls up to `concurrency`; known scores are reported at once."""
        if self.race.done:  # later only `_plan` reports scores, and empties the queue if it ends
            return
        while len(self.running) < self.options.concurrency:
            if not self.queue or 4 * self.n_since >= self.options.concurrency:
                self._plan()
                if not self.queue:
                    return
            cell = self.queue.pop()
            self.running.add(cell)
            if self.wake is None:
                group.start_soon(self._call, cell)
                continue
            try:
                self.calls.start(cell, functools.partial(self._end, cell))
            except NotStarted as error:
                self.answers.append((cell, error.__cause__))
                self.event.set()

    def _plan(self):
        """Fill the queue with wanted cells that have no running call, the most urgent last."""
        n, before = 2 * self.options.concurrency, self.queue
        self.queue, self.n_since = [], 0
        while not self.race.done:
            reads_ahead = self.race._n_ahead() < MOST_AHEAD * self.options.concurrency
            arms, items = self.race.ask(n if reads_ahead else None)
            cells = [cell for cell in zip(arms.tolist(), items.tolist(), strict=True)
                     if cell not in self.running]
            known = {cell: numbers for cell in cells
                     if (numbers := self.paid.known(cell)) is not None}
            if known:
                self._tell(known)
                continue
            before = self._claimed(cells, before)
            # another process may have stored scores between the look-up and the claim
            if self.paid.shared and any(self.paid.known(cell) is not None
                                        for cell in set(cells).difference(before)):
                continue
            self.queue = before[::-1]
            # an empty queue: other processes are paying for all of these; look further ahead
            if (self.queue or not cells or not reads_ahead or arms.size < n
                    or n > 20 * self.options.concurrency):
                return
            n *= 2

    def _claimed(self, cells, before):
        """Return the cells that this process may pay for; claims of cells in `before` are kept."""
        if not self.paid.shared:
            return cells
        mine = self.paid.claim(cells, 2 * self.options.concurrency)
        dropped = [cell for cell in before if cell not in mine]
        if dropped:
            self.paid.release(dropped)
        return [cell for cell in cells if cell in mine]

    async def _call(self, cell, first=None):
        try:
            answer = await self.calls.result(*cell, first)
        except FailedForGood as error:
            answer = error.__cause__ if self.options.failed is None else self.options.failed
            self.failures[cell[0]] += 1
        except Exception as error:
            answer = error
        self.answers.append((cell, answer))
        if not self.event.is_set():
            self.event.set()

    def _take(self, answers):
        """Store answers, report them to the race, then raise the first exception among them."""
        known = self._keep(answers)
        for cell, _ in answers:
            self.running.discard(cell)
        self.n_since += len(answers)
        self._tell(known)
        for (model, item), answer in answers:
            if isinstance(answer, Exception):
                raise answer
            if (model, item) in known:
                continue
            self.source.check(np.array([[answer[0]]]), [item], [model], self.limits)
            name = self.calls.name(model, item)
            raise ValueError(f"{name} must return costs that are finite and at least 0; got "
                             f"{answer[1]}")

    def _keep(self, answers):
        """Store the answers that the race accepts, and return them."""
        known = {cell: answer for cell, answer in answers
                 if not isinstance(answer, Exception) and finite(answer, self.limits)}
        # by identity: an equal score of a call that did not fail is another object
        self.paid.keep(known, {cell for cell, answer in known.items()
                               if answer is self.options.failed})
        return known

    def _tell(self, known):
        if not known:
            return
        arms, items = np.array(list(known), dtype=np.int64).T
        self.race.tell(arms, items, *np.array(list(known.values())).T)
        self.bar.update(len(known))
        money = "" if self.race.cost is None else f", {self.race.cost:,.6g} spent"
        self.bar.set_postfix_str(f"{self.race.survivors.size} left{money}", refresh=False)

    def _late(self, cell, future):
        """Store the answer of a call that ended after the race."""
        try:
            if not future.cancelled() and future.exception() is None:
                self._keep([(cell, self.calls.numbers(*cell, future.result()))])
        except (TypeError, ValueError):  # not a number: ignored
            close_unawaited(future)
        finally:
            self.paid.ended(cell)


async def drive(race, source, options, progress):
    """Play a race to its end; return the number of calls still running, and failures per model."""
    with make_bar(progress, _limit_of(race), "scores", "best_of") as bar:
        return await RaceDriver(race, source, options, bar).run()


def drive_to_the_end(race, source, options, progress):
    """Do the same as `drive`, in a new event loop."""
    refuse_running_loop()
    return require("anyio", "async").run(drive, race, source, options, progress)


def refuse_running_loop():
    """Raise RuntimeError in a task of an event loop, which best_of would block."""
    anyio = require("anyio", "async")
    try:
        anyio.get_current_task()
    except RuntimeError:
        return
    raise RuntimeError("best_of cannot wait inside a running event loop, such as that of a "
                       "notebook: write await pb.best_of_async(...) instead")
