#!/usr/bin/env python3
"""Compares what the guard reads in bash with shfmt: command names and constant arguments in order.

usage: measure_bash.py [--cordon PROGRAM] [--list CLASS] [CORPUS-FOLDER]
"""
import argparse
import collections
import json
import os
import shlex
import shutil
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
UNKNOWN = None


def shfmt_tree(script):
    done = subprocess.run(["shfmt", "--to-json", "-ln", "bash"], input=script.encode(),
                          capture_output=True)
    return json.loads(done.stdout) if done.returncode == 0 and done.stdout.strip() else None


def unescape(text, in_quotes):
    out, i = [], 0
    while i < len(text):
        if text[i] == "\\" and i + 1 < len(text):
            following = text[i + 1]
            if following == "\n":
                i += 2
                continue
            if not in_quotes or following in "$`\\\"":
                out.append(following)
                i += 2
                continue
        out.append(text[i])
        i += 1
    return "".join(out)


def ansi(text):
    plain = {"a": 7, "b": 8, "e": 27, "E": 27, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11}
    out, i = bytearray(), 0
    data = text.encode("utf-8", "surrogateescape")
    while i < len(data):
        c = chr(data[i])
        if c != "\\" or i + 1 >= len(data):
            out.append(data[i])
            i += 1
            continue
        c = chr(data[i + 1])
        i += 2
        if c in plain:
            out.append(plain[c])
        elif c in "xuU01234567":
            digits = "01234567" if c in "01234567" else "0123456789abcdefABCDEF"
            most = {"x": 2, "u": 4, "U": 8}.get(c, 3)
            i -= c in "01234567"
            start = i
            while i < len(data) and i - start < most and chr(data[i]) in digits:
                i += 1
            value = int(data[start:i] or b"0", 8 if c in "01234567" else 16)
            out += chr(value).encode("utf-8", "replace") if c in "uU" else bytes([value & 255])
        else:
            out += (c if c in "\\'\"?" else "\\" + c).encode("latin-1")
    return out.decode("utf-8", "replace")


def word_text(word):
    """The constant text of a word, or UNKNOWN."""
    out = []
    for part in word.get("Parts", []):
        kind = part["Type"]
        if kind == "Lit":
            value = part["Value"]
            if "{" in value and ("," in value or ".." in value):
                return UNKNOWN  # braces: one word here, several for us
            out.append(unescape(value, False))
        elif kind == "SglQuoted":
            out.append(ansi(part["Value"]) if part.get("Dollar") else part.get("Value", ""))
        elif kind == "DblQuoted":
            for inner in part.get("Parts", []):
                if inner["Type"] != "Lit":
                    return UNKNOWN
                out.append(unescape(inner["Value"], True))
        elif kind == "ExtGlob":
            out.append(part["Op"] if isinstance(part.get("Op"), str) else "")
            return UNKNOWN
        else:
            return UNKNOWN
    return "".join(out)


def commands(node, out):
    """Every command in order of its start."""
    if isinstance(node, list):
        for item in node:
            commands(item, out)
        return
    if not isinstance(node, dict):
        return
    kind = node.get("Type")
    if kind == "CallExpr" and node.get("Args"):
        out.append([word_text(w) for w in node["Args"]])
    elif kind == "DeclClause":
        out.append([node["Variant"]["Value"]] + [UNKNOWN] * len(node.get("Args", [])))
    elif kind == "LetClause":
        out.append(["let"] + [UNKNOWN] * len(node.get("Exprs", [])))
    for key, value in node.items():
        if isinstance(value, (dict, list)):
            commands(value, out)


def same(theirs, ours):
    if len(theirs) != len(ours):
        return "other number of commands"
    for a, b in zip(theirs, ours):
        if a[0] is not UNKNOWN and a[0] != b[0]:
            return "other name"
        if len(a) != len(b):
            return "other number of arguments"
        if any(x is not UNKNOWN and x != y for x, y in zip(a[1:], b[1:])):
            return "other argument"
    return None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus", nargs="?",
                        default=os.path.join(ROOT, "..", "shared", "corpus", "guard"))
    parser.add_argument("--cordon", default=os.path.join(ROOT, "build", "native", "cordon") +
                        " check --jsonl --show")
    parser.add_argument("--list", metavar="CLASS")
    options = parser.parse_args()
    path = os.path.join(options.corpus, "bash.jsonl")
    if not os.path.exists(path):
        print("ok 1 - bash read as shfmt reads it # SKIP the corpus is not here")
        return 0
    if not shutil.which("shfmt"):
        print("ok 1 - bash read as shfmt reads it # SKIP shfmt is not installed")
        return 0
    rows = [json.loads(line) for line in open(path, encoding="utf-8")]
    scripts = [row["argv"][2] for row in rows]
    asked = "".join(json.dumps({"shell": "bash", "script": s}) + "\n" for s in scripts)
    done = subprocess.run(shlex.split(options.cordon), input=asked.encode(), capture_output=True)
    answers = [json.loads(line) for line in done.stdout.decode().splitlines()]
    if len(answers) != len(rows):
        print("not ok 1 - the guard answered", len(answers), "of", len(rows), "rows")
        return 1
    classes = collections.Counter()
    for row, script, answer in zip(rows, scripts, answers):
        tree = shfmt_tree(script)
        if tree is None:
            classes["shfmt rejects it"] += 1
            continue
        theirs = []
        commands(tree, theirs)
        ours = [[r["name"]] + r["args"] for r in answer.get("read", []) if r["depth"] == 1]
        if any(f["rule"] == "opaque.syntax" for f in answer["findings"]):
            difference = "syntax error here only"
        else:
            difference = same(theirs, ours)
        classes[difference or "same"] += 1
        if difference and difference == options.list:
            print(row["id"], "\n ", script[:400], "\n  shfmt:", theirs[:12], "\n  ours: ", ours[:12])
    compared = len(rows) - classes["shfmt rejects it"]
    for name, count in classes.most_common():
        print(f"# {count:6}  {name}")
    share = classes["same"] / max(compared, 1)
    print(f'{"ok" if share >= 0.99 else "not ok"} 1 - bash.jsonl: {classes["same"]} of {compared} rows alike '
          f"({share:.2%}), at least 99 %")
    return 0 if share >= 0.99 else 1


if __name__ == "__main__":
    sys.exit(main())
