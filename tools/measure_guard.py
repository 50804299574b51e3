#!/usr/bin/env python3
"""Measures the guard on a corpus of command lines: verdicts by label, as a table and as TAP.

usage: measure_guard.py [FOLDER] [--list LABEL VERDICT]
The folder holds hostile.jsonl, benign.jsonl and bash.jsonl; its rows stay out of this project.
"""
import collections
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
CORDON = ROOT / "build/native/cordon"
FILES = ["hostile.jsonl", "benign.jsonl", "bash.jsonl"]


def judge(rows):
    text = "".join(json.dumps({"argv": row["argv"]}) + "\n" for row in rows)
    out = subprocess.run([CORDON, "check", "--jsonl"], input=text.encode(), stdout=subprocess.PIPE, check=False)
    answers = [json.loads(line) for line in out.stdout.splitlines()]
    if len(answers) != len(rows):
        sys.exit(f"{len(rows)} questions, {len(answers)} answers")
    return answers


def main():
    arguments = sys.argv[1:]
    listed = None
    if "--list" in arguments:
        at = arguments.index("--list")
        listed = (arguments[at + 1], arguments[at + 2])
        del arguments[at:at + 3]
    folder = pathlib.Path(arguments[0]) if arguments else ROOT.parent / "shared/corpus/guard"
    if not all((folder / name).exists() for name in FILES):
        print("ok 1 - verdicts on the guard corpus # SKIP the corpus is not here")
        return 0
    rows = [json.loads(line) for name in FILES for line in (folder / name).read_text(encoding="utf-8").splitlines()]
    answers = judge(rows)
    table = collections.defaultdict(collections.Counter)
    for row, answer in zip(rows, answers):
        verdict = answer["verdict"] if "error" not in answer else "error"
        table[row["label"]][verdict] += 1
        if listed == (row["label"], verdict):
            rules = ",".join(sorted({finding["rule"] for finding in answer.get("findings", [])}))
            print(f'{row["id"]}\t{rules}\t{json.dumps(row["argv"], ensure_ascii=False)}')
    if listed:
        return 0
    print(f'# {"label":12} {"rows":>6} {"deny":>6} {"ask":>6} {"allow":>6}')
    for label, counts in sorted(table.items()):
        print(f'# {label:12} {sum(counts.values()):6} {counts["deny"]:6} {counts["ask"]:6} {counts["allow"]:6}')

    def share(label, *verdicts):
        counts = table[label]
        return sum(counts[verdict] for verdict in verdicts) / max(1, sum(counts.values()))

    checks = [
        (f'launch: {share("launch", "deny"):.2%} denied, at least 99 %', share("launch", "deny") >= 0.99),
        (f'launch: {table["launch"]["allow"]} allowed, none', table["launch"]["allow"] == 0),
        (f'delete: {share("delete", "deny", "ask"):.2%} asked or denied, at least 95 %',
         share("delete", "deny", "ask") >= 0.95),
        (f'benign: {share("benign", "deny"):.3%} denied, at most 0.1 %', share("benign", "deny") <= 0.001),
        (f'benign: {share("benign", "ask"):.2%} asked, at most 1 %', share("benign", "ask") <= 0.01),
        (f'opaque-dev: {table["opaque-dev"]["deny"]} denied, none', table["opaque-dev"]["deny"] == 0),
        ("no answer is an error", not any(counts["error"] for counts in table.values())),
    ]
    for number, (what, passed) in enumerate(checks, 1):
        print(f'{"ok" if passed else "not ok"} {number} - {what}')
    return 0 if all(passed for _, passed in checks) else 1


sys.exit(main())
