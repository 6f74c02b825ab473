"""One example per command, shown under its help; and shell completion."""

import argparse

from pybandit._shared.optional import require

EXAMPLES = {
    "demo": "pybandit demo --out demo.png",
    "best-of": "pybandit best-of scores.csv --value-range 0 1 --plot race.png",
    "shuffle": "pybandit shuffle scores.csv shuffled.parquet --seed 1",
    "config": "cc draw.c $(pybandit config --cflags --libs) -o draw",
    "completion": "pybandit completion bash > ~/.local/share/bash-completion/completions/pybandit",
    "study": "pybandit study status study.db",
    "study plan": "pybandit study plan --n 500 --k 10 --plate 8x12 --noise 0.3",
    "study new": "pybandit study new study.db --policy auto --arms genes.csv --k 10 \\\n"
                 "      --batches 6 --plate 8x12 --noise 0.3",
    "study next": "pybandit study next study.db -o plate.csv",
    "study record": "pybandit study record study.db results.csv --batch 1",
    "study amend": "pybandit study amend study.db --batch 1 --well B03=0.41 --reason 'misread'",
    "study close": "pybandit study close study.db 1",
    "study abandon": "pybandit study abandon study.db 2",
    "study status": "pybandit study status study.db --top 10",
    "study verify": "pybandit study verify study.db",
    "study recover": "pybandit study recover study.db",
    "study report": "pybandit study report study.db -o report.html",
    "study export": "pybandit study export study.db results.csv",
    "study serve": "pybandit study serve study.db --port 8000 --tokens tokens.txt",
    "study new-ab": "pybandit study new-ab test.db --arms old,new --delta 0.05",
    "study counts": "pybandit study counts test.db monday.csv --key monday",
    "study split": "pybandit study split test.db 1000",
    "study add-arm": "pybandit study add-arm test.db green",
    "study retire": "pybandit study retire test.db green --reason 'broken on phones'",
    "study plan-ab": "pybandit study plan-ab --rates 0.04,0.05 --visits 2000",
}


class Help(argparse.RawDescriptionHelpFormatter):
    """Formatter that keeps the lines of a text, and wraps a text of one line."""

    def _fill_text(self, text, width, indent):
        if "\n" in text:
            return super()._fill_text(text, width, indent)
        return argparse.HelpFormatter._fill_text(self, text, width, indent)


def subcommands(parser):
    """Return the parsers below a parser, by name."""
    return {name: below for action in parser._actions
            if isinstance(action, argparse._SubParsersAction)
            for name, below in action.choices.items()}


def add_examples(parser, words=()):
    """Add to the help of every command below `parser` its example."""
    for name, below in subcommands(parser).items():
        command = *words, name
        example = f"example:\n  {EXAMPLES[' '.join(command)]}"
        below.epilog = example if below.epilog is None else f"{example}\n\n{below.epilog}"
        below.formatter_class = Help
        add_examples(below, command)


def add_completion(commands, make_parser):
    """Add the command that prints a script of completions for a shell."""
    command = commands.add_parser(
        "completion", help="shell completion: a script for bash, zsh or tcsh",
        description="Print a script that completes commands, options and file names. It needs "
                    "shtab: pip install 'pybandit-core[completion]'.")
    command.add_argument("shell", choices=("bash", "zsh", "tcsh"))
    command.set_defaults(run=lambda arguments: _print_completion(make_parser(), arguments.shell))


def _print_completion(parser, shell):
    print(require("shtab", "completion").complete(parser, shell=shell))
    return 0
