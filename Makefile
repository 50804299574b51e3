# The front door. `make help` says what there is; the build itself is CMake's (CMakePresets.json).
.DEFAULT_GOAL := all
.PHONY: all help setup demo test bench fuzz soak vm mutants lint format dist clean install

PREFIX ?= /usr/local
S ?= 60

all: ## build build/native/cordon and build/mingw/cordon.exe
	@tools/setup build
	@cmake --preset release >/dev/null && cmake --build --preset release --target cordon cordon_static cordon_shared
	@cmake --preset mingw >/dev/null && cmake --build --preset mingw --target cordon cordon_static cordon_shared

help: ## show this list
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-9s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: ## install what building and testing needs (Debian, with apt)
	@tools/setup test

demo: ## build, then show what is allowed, what is refused and why
	@tools/setup build
	@tools/demo

test: ## run every test, natively with sanitizers and under Wine
	@tools/setup test
	@tools/test

bench: ## measure, print a table and write build/bench.json
	@tools/setup build
	@tools/bench

fuzz: ## run every fuzz target for S seconds each (S=60)
	@tools/setup test
	@tools/fuzz $(S)

soak: ## the long form of load, kills, races and fuzzing, then two hours of steady work
	@tools/setup test
	@tools/soak

vm: ## the Linux tests on the kernel of this Debian release, in a virtual machine
	@tools/setup vm
	@tools/vm

mutants: ## break the code that decides in small ways and show that the tests notice
	@tools/setup test
	@tools/mutants

lint: ## layers, format, clang-tidy and compiler warnings
	@tools/setup test
	@tools/lint

format: ## let clang-format lay out the sources
	@clang-format -i $$(git ls-files '*.c' '*.h')

dist: all ## pack zips and an npm package with checksums into build/dist
	@tools/dist

install: all ## install the native program, library, header, manual and completion below PREFIX
	@cmake --install build/native --prefix $(PREFIX)

clean: ## remove build/
	@rm -rf build
