# The commands of this repository. On a machine with Rust (rustup) and a C compiler, `make demo` and
# `make test` need nothing done before; on Debian, `make test` installs what it tests with.

# The experiments whose figures docs/validation/articles.md compares with published ones.
PUBLISHED := tempdb-ssd-vs-premium tempdb-scale-out ultra-vs-premium-pool managed-instance-files
# Not those that only a real server can run.
OF_SERVERS := postgres-io-method
EVERY := $(filter-out $(OF_SERVERS),$(basename $(notdir $(wildcard crates/experiment/experiments/*.toml))))
REST := $(filter-out $(PUBLISHED),$(EVERY))

# SQLite's C code is compiled for the first platform only; scripts/check-target says how the others
# are checked.
TARGETS := x86_64-pc-windows-gnu aarch64-apple-darwin
# Those that this machine can run.
RUN_TARGETS := x86_64-pc-windows-gnu aarch64-unknown-linux-gnu

CARGO_DENY_VERSION := 0.20.2
# Tools of the build's own, beside what else is built. What runs once is not optimised: that takes longer than it saves.
TOOLS := $(or $(CARGO_TARGET_DIR),target)/tools
CARGO_DENY := $(or $(shell command -v cargo-deny),$(TOOLS)/bin/cargo-deny)

CARGO_MUTANTS_VERSION := 27.1.0
CARGO_FUZZ_VERSION := 0.13.2

# Simulate needs neither PostgreSQL nor SQL Server: without them dbstow builds in a fraction of the time.
LEAN := --profile lean --package dbstow --no-default-features
DBSTOW := cargo run --quiet $(LEAN) --

# One thing at a time: cargo uses all cores by itself.
.NOTPARALLEL:

.PHONY: help demo demo-all test test-long test-platforms test-packages check validate bench installcheck test-sqlserver audit mutants mutants-model mutants-statistics fuzz vendor screenshots reference format dist distcheck distcheck-release packages fmt clippy unit suite docs crates cross foreign web clean

help: ## Say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-14s %s\n", $$1, $$2 }' Makefile

demo: ## Run the four published experiments, print their tables and make their pages
	@scripts/build-demo $(LEAN)
	@rm -rf target/demo && mkdir -p target/demo
	@$(call run_each,$(PUBLISHED))

demo-all: demo ## The same, then every other built-in experiment; the longest takes 12 minutes
	@$(call run_each,$(REST))

run_each = set -e; for name in $(1); do $(DBSTOW) run $$name --out target/demo/$$name; echo; done

test: packages fmt suite ## Pass the tests of this platform, apart from long ones, and clippy

# Clippy compiles our crates for all that runs the tests, and looks at them on the way. A run of its own would first check every crate of
# others once more.
test test-long suite web distcheck: export RUSTC_WORKSPACE_WRAPPER := clippy-driver
test test-long suite web distcheck: export CLIPPY_ARGS := --deny__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__

# Each says beside its name why it takes long: grep -rn 'ignore = "long' crates
test-long: export DBSTOW_SKIP_NOTHING := 1
test-long: packages ## Pass those that take long
	scripts/with-uring scripts/suite --long

# Apart from `test`, since few changes touch them; CI runs them all.
test-platforms: cross foreign web ## Check that other platforms compile, run for Windows and Arm, and that the page answers in a browser

test-packages: crates docs distcheck ## Check that packages build without optional features and are documented, and that the wheel installs in a bare Debian

check: fmt clippy unit ## The quick part of it: formatting, lints, unit tests

validate: ## Compare the model with published figures, print what changed, and how many intervals hold what was published
	scripts/validate
	scripts/coverage

bench: packages ## Measure the model, the whole program, the clients beside pgbench and sysbench, simulate beside emulate, emulated volumes beside peers, and drills
	cargo bench --package dbstow-model
	scripts/bench
	scripts/bench-speed
	scripts/bench-client
	scripts/bench-cells
	scripts/bench-profile
	scripts/bench-advise
	scripts/bench-advise --times
	scripts/bench-drill
	scripts/bench-rehearse
	LOAD=sysbench scripts/bench-rehearse
	scripts/bench-replay
	scripts/with-uring cargo bench --package dbstow --bench accuracy
	scripts/with-uring cargo bench --package dbstow --bench cost
	cargo bench --package dbstow --bench recorded

installcheck: packages ## Run PostgreSQL's own regression tests on emulated volumes
	scripts/installcheck

# Not part of `test`: it needs a server of Microsoft's, which nobody has to have.
test-sqlserver: ## Hold dbstow against a SQL Server: SERVER=.. [VOLUMES="d=DIR f=DIR"] [RESTART=COMMAND]
	scripts/test-sqlserver "$(SERVER)" "$(VOLUMES)" "$(RESTART)"

# Not part of `test`: it asks a database on the network, and a new advisory would turn a commit red that
# nobody has touched. Run it before a release, and on a schedule. What deny.toml says of licences, sources and bans is also
# held by `test` (crates/dbstow/tests/documents/dependencies.rs), which need not compile cargo-deny for that.
audit: $(CARGO_DENY) ## Look the dependencies up in the database of security advisories; check licences and sources
	$(CARGO_DENY) check

# Not part of `test`: hours for the model.
# What survives, and why it may, stands in crates/model/mutants.md.
mutants: mutants-model mutants-statistics ## Change the model and the statistics, and see which changes no test notices

# SHARD=1/8, say, takes one eighth of them.
MUTANTS = $(if $(SHARD),--shard $(SHARD)) --baseline run --jobs 1 --timeout 120 --output target/$@

mutants-model: $(TOOLS)/bin/cargo-mutants
	PROPTEST_CASES=64 $(TOOLS)/bin/cargo-mutants mutants $(MUTANTS) --package dbstow-model

mutants-statistics: $(TOOLS)/bin/cargo-mutants
	$(TOOLS)/bin/cargo-mutants mutants $(MUTANTS) --package dbstow-analysis \
		--file 'crates/analysis/src/statistics/*.rs' -- --lib statistics::

# Not part of `test`, which runs the same targets over their corpora and edited files of them.
# Needs a C++ compiler; FUZZED names some of the targets only.
fuzz: $(TOOLS)/bin/cargo-fuzz ## Look for inputs that break a reader, SECONDS=.. for each target
	scripts/fuzz "$(SECONDS)" $(FUZZED)

screenshots: ## Make the pictures of the README
	scripts/screenshots

dist: ## Build the packages of this version for this machine: archive, .deb, .rpm, wheel
	scripts/dist

vendor: ## Bring the charts' library into the tree again
	scripts/vendor-uplot

reference: ## Make the tables of keys in FORMAT.md of the types that read the files
	DBSTOW_WRITE_DOCUMENTS=1 cargo test --package dbstow --test documents -- tables_of_keys

format: ## Format the code
	cargo fmt --all

packages:
	scripts/packages

fmt:
	cargo fmt --all --check

clippy:
	cargo clippy --workspace --all-targets --locked -- --deny warnings

unit:
	cargo test --workspace --locked --lib --bins

# Here a test that cannot run is a failure; a plain `cargo test` says that it skips it.
suite: export DBSTOW_SKIP_NOTHING := 1
suite: packages
	scripts/with-uring scripts/suite

# Also builds dbstow and the lab without their optional features.
crates:
	scripts/check-packages

docs:
	RUSTDOCFLAGS="--deny warnings" cargo doc --workspace --lib --examples --locked --no-deps

$(TOOLS)/bin/cargo-deny:
	cargo install --debug --locked --version $(CARGO_DENY_VERSION) --root $(TOOLS) --target-dir $(TOOLS)/build cargo-deny

$(TOOLS)/bin/cargo-mutants:
	cargo install --locked --version $(CARGO_MUTANTS_VERSION) --root $(TOOLS) --target-dir $(TOOLS)/build cargo-mutants

$(TOOLS)/bin/cargo-fuzz:
	cargo install --locked --version $(CARGO_FUZZ_VERSION) --root $(TOOLS) --target-dir $(TOOLS)/build cargo-fuzz

cross:
	@for target in $(TARGETS); do scripts/check-target $$target || exit 1; done

# Needs root and Debian, for Wine and qemu.
foreign:
	@for target in $(RUN_TARGETS); do scripts/run-foreign $$target || exit 1; done

web: packages
	scripts/check-web

# Needs root, and a Debian system for its release.
distcheck: packages
	scripts/check-dist

# Not part of `test-packages`, which checks the wheel with the program of the tests: a release is compiled for 20 minutes of
# processor time. Run it before a release, and on a schedule.
distcheck-release: packages ## Install and run wheel and Debian package as they are released, and check the program's size
	scripts/check-dist --release

clean: ## Remove everything that was built, and the demo's results
	cargo clean
