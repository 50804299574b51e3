#!/usr/bin/env python3
"""Makes src/policy/casefold_table.h from the Unicode data that Python carries.

Without arguments it writes the table to standard output; --check FILE says whether FILE is what
it would make. With another Unicode version than the file's, new letters may differ, old ones not.
"""
import re
import sys
import unicodedata


def one(text, code):
    """A mapping counts only if it is one unit to one unit."""
    return ord(text) if len(text) == 1 and ord(text) < 0x10000 else code


# str.upper() follows SpecialCasing, where a few letters have a longer form than the simple one.
SIMPLE_UPPER = {0x1F80 + i: 0x1F88 + i for i in range(8)}
SIMPLE_UPPER.update({0x1F90 + i: 0x1F98 + i for i in range(8)})
SIMPLE_UPPER.update({0x1FA0 + i: 0x1FA8 + i for i in range(8)})
SIMPLE_UPPER.update({0x1FB3: 0x1FBC, 0x1FC3: 0x1FCC, 0x1FF3: 0x1FFC})


def upper(code):
    if 0xD800 <= code <= 0xDFFF:
        return code
    return SIMPLE_UPPER.get(code, one(chr(code).upper(), code))


def lower(code):
    if 0xD800 <= code <= 0xDFFF:
        return code
    if code == 0x130:  # its full lower case is two characters, the simple one is i
        return ord("i")
    return one(chr(code).lower(), code)


def narrow(code):
    up = upper(code)
    return code if code >= 0x80 and up < 0x80 else up


def wide(code):
    return upper(lower(upper(code)))


def rows(numbers, width, pattern):
    for i in range(0, len(numbers), width):
        yield "    " + " ".join(pattern % n + "," for n in numbers[i:i + width])


def make():
    pages, index = [], []
    for high in range(256):
        page = [(narrow(high << 8 | low) - (high << 8 | low)) & 0xFFFF for low in range(256)]
        if page not in pages:
            pages.append(page)
        index.append(pages.index(page))
    extra = [(c, wide(c)) for c in range(0x10000) if wide(c) != narrow(c)]
    lines = [
        "/* Made by tools/casefold.py from Unicode %s; not edited by hand. */" %
        unicodedata.unidata_version,
        "#ifndef CORDON_POLICY_CASEFOLD_TABLE_H",
        "#define CORDON_POLICY_CASEFOLD_TABLE_H",
        "",
        "#include <stdint.h>",
        "",
        "/* clang-format off */",
        "/* Which page holds what is added to a unit, by its high byte. */",
        "static const uint8_t fold_index[256] = {",
        *rows(index, 16, "%d"),
        "};",
        "",
        "static const uint16_t fold_pages[%d][256] = {" % len(pages),
    ]
    for page in pages:
        lines += ["  {", *rows(page, 16, "%d"), "  },"]
    lines += [
        "};",
        "",
        "/* Units that a generous reading folds differently, sorted. */",
        "static const struct {",
        "    uint16_t from, to;",
        "} fold_extra[%d] = {" % len(extra),
    ]
    for i in range(0, len(extra), 4):
        lines.append("    " + " ".join("{0x%04X, 0x%04X}," % pair for pair in extra[i:i + 4]))
    lines += ["};", "/* clang-format on */", "", "#endif", ""]
    return "\n".join(lines)


def parse(text):
    """The narrow and wide mapping of a table, as dictionaries of what is not itself."""
    version = re.search(r"Unicode ([0-9.]+)", text).group(1)
    def block(name):
        return re.search(name + r"\[.*?= \{(.*?)\n\};", text, re.S).group(1)
    index = [int(n) for n in re.findall(r"\d+", block("fold_index"))]
    pages = [[int(n) for n in re.findall(r"\d+", page)]
             for page in re.findall(r"\{(.*?)\}", block("fold_pages"), re.S)]
    narrow_map = {}
    for code in range(0x10000):
        delta = pages[index[code >> 8]][code & 0xFF]
        if delta:
            narrow_map[code] = (code + delta) & 0xFFFF
    extra = re.search(r"fold_extra\[\d+\] = \{(.*?)\n\};", text, re.S).group(1)
    wide_map = dict(narrow_map)
    for a, b in re.findall(r"\{0x([0-9A-F]{4}), 0x([0-9A-F]{4})\}", extra):
        wide_map[int(a, 16)] = int(b, 16)
    return version, narrow_map, wide_map


def check(path):
    with open(path, encoding="utf-8") as file:
        have = file.read()
    want = make()
    if have == want:
        return True
    have_version, *have_maps = parse(have)
    want_version, *want_maps = parse(want)
    if have_version == want_version:
        return False
    for ours, theirs in zip(have_maps, want_maps):
        for code in set(ours) & set(theirs):
            if ours[code] != theirs[code]:
                return False
        older = ours if have_version < want_version else theirs
        newer = theirs if older is ours else ours
        if any(code not in newer for code in older):
            return False
    return True


if __name__ == "__main__":
    if len(sys.argv) == 3 and sys.argv[1] == "--check":
        if not check(sys.argv[2]):
            sys.exit("%s is not what tools/casefold.py makes" % sys.argv[2])
        print("ok")
    elif len(sys.argv) == 1:
        sys.stdout.write(make())
    else:
        sys.exit("usage: casefold.py [--check FILE]")
