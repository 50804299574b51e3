#!/usr/bin/env python3
"""Makes docs/guard-rules.md from the guard's tables; with --check says whether it is up to date."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLES = ROOT / "src/guard/tables"
STRING = r'"(?:[^"\\]|\\.)*"'


def unquote(text):
    parts = re.findall(STRING, text)
    return "".join(part[1:-1] for part in parts).replace('\\"', '"').replace("\\\\", "\\")


def entries(name, macro):
    """The argument lists of MACRO(...) in a table, comments left out."""
    text = re.sub(r"/\*.*?\*/", "", (TABLES / name).read_text(encoding="utf-8"), flags=re.S)
    for match in re.finditer(macro + r"\(((?:[^()\"]|" + STRING + r")*)\)", text):
        arguments, current = [], ""
        for token in re.findall(STRING + r"|[^\",]+|,", match.group(1)):
            if token == ",":
                arguments.append(current.strip())
                current = ""
            else:
                current += token
        yield arguments + [current.strip()]


def main():
    lines = ["# What the guard refuses", "",
             "Made from `src/guard/tables/` by `tools/guard_rules.py`; do not edit.",
             "`cordon check --explain RULE` prints the same.", ""]
    rules = list(entries("rules.def", "RULE"))
    names = {}
    for name, rule_id, verdict, why, fix, about, bad, good in rules:
        names["GUARD_" + name] = unquote(rule_id)
        lines += [f"## {unquote(rule_id)} ({verdict.removeprefix('CORDON_').lower()})", "",
                  unquote(about), "",
                  f"A command that {unquote(why)}. Instead: {unquote(fix)}.", "",
                  f"- refused: `{unquote(bad)}`", f"- let through: `{unquote(good)}`", ""]
    lines += ["## Programs by name", "",
              "A program is found by its name without folder and extension. The condition is on its arguments;",
              "`src/guard/tables/programs.def` says how to read it.", "",
              "| program | condition | rule | why |", "|---|---|---|---|"]
    default = {"GUARD_" + rule[0]: unquote(rule[3]) for rule in rules}
    for name, condition, rule, why, _ in entries("programs.def", "PROGRAM"):
        reason = default[rule] if why == "NULL" else unquote(why)
        shown = f"`{unquote(condition)}`".replace("|", "\\|") if unquote(condition) else "always"
        lines.append(f"| {unquote(name)} | {shown} | {names[rule]} | {reason} |")
    browsers = ", ".join(unquote(browser[0]) for browser in entries("browsers.def", "BROWSER"))
    lines += ["", "## Browsers", "", "Refused unless headless on a local page: " + browsers + ".", ""]
    text = "\n".join(lines)
    page = ROOT / "docs/guard-rules.md"
    if "--check" in sys.argv:
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            print("docs/guard-rules.md is not what tools/guard_rules.py makes; run it")
            return 1
        return 0
    page.write_text(text, encoding="utf-8")
    return 0


sys.exit(main())
