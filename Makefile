# Makefile: short names for the commands of meson, ninja and tools/.
#
#   make            build cpprof                     -> build/src/cmd/cpprof
#   make demo       record the example program of the 1993 paper and show where its time goes
#   make demo-source build Lua with a Profiler object in each function and show its calls
#   make demo-optimize build a program anew from its call paths, and measure the gain
#   make demo-contextualize  give a call path its own functions, predict the saving, and measure it
#   make demo-fleet find what became slower on five simulated hosts, in a store on three servers
#   make check      the gate, in minutes: gcc without warnings, unit tests, exact command-line tests, lint
#   make check-all  also clang, analyzer, arm64, sanitizers, fuzzers, clang-tidy, browsers, languages, faults, kill points
#   make measure    the tests that compare times, shares of samples, rates or intervals; prints a table
#   make quick      build, and test what changed since the last commit, in less than a minute
#   make lint       format, headers, includes, plain openings, processors, cycles of calls
#   make format     apply clang-format
#   make bench      measure cpprof and perf on the same programs; BENCH_FLAGS=--quick measures less
#   make install    PREFIX=/usr/local, DESTDIR= for packagers
#   make uninstall  remove what make install installed, with the same PREFIX and DESTDIR
#   make deb        make a Debian package                -> build/cpprof_VERSION_ARCHITECTURE.deb
#   make dist       make an archive of the last commit   -> build/cpprof-VERSION.tar.gz
#   make clean      remove build/
#
# A bare Debian 12 is enough: each target first installs the packages that are missing (tools/setup).

PREFIX ?= /usr/local
# Without PATH (env -i), programs are found in /bin first, where gcc does not find its parts.
export PATH := $(or $(PATH),/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin)
BUILD = build
# Debian's meson uses Debian's Python, even if another meson comes first in PATH.
MESON = $(firstword $(wildcard /usr/bin/meson) meson)
VERSION = $(shell sed -n "s/^  version: '\(.*\)',/\1/p" meson.build)
FORMATTED = $(shell git ls-files -co --exclude-standard '*.c' '*.h')

.PHONY: all setup demo demo-source demo-optimize demo-contextualize demo-fleet check check-all measure quick lint format bench install uninstall deb dist clean help

all: setup $(BUILD)/build.ninja
	@if [ -t 1 ]; then ninja -C $(BUILD); else ninja -C $(BUILD) --quiet; fi

setup:
	@tools/setup build

# Configures a build of the programs for users, without the tests. If that fails, prints the end of meson's log.
$(BUILD)/build.ninja: | setup
	@$(MESON) setup --prefix=$(PREFIX) -Dtests=false $(BUILD) >/dev/null || { tail -n 20 $(BUILD)/meson-logs/meson-log.txt; exit 1; }

demo: all
	@tools/demo $(BUILD)

demo-source: all
	@tools/setup demo
	@tools/demo-source $(BUILD)

demo-optimize: all
	@tools/setup demo
	@tools/demo-optimize $(BUILD)

demo-contextualize: all
	@tools/setup demo
	@tools/demo-contextualize $(BUILD)

# Without clickhouse-server, the demo uses a file of SQLite, and says so.
demo-fleet: all
	-@tools/setup demo-fleet
	@tools/demo-fleet $(BUILD)

check:
	@tools/setup check
	@tools/run_tests check

check-all:
	@tools/setup check-all
	@tools/run_tests check-all

measure:
	@tools/setup check-all
	@tools/run_tests measure

quick:
	@tools/setup quick
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

# PREFIX may differ from the prefix of the first configuration, therefore meson configures again.
install: all
	@$(MESON) setup --reconfigure --prefix=$(PREFIX) $(BUILD) >/dev/null
	@$(if $(DESTDIR),DESTDIR=$(abspath $(DESTDIR))) $(MESON) install -C $(BUILD) --no-rebuild --quiet
	@echo "installed: $(DESTDIR)$(PREFIX)/bin/cpprof"

uninstall: all
	@$(MESON) setup --reconfigure --prefix=$(PREFIX) $(BUILD) >/dev/null
	@$(if $(DESTDIR),DESTDIR=$(abspath $(DESTDIR))) tools/uninstall $(BUILD)

# A build of its own, because the prefix and the folder of libraries are Debian's.
deb:
	@tools/setup deb
	@test -e $(BUILD)/deb/build.ninja || $(MESON) setup --prefix=/usr --libdir=lib/$$(dpkg-architecture -qDEB_HOST_MULTIARCH) \
		-Dtests=false -Dmpi=disabled $(BUILD)/deb >/dev/null
	@ninja -C $(BUILD)/deb --quiet
	@tools/make_deb $(BUILD)/deb $(BUILD)

dist:
	@git diff --quiet HEAD || echo "make dist: the archive has the last commit, without the changes since then" >&2
	@mkdir -p $(BUILD)
	@git archive --prefix=cpprof-$(VERSION)/ -o $(BUILD)/cpprof-$(VERSION).tar.gz HEAD
	@echo "$(BUILD)/cpprof-$(VERSION).tar.gz"

clean:
	@[ ! -L $(BUILD)/check ] || rm -rf "$$(readlink $(BUILD)/check)" # see prepare_folder in tools/run_tests
	@rm -rf $(BUILD)

help:
	@sed -n 's/^#   //p' Makefile
