# A thin front: meson and ninja build, tools/ does the rest.
#
#   make            build cpprof                     -> build/src/cmd/cpprof
#   make demo       record the paper's example program and show where it spends
#   make demo-source build Lua with a Profiler object in each function and show its calls
#   make check      everything that can fail: both compilers, tests, arm64, sanitizers, fuzzers, lint
#   make quick      build, and test what changed since the last commit, in less than a minute
#   make lint       format, clang-tidy, headers, includes, processors, cycles of calls
#   make format     apply clang-format
#   make bench      measure against perf, side by side; BENCH_FLAGS=--quick for less
#   make install    PREFIX=/usr/local, DESTDIR= for packagers
#   make clean      remove build/
#
# A bare Debian 12 is enough: each target first installs what it lacks (tools/setup).

PREFIX ?= /usr/local
BUILD = build
# Debian's meson runs on Debian's Python, whatever else is first in PATH.
MESON = $(firstword $(wildcard /usr/bin/meson) meson)
FORMATTED = $(shell git ls-files -co --exclude-standard '*.c' '*.h')

.PHONY: all setup demo demo-source check quick lint format bench install clean help

all: setup $(BUILD)/build.ninja
	@if [ -t 1 ]; then ninja -C $(BUILD); else ninja -C $(BUILD) --quiet; fi

setup:
	@tools/setup build

# The programs that users want, without the tests, where meson finds what it needs.
$(BUILD)/build.ninja: | setup
	@$(MESON) setup --prefix=$(PREFIX) -Dtests=false $(BUILD) >/dev/null || { tail -n 20 $(BUILD)/meson-logs/meson-log.txt; exit 1; }

demo: all
	@tools/demo $(BUILD)

demo-source: all
	@tools/setup demo
	@tools/demo-source $(BUILD)

check:
	@tools/setup check
	@tools/run_tests

quick:
	@tools/setup check
	@tools/quick

lint:
	@tools/setup check
	@tools/lint

format:
	@tools/setup check
	@clang-format -i $(FORMATTED)

bench: all
	@tools/setup bench
	@CPPROF_BUILD=$(BUILD) /usr/bin/python3 bench/run $(BENCH_FLAGS)

# The prefix may differ from the one that was first configured.
install: all
	@$(MESON) setup --reconfigure --prefix=$(PREFIX) $(BUILD) >/dev/null
	@$(if $(DESTDIR),DESTDIR=$(abspath $(DESTDIR))) $(MESON) install -C $(BUILD) --no-rebuild --quiet
	@echo "installed: $(DESTDIR)$(PREFIX)/bin/cpprof"

clean:
	@rm -rf $(BUILD)

help:
	@sed -n 's/^#   //p' Makefile
