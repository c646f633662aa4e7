# rung: build, check, measure, install. Each target installs the Debian packages it needs, when some are missing.
# SPDX-License-Identifier: Apache-2.0

PREFIX ?= /usr/local
BUILD ?= build
JOBS ?= $(shell nproc)

.PHONY: all check demo bench soak vm fuzz tidy format install uninstall clean

all: $(BUILD)/rung

# Ninja knows what is out of date, so this rule always asks it.
.PHONY: $(BUILD)/rung
$(BUILD)/rung:
	@deploy/packages build
	@cmake -S . -B $(BUILD) -G Ninja -DCMAKE_BUILD_TYPE=Release -DRUNG_TESTS=OFF >/dev/null
	@ninja -C $(BUILD) -j $(JOBS) --quiet rung
	@echo "built $(BUILD)/rung"

# Everything that must hold: two compilers, unit tests under sanitizers, gates, whole-binary tests, engines, a VM.
check:
	@deploy/packages build test engines vm demo
	@tests/check

demo: all
	@deploy/packages demo
	@integration/demo/run

bench: all
	@deploy/packages build test
	@integration/bench/run

# Longer: kills the runtime at random instants, thousands of starts, everything counted afterwards.
soak: all
	@deploy/packages build test
	@integration/soak/run

# Longer: every whole-binary test, containerd and podman on cgroup v2 and an older kernel, in two virtual machines.
vm: all
	@deploy/packages build test engines vm
	@integration/vm/check --all

# Longer: random input for the parsers of grants, ceilings and config.json, FUZZ_SECONDS for each.
FUZZ_SECONDS ?= 600
fuzz:
	@deploy/packages build fuzz
	@cmake -S . -B build-fuzz -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCMAKE_CXX_COMPILER=clang++-14 -DRUNG_FUZZ=ON \
		-DRUNG_SANITIZE=ON -DRUNG_TESTS=OFF >/dev/null
	@ninja -C build-fuzz -j $(JOBS) --quiet fuzz_grant fuzz_ceiling fuzz_config
	@tests/fuzz/run build-fuzz $(FUZZ_SECONDS)

tidy:
	@deploy/packages build test
	@tests/tidy

format:
	@find cmd lib tests integration -name '*.[ch]pp' -print0 | xargs -0 clang-format-14 -i

install: all
	install -D -m 0755 $(BUILD)/rung $(DESTDIR)$(PREFIX)/bin/rung
	install -D -m 0755 $(BUILD)/rung-systemd $(DESTDIR)$(PREFIX)/libexec/rung/rung-systemd
	install -D -m 0644 docs/man/rung.1 $(DESTDIR)$(PREFIX)/share/man/man1/rung.1
	install -D -m 0644 docs/man/rung-grant.5 $(DESTDIR)$(PREFIX)/share/man/man5/rung-grant.5

uninstall:
	rm -f $(DESTDIR)$(PREFIX)/bin/rung $(DESTDIR)$(PREFIX)/libexec/rung/rung-systemd
	rm -f $(DESTDIR)$(PREFIX)/share/man/man1/rung.1 $(DESTDIR)$(PREFIX)/share/man/man5/rung-grant.5
	-rmdir $(DESTDIR)$(PREFIX)/libexec/rung 2>/dev/null

clean:
	rm -rf build build-sanitize build-clang build-fuzz
