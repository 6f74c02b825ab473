"""One example per command, shown under its help; and shell completion."""

import argparse

from pybandit._shared.optional import require

EXAMPLES = {
    "demo": "pybandit demo --out demo.png",
    "best-of": "pybandit best-of scores.csv --value-range 0 1 --plot race.png",
    "verdict": "pybandit verdict new.jsonl old.jsonl --margin 0.02 --plot verdict.png",
    "shuffle": "pybandit shuffle scores.npy shuffled.parquet --seed 1",
    "config": "cc draw.c $(pybandit config --cflags --libs) -o draw",
    "doctor": "pybandit doctor > doctor.txt",
    "completion": "pybandit completion bash > ~/.local/share/bash-completion/completions/pybandit",
    "study": "pybandit study status study.db",
    "screen": "pybandit screen status study.db",
    "screen plan": "pybandit screen plan --n 500 --k 10 --plate 8x12 --noise 0.3",
    "screen new": "pybandit screen new study.db --policy auto --arms genes.csv --k 10 \\\n"
                  "      --batches 6 --plate 8x12 --noise 0.3",
    "screen next": "pybandit screen next study.db -o plate.csv",
    "screen record": "pybandit screen record study.db results.csv --batch 1",
    "screen amend": "pybandit screen amend study.db --plate 1 --well B03=0.41 --reason 'misread'",
    "webtest": "pybandit webtest status test.db",
    "webtest plan": "pybandit webtest plan --rates 0.04,0.05 --visits 2000",
    "webtest new": "pybandit webtest new test.db --arms old,new --delta 0.05",
    "webtest counts": "pybandit webtest counts test.db monday.csv --key monday",
    "webtest amend": "pybandit webtest amend test.db --key monday --counts new=1010,39 \\\n"
                     "      --reason 'a robot'",
    "webtest split": "pybandit webtest split test.db 1000",
    "webtest add-arm": "pybandit webtest add-arm test.db green",
    "webtest retire": "pybandit webtest retire test.db green --reason 'broken on phones'",
}
# Actions of `study`, `screen` and `webtest`.
LOG = {
    "close": "pybandit {} close study.db 1",
    "abandon": "pybandit {} abandon study.db 2",
    "status": "pybandit {} status study.db --top 10",
    "verify": "pybandit {} verify study.db",
    "recover": "pybandit {} recover study.db",
    "report": "pybandit {} report study.db -o report.html",
    "export": "pybandit {} export study.db results.csv",
    "serve": "pybandit {} serve study.db --port 8000 --tokens tokens.txt",
}


class Help(argparse.RawDescriptionHelpFormatter):
    """Formatter that wraps one-line texts and keeps the lines of others."""

    def _fill_text(self, text, width, indent):
        if "\n" in text:
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)


def subcommands(parser):
    """Return the subparsers of a parser by name."""
    return {name: below for action in parser._actions
            if isinstance(action, argparse._SubParsersAction)
            for name, below in action.choices.items()}


def add_examples(parser, words=()):
    """Add an example to the help of every command below `parser`."""
    for name, below in subcommands(parser).items():
        command = *words, name
        found = EXAMPLES.get(" ".join(command)) or LOG[name].format(*words)
        example = f"example:\n  {found}"
        below.epilog = example if below.epilog is None else f"{example}\n\n{below.epilog}"
        below.formatter_class = Help
        add_examples(below, command)


def add_completion(commands, make_parser):
    """Add the command that prints a script of completions for a shell."""
    command = commands.add_parser(
        "completion", help="print a completion script for bash, zsh or tcsh",
        description="Print a script that completes commands, options and file names. It needs "
                    "shtab: pip install 'pybandit-core[completion]'.")
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    command.set_defaults(run=lambda arguments: _print_completion(make_parser(), arguments.shell))


def _print_completion(parser, shell):
    print(require("shtab", "completion").complete(parser, shell=shell))
    return 0
