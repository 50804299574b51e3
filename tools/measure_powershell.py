#!/usr/bin/env python3
"""Compares what the guard reads in PowerShell with what the real parser reads.

usage: measure_powershell.py [FOLDER]
The folder holds corpus.jsonl and facts.jsonl (the real parser's answers); it stays out of this project.
"""
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORDON = ROOT / "build/native/cordon"
NEEDED = 0.99


def read(rows):
    text = "".join(json.dumps({"shell": "powershell", "script": row["script"]}) + "\n" for row in rows)
    out = subprocess.run([CORDON, "check", "--jsonl", "--show"], input=text.encode(), stdout=subprocess.PIPE, check=False)
    answers = [json.loads(line) for line in out.stdout.split(b"\n") if line]
    if len(answers) != len(rows):
        sys.exit(f"{len(rows)} questions, {len(answers)} answers")
    return answers


def spellings(argument):
    """What the guard may print for an argument; None if the parser knows no constant value."""
    if argument["kind"] == "parameter":
        if not argument.get("arg"):
            return ["-" + argument["param"]]
        values = spellings(argument["arg"])
        return None if values is None else [f'-{argument["param"]}:{value}' for value in values]
    if argument["kind"] == "number":
        return [argument["text"], str(argument["value"])]
    if argument["kind"] == "string" and argument["value"] is not None:
        return [argument["value"]]
    return None


def is_nested(command):
    """Commands inside text that is run as code are not in the parser's list."""
    return command["shell"] != "powershell" or command["depth"] != 1


def difference(row, answer):
    wanted = [(c["name"], [spellings(a) for a in c["args"]]) for c in row["commands"]]
    found = [(c["name"], c["args"]) for c in answer["read"] if not is_nested(c)]
    if len(found) < len(wanted):
        return "commands missing"
    if len(found) > len(wanted):
        return "commands too many"
    for (name, args), (read_name, read_args) in zip(wanted, found):
        if name != read_name:
            return "name differs"
        if len(args) != len(read_args):
            return "number of arguments differs"
        if any(a is not None and b not in a for a, b in zip(args, read_args)):
            return "argument differs"
    return None


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT.parent / "shared/corpus/powershell"
    if not (folder / "corpus.jsonl").exists():
        print("ok 1 - PowerShell read as its own parser reads it # SKIP the corpus is not here")
        return 0
    failed = 0
    for number, name in enumerate(["facts.jsonl", "corpus.jsonl"], 1):
        rows = [json.loads(line) for line in (folder / name).read_text(encoding="utf-8").split("\n") if line]
        classes = collections.Counter()
        clean = verdicts = 0
        for row, answer in zip(rows, read(rows)):
            broken = any(f["rule"] == "opaque.syntax" for f in answer["findings"])
            verdicts += broken == bool(row["errors"])
            if row["errors"]:
                continue
            clean += 1
            found = difference(row, answer)
            if found:
                classes[found] += 1
                print(f'# {found}: {row["id"]}')
        agree = clean - sum(classes.values())
        good = agree >= NEEDED * clean
        failed += not good
        for what, count in classes.most_common():
            print(f"# {count:6} {what}")
        print(f"# {verdicts} of {len(rows)} rows accepted or rejected alike")
        print(f'{"ok" if good else "not ok"} {number} - {name}: {agree} of {clean} rows alike ({agree / max(1, clean):.2%})')
    print("1..2")
    return failed


if __name__ == "__main__":
    sys.exit(main())
