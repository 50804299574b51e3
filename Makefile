# SPDX-License-Identifier: Apache-2.0
# The front door. `make help` lists the targets; the build itself is CMake's (CMakePresets.json).
.DEFAULT_GOAL := all
.PHONY: all help setup windows demo test agents token check bench fuzz soak vm mutants bench-peers bench-scale lint format dist install clean

PREFIX ?= /usr/local
DESTDIR ?=
S ?= 60

all: ## build build/native/cordon and the library for this machine; installs nothing
	@tools/setup --missing build
	@cmake --preset release >/dev/null && cmake --build --preset release --target cordon cordon_static cordon_shared

windows: ## cross-build build/mingw/cordon.exe and the library for Windows
	@tools/setup --missing windows
	@cmake --preset mingw >/dev/null && cmake --build --preset mingw --target cordon cordon_static cordon_shared

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what building and testing needs (Debian, with apt), after saying what
	@tools/setup test

demo: ## install what is missing, build, then show what is allowed, what is refused and why
	@tools/setup windows
	@tools/demo

test: ## install what is missing, then run every test, natively with sanitizers and under Wine
	@tools/setup test
	@tools/test

check: ## the fast part of the tests, in less than three minutes
	@tools/setup --missing test
	@tools/test fast

agents: all ## the real coding agents (from npm, cached) with cordon; LATEST=1 takes their newest versions
	@LATEST=$(LATEST) tools/test-agents

token: ## the Windows tests in a Wine that honours the token (built once, from Debian's source)
	@tools/setup test
	@tools/token

bench: ## measure, print a table and write build/bench.json
	@tools/setup --missing windows
	@tools/bench

bench-peers: ## the same work in Cordon and in other sandboxes, in turns (Linux)
	@tools/bench-peers

bench-scale: ## how cost grows with roots, rules, processes, files, depth and events (Linux)
	@tools/bench-scale

fuzz: ## run every fuzz target for S seconds each (S=60)
	@tools/setup --missing test
	@tools/fuzz $(S)

soak: ## the long form of load, kills, races and fuzzing, then two hours of steady work
	@tools/setup --missing test
	@tools/soak

vm: ## the Linux tests on the kernel of this Debian release, in a virtual machine
	@tools/setup vm
	@tools/vm

mutants: ## break the code that decides in small ways and show that the tests notice
	@tools/setup --missing test
	@tools/mutants

lint: ## layers, format, clang-tidy and compiler warnings
	@tools/setup --missing test
	@tools/lint

format: ## let clang-format lay out the sources
	@clang-format -i $$(git ls-files '*.c' '*.h')

dist: all windows ## pack zips, an npm package and a .deb with checksums into build/dist
	@tools/dist

install: all ## install program, library, header, manual and completions below PREFIX
	@DESTDIR=$(DESTDIR) cmake --install build/native --prefix $(PREFIX)

clean: ## remove build/
	@rm -rf build
