# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#
# Main targets. Scripts for guests are in tools/vm; `make help` lists the
# targets.

PREFIX ?= /usr/local
DESTDIR ?=
KDIR ?= /lib/modules/$(shell uname -r)/build
UDEVDIR ?= /usr/lib/udev/rules.d
export V PREFIX DESTDIR

BUILD := $(CURDIR)/build
KBUILD_OUT := $(BUILD)/kernel/host
HOST_OUT := $(BUILD)/host
KSELFTEST_INC := $(BUILD)/kernel-tools
# With the +, the makefile in the folder shares the jobs of `make -j`.
SUBMAKE = +$(MAKE) O=$(HOST_OUT)
RULES := tools/udev/90-angara.rules

.PHONY: all
all: modules user ## build everything for this machine (the default)

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  \1\t\2/p' $(MAKEFILE_LIST) | \
		expand -t 20

## For this machine

.PHONY: modules
modules: ## build the kernel modules for the running kernel (or KDIR=)
ifeq ($(wildcard $(KDIR)/Makefile),)
	@echo "==> modules skipped: no kernel headers in $(KDIR);" \
		"install linux-headers-$$(uname -r) or set KDIR="
else
	@tools/mirror $(KBUILD_OUT)
	$(MAKE) -C $(KDIR) M=$(KBUILD_OUT) modules
endif

.PHONY: user
user: ## build library and tools
	$(SUBMAKE) -C libangara all
	$(SUBMAKE) -C libangara/ofi all
	$(SUBMAKE) -C libangara/shmem all
	$(SUBMAKE) -C libangara/mpi all
	$(SUBMAKE) -C tools all

.PHONY: install
install: ## install everything (PREFIX=, DESTDIR=)
	@[ -e $(KBUILD_OUT)/modules.order ] || \
		echo "==> modules not installed: none were built"
	[ ! -e $(KBUILD_OUT)/modules.order ] || \
		$(MAKE) -C $(KDIR) M=$(KBUILD_OUT) \
			INSTALL_MOD_PATH=$(DESTDIR) modules_install
	$(if $(DESTDIR),,! [ -e $(KBUILD_OUT)/modules.order ] || depmod)
	$(SUBMAKE) -C libangara install
	$(SUBMAKE) -C libangara/ofi install
	$(SUBMAKE) -C libangara/shmem install
	$(SUBMAKE) -C libangara/mpi install
	$(SUBMAKE) -C tools install
	install -D -m 644 $(RULES) $(DESTDIR)$(UDEVDIR)/$(notdir $(RULES))
	$(if $(DESTDIR),,getent group angara >/dev/null || \
		groupadd --system angara)
	$(if $(DESTDIR),,ldconfig)

.PHONY: htmldocs
htmldocs: ## build the documents as HTML: build/html/index.html
	@command -v sphinx-build >/dev/null || { echo "htmldocs: no sphinx-build:" \
		"install the package python3-sphinx" >&2; exit 1; }
	@sphinx-build -q -W --keep-going -b html -d $(BUILD)/html/.doctrees \
		Documentation $(BUILD)/html
	@echo "==> $(BUILD)/html/index.html"

.PHONY: deb
deb: ## build Debian packages: build/deb/*.deb
	@tools/deb/build

.PHONY: clean
clean: ## remove build output, except the guest root
	rm -rf $(BUILD)/kernel $(BUILD)/host $(BUILD)/guest-user $(BUILD)/variant \
		$(BUILD)/deb $(BUILD)/html

.PHONY: distclean
distclean: ## remove all of build/, including the guest root
	rm -rf $(BUILD) 2>/dev/null || sudo rm -rf $(BUILD)

## In guests

.PHONY: setup
setup: ## install packages, make the guest root (once)
	@tools/vm/setup

.PHONY: guest-modules
guest-modules: setup ## build the modules for every guest kernel
	@tools/vm/build modules

.PHONY: guest-user
guest-user: setup ## build library, tools and tests for guests
	@tools/vm/build user

.PHONY: debug-kernels
debug-kernels: setup ## build the kernels debug and kcsan (once, 10 minutes each)
	@tools/vm/debug-kernel $(KERNEL)

.PHONY: demo
demo: setup ## load the driver in a guest and run applications on it
	@tools/vm/build modules 6.12
	@tools/vm/build user
	@echo "==> booting a guest: kernel 6.12, torus 2x2x2"
	@tools/vm/run --kernel 6.12 --loop 2x2x2 -- tools/demo/run

.PHONY: shell
shell: setup ## a shell in a guest with the driver loaded
	@tools/vm/build modules 6.12
	@tools/vm/build user
	@tools/vm/run --timeout 0

.PHONY: cluster
cluster: setup ## a shell in the first of four guests on one fabric (DIMS=2x2x1)
	@tools/vm/build modules 6.12
	@tools/vm/build user
	@tools/vm/cluster --timeout 0 --dims $(or $(DIMS),2x2x1)

## Speed

.PHONY: bench
bench: setup ## compare with Open MPI and MPICH (QUICK=1: a few minutes)
	@tools/bench/run $(if $(QUICK),--quick)
	@tools/bench/run --busy $(if $(QUICK),--quick)
	@tools/bench/ofi $(if $(QUICK),--quick)
	@tools/bench/floors --picture $(BUILD)/bench/floors.png $(BUILD)/bench/report.csv \
		$(BUILD)/bench/busy.txt

## Figures

.PHONY: paper
paper: ## simulate the published figures: build/paper/report.md (QUICK=1: a part; FULL=1: SpMV with all rows, hours; SPEED=1: speed only)
	@$(SUBMAKE) -s -C libangara all
	@$(SUBMAKE) -s -C tools/apps all
	@$(SUBMAKE) -s -C tools/sim all
	@tools/sim/paper/paper --sim $(HOST_OUT)/bin/angara-sim --apps $(HOST_OUT)/bin \
		--out $(BUILD)/paper$(if $(QUICK),/quick --quick)$(if $(FULL), --full)$(if $(SPEED), --speed)

.PHONY: topologies
topologies: ## compare topologies: build/topologies/report.md (QUICK=1: a part)
	@$(SUBMAKE) -s -C libangara all
	@$(SUBMAKE) -s -C tools/topo all
	@$(SUBMAKE) -s -C tools/sim all
	@tools/topo/report $(HOST_OUT)/bin/angara-topo \
		$(BUILD)/topologies$(if $(QUICK),/quick) \
		$(HOST_OUT)/bin/angara-sim $(if $(QUICK),--quick)

.PHONY: algorithms
algorithms: ## published algorithms of collectives: build/algorithms/report.md (QUICK=1: a part)
	@$(SUBMAKE) -s -C libangara all
	@$(SUBMAKE) -s -C tools/algo all
	@tools/algo/report $(HOST_OUT)/bin/angara-algo \
		$(BUILD)/algorithms$(if $(QUICK),/quick --quick)

## Tests

# A recipe with a leading + shares the jobs of `make -j`, but also runs with `make -n`. Then PROVE
# begins with `: `, so that no tests run.
PROVE = $(if $(findstring n,$(firstword -$(MAKEFLAGS))),: )selftests/prove

.PHONY: check
check: setup ## run all tests (T=embed: only that one)
	@+$(PROVE) $(or $(T),host build guest)

# Tests without a guest, which take longer than other tests.
LONG_HOST := $(shell sed -n 's|^first host/\(.*\)|selftests/host/\1.t|p' \
	selftests/schedule)

.PHONY: check-host
check-host: setup ## run the quick tests that need no guest
	@+$(PROVE) $(filter-out $(LONG_HOST), \
		$(sort $(wildcard selftests/host/*.t)))

.PHONY: check-user
check-user: setup ## run the tests of embedded fabrics, benchmarks, simulator, server
	@+$(PROVE) $(LONG_HOST)

.PHONY: check-build
check-build: setup ## build the modules with all warnings, for every kernel
	@+$(PROVE) build

.PHONY: check-guest
check-guest: setup ## run the tests that boot guests
	@+$(PROVE) selftests/build/guest.t guest

.PHONY: fuzz
fuzz: ## fuzz the device model and its server (SECONDS=60 each, TARGET=fuzz_device)
	@selftests/fuzz/setup
	@selftests/fuzz/run $(or $(SECONDS),60) $(TARGET)

.PHONY: fuzz-proof
fuzz-proof: ## show that the fuzzers find inserted faults
	@selftests/fuzz/setup
	@+LIMIT=0 FUZZ_PROOF=1 $(PROVE) selftests/host/fuzz.t

.PHONY: fuzz-kernel
fuzz-kernel: debug-kernels ## fuzz the driver in a guest (SECONDS=60, SEED=, THREADS=1)
	@tools/vm/build modules $(or $(KERNEL),debug)
	@tools/vm/build user
	@KERNEL=$(or $(KERNEL),debug) selftests/kfuzz/run \
		--seconds $(or $(SECONDS),60) --threads $(or $(THREADS),1) \
		--seed $(or $(SEED),$$(date +%s))

.PHONY: fuzz-kernel-proof
fuzz-kernel-proof: debug-kernels ## show that fuzz-kernel finds inserted faults
	@tools/vm/build user
	@+LIMIT=0 $(PROVE) selftests/kfuzz/proof.t

.PHONY: cost
cost: ## count instructions per operation, into selftests/embed/cost.txt
	@+UPDATE=1 $(PROVE) selftests/host/cost.t

.PHONY: kill
kill: ## kill processes on embedded fabrics (ROUNDS=1000, SEED=1)
	@+LIMIT=0 ROUNDS=$(or $(ROUNDS),1000) SEED=$(or $(SEED),1) \
		$(PROVE) selftests/host/kill-embedded.t

.PHONY: races
races: ## search for races on embedded fabrics (ROUNDS=5000)
	@+LIMIT=0 ROUNDS=$(or $(ROUNDS),5000) SEEDS="$(or $(SEEDS),1 2 3)" \
		$(PROVE) selftests/host/races-embedded.t

.PHONY: coverage
coverage: setup ## count the lines that tests reach (STEPS=model ...)
	@selftests/coverage/run $(STEPS)

.PHONY: check-sim
check-sim: ## long tests of the simulator: scenarios, saturation, faults, 10^6 nodes
	@+LIMIT=0 $(PROVE) $(wildcard selftests/long/sim*.t)

.PHONY: check-mpi
check-mpi: ## run long tests of MPI programs: 10000 random calls, elements of 2 GiB
	@+LIMIT=0 $(PROVE) selftests/long/mpi.t

.PHONY: check-fabtests
check-fabtests: setup ## run all of libfabric's own tests over the provider
	@+LIMIT=0 $(PROVE) selftests/fabtests/all.t

.PHONY: check-deb
check-deb: setup ## build, check, install, use and remove the Debian packages
	@+LIMIT=0 $(PROVE) selftests/long/deb.t

# Tests with a long form, except two: `make check-sim` runs that of sim-model.t, and
# `make check-kernels` that of kselftest.t.
LONG_FORMS = $(filter-out selftests/host/sim-model.t selftests/guest/kselftest.t, \
	$(shell grep -lwE 'LONG|long_form|amount' selftests/host/*.t selftests/guest/*.t))

.PHONY: check-long
check-long: setup ## run the long forms of tests of which check runs a part
	@+LIMIT=0 LONG=1 SEEDS="1 2 3" $(PROVE) selftests/build/guest.t \
		selftests/long/apps.t selftests/long/install.t $(LONG_FORMS)

.PHONY: check-kernels
check-kernels: setup ## build with all warnings and run the kselftests, on each kernel
	@selftests/fuzz/setup
	@+LIMIT=0 LONG=1 $(PROVE) build selftests/guest/kselftest.t

.PHONY: check-kernels-proof
check-kernels-proof: setup ## show that building for each kernel finds inserted faults
	@+LIMIT=0 $(PROVE) selftests/kernels/proof.t

.PHONY: check-debug
check-debug: debug-kernels ## run tests on debug kernels (KERNEL=debug or kcsan)
	@tools/vm/build user
	@+LIMIT=0 \
		$(PROVE) $(patsubst %,selftests/debug/%.t,$(or $(KERNEL),debug kcsan))

.PHONY: check-debug-proof
check-debug-proof: debug-kernels ## show that check-debug finds inserted faults
	@tools/vm/build user
	@+LIMIT=0 $(PROVE) selftests/debug/proof.t selftests/debug/coverage.t
