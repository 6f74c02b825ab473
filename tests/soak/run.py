"""Run the library for a long time, in this process and in two servers of studies::

    python tests/soak/run.py --seconds 3600 --share 0.5

The program measures memory, descriptors, threads and objects of each process, and the processor
time of each job relative to a reference job. It fits a line to each series and fails if one grows.
Every round must give the results of the first one.
"""

import argparse
import contextlib
import gc
import json
import os
import pathlib
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent.parent)]

from soak import load, verdict, work  # noqa: E402

PAGE, TICK = os.sysconf("SC_PAGE_SIZE") / 2**20, os.sysconf("SC_CLK_TCK")
FEWEST = 10  # minimum number of measurements for a line


class Process:
    """Resources of a process, read from /proc."""

    def __init__(self, name, pid):
        self.name, self.folder = name, pathlib.Path(f"/proc/{pid}")

    def seen(self):
        memory = int((self.folder / "statm").read_text().split()[1]) * PAGE
        with os.scandir(self.folder / "fd") as found:
            descriptors = sum(1 for _ in found)
        with os.scandir(self.folder / "task") as found:
            threads = sum(1 for _ in found)
        return {f"{self.name} memory": memory, f"{self.name} descriptors": descriptors,
                f"{self.name} threads": threads}

    def seconds(self):
        """Return the processor time in seconds."""
        fields = (self.folder / "stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK


class Costs:
    """Processor time by job since the last measurement."""

    def __init__(self, servers):
        self.servers, self.spent, self.done = servers, {}, {}
        self.before = {one.name: process.seconds() for one, process in servers}

    def add(self, name, seconds, n=1):
        self.spent[name] = self.spent.get(name, 0.0) + seconds
        self.done[name] = self.done.get(name, 0) + n

    def taken(self):
        """Return the mean time of each job, in units of the reference job."""
        for one, process in self.servers:
            now = process.seconds()
            # half a tick, so that it is not 0 in very short runs
            self.add(one.name, now - self.before[one.name] + 0.5 / TICK, 0)
            self.before[one.name] = now
        each = {name: self.spent[name] / max(self.done[name], 1) for name in self.spent}
        unit = each.pop("reference")
        self.spent, self.done = {}, {}
        return {f"{name} cost": seconds / unit for name, seconds in each.items()}


class Soak:
    """Rounds of all jobs; the first one determines the expected results."""

    def __init__(self, jobs, servers):
        self.jobs, self.expected = {**jobs, "reference": work.reference}, {}
        self.servers = [(one, Process(one.name, one.server.process.pid)) for one in servers]
        self.costs, self.own = Costs(self.servers), Process("main", os.getpid())
        self.n_rounds = 0

    def round(self):
        for name, job in self.jobs.items():
            began = time.process_time()
            found = repr(job())
            self.costs.add(name, time.process_time() - began)
            assert self.expected.setdefault(name, found) == found, name
        for one, _ in self.servers:
            began = time.process_time()
            n = one.round()
            self.costs.add(f"clients of {one.name}", time.process_time() - began, n)
            self.costs.add(one.name, 0.0, n)
        self.n_rounds += 1

    def seconds(self):
        return time.process_time() + sum(process.seconds() for _, process in self.servers)

    def row(self, began):
        gc.collect()
        row = {"time": time.monotonic() - began, **self.own.seen(),
               "main objects": len(gc.get_objects())}
        for _, process in self.servers:
            row |= process.seen()
        return row | self.costs.taken()

    def run(self, seconds, looks, share, out=None):
        """Return one row per measurement, `looks` in all, or fewer if rounds are long.

        The work takes at most the fraction `share` of one processor.
        """
        began, spent, rows = time.monotonic(), self.seconds(), []
        while len(rows) < FEWEST or rows[-1]["time"] < seconds * (1 - 0.5 / looks):
            until = (rows[-1]["time"] if rows else 0.0) + seconds / looks
            begun = self.n_rounds
            while time.monotonic() - began < until or self.n_rounds == begun:
                self.round()
                ahead = (self.seconds() - spent) / share - (time.monotonic() - began)
                time.sleep(min(max(ahead, 0.0), 2.0))
            rows.append(self.row(began))
            if out:
                out.write(json.dumps(rows[-1]) + "\n")
                out.flush()
        return rows


@contextlib.contextmanager
def servers_of(wanted):
    """Start servers of studies, and stop them by a signal as an operator does."""
    with tempfile.TemporaryDirectory() as folder:
        servers = [make(pathlib.Path(folder)) for make in wanted]
        try:
            yield servers
        finally:
            statuses = [one.server.stop() for one in servers]
        assert not any(statuses), statuses


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=3600)
    parser.add_argument("--share", type=float, default=0.5, help="fraction of a processor")
    parser.add_argument("--looks", type=int, default=60)
    parser.add_argument("--jobs", default=",".join(work.JOBS))
    parser.add_argument("--no-servers", action="store_true")
    parser.add_argument("--rows", help="file for the measurements, as JSON lines")
    options = parser.parse_args()
    every = work.JOBS | {"leaking": work.leaking}
    jobs = {name: every[name] for name in options.jobs.split(",")}
    wanted = [] if options.no_servers else [load.ReadServer, load.RecordServer]
    with contextlib.ExitStack() as stack:
        out = stack.enter_context(open(options.rows, "w")) if options.rows else None
        soak = Soak(jobs, stack.enter_context(servers_of(wanted)))
        rows = soak.run(options.seconds, options.looks, options.share, out)
    found = verdict.trends(rows)
    print(f"{soak.n_rounds:,} rounds in {rows[-1]['time']:,.0f} s, {len(rows)} looks")
    print(*found, sep="\n")
    sys.exit(any(one.faulty for one in found))


if __name__ == "__main__":
    main()
