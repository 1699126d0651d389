# `make help` lists the targets. Each first installs what it needs (scripts/setup.sh).

SHELL := /bin/bash
.DELETE_ON_ERROR:
.DEFAULT_GOAL := build

# rustup installs cargo here, and a shell opened earlier does not have it in its PATH yet.
export PATH := $(or $(CARGO_HOME),$(HOME)/.cargo)/bin:$(PATH)

PAGE := crates/report/page/report.html
MODULES := web/node_modules/.package-lock.json
PAGE_SOURCES := $(shell find web/src web/report.html web/site.html web/vite.config.ts web/tsconfig.json -type f)
STEELYARD := target/release/steelyard
DEMO := demo-results
# What `steelyard --version` says; nothing outside a repository.
COMMIT = $(shell git describe --always --dirty --abbrev=12 --exclude '*' 2> /dev/null)

.PHONY: help
help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 16

.PHONY: build
build: setup-build $(PAGE) ## build the command: target/release/steelyard
	STEELYARD_COMMIT=$(COMMIT) cargo build --release --locked -p steelyard

.PHONY: demo
demo: setup-demo build ## compare Postgres 13.7 with 18.1: verdicts here, a page in demo-results/
	$(STEELYARD) run plans/demo.toml --results $(DEMO)
	$(STEELYARD) count plans/demo.toml --results $(DEMO)
	@$(STEELYARD) report --results $(DEMO) -o $(DEMO)/report.html > /dev/null
	@echo
	@echo "The report: file://$(CURDIR)/$(DEMO)/report.html"
	@echo "All of it in the browser: $(STEELYARD) serve --results $(DEMO)"

.PHONY: test
test: setup-test $(PAGE) ## run formatting, lints, tests, the page in a browser: ten minutes
	scripts/test.sh

.PHONY: long
long: setup-test $(PAGE) ## run the longer tests, which make test leaves out: ten minutes more
	scripts/test.sh long

.PHONY: check
check: setup-test $(PAGE) ## run formatting, lints and unit tests, while you work
	scripts/test.sh check

.PHONY: bench
bench: setup-bench $(PAGE) ## measure steelyard's own cost, next to pgbench, sysbench and db_bench: BENCHMARKS.md
	cargo run --release --locked -p bench
	cargo run --release --locked -p bench -- sysbench
	cargo run --release --locked -p bench -- scripts
	cargo run --release --locked -p bench -- mysql
	cargo run --release --locked -p bench -- kv
	cargo test --release --locked -p steelyard-drive -p steelyard-probe -p steelyard-report \
		-p steelyard-store --lib --test room -- --ignored --nocapture --test-threads 1
	cd web && npm run --silent test:browser -- --bounds
	@echo "How soon planted differences are found is measured by make race, in up to 18 hours."

.PHONY: workloads
workloads: build setup-test ## TPC-C, TPC-H and YCSB alike on every system, in 50 minutes: BENCHMARKS.md
	cargo run --release --locked -p bench -- workloads --document BENCHMARKS.md

.PHONY: pages
pages: build ## how quickly pages load and commands finish with a million step results, in 15 minutes: BENCHMARKS.md
	cargo run --release --locked -p bench -- pages --document BENCHMARKS.md

.PHONY: bisect
bisect: build setup-test setup-validate ## search histories whose culprits are known, in three hours: BENCHMARKS.md
	cargo run --release --locked -p bench -- bisect --slowdowns --runs --document BENCHMARKS.md

RACE := cargo run --release --locked -p bench -- race
.PHONY: race
race: build setup-test setup-validate ## how soon planted differences are found: BENCHMARKS.md; up to 18 hours
	$(RACE) plant
	$(RACE) live --build minus-5 --budget 2m
	$(RACE) live --build minus-2 --budget 5m
	$(RACE) live --build same-again --budget 5m --runs 40
	$(RACE) live --build update-minus-5 --budget 2m
	$(RACE) live --build update-minus-2 --budget 5m
	$(RACE) live --build update-same-again --budget 2m --runs 40
	for subject in read innodb puts; do \
		$(RACE) live --build $$subject-minus-5 --budget 5m && \
		$(RACE) live --build $$subject-same-again --budget 5m || exit; \
	done
	$(RACE) live --loaded --build minus-5 --budget 4m
	$(RACE) live --loaded --build minus-2 --budget 10m
	$(RACE) live --loaded --build same-again --budget 5m
	$(RACE) live --loaded --build update-minus-5 --budget 4m
	$(RACE) live --loaded --build update-minus-2 --budget 5m
	$(RACE) live --loaded --build update-same-again --budget 5m
	$(RACE) judge --document BENCHMARKS.md

.PHONY: validate
validate: setup-test setup-validate $(PAGE) ## simulate experiments with known truth: VALIDATION.md; long tests
	PROPTEST_RNG_SEED=$$(od -An -N4 -tu4 /dev/urandom | tr -d ' ') scripts/test.sh check
	cargo run --release --locked -p validate -- --document VALIDATION.md
	cargo test --locked -p steelyard-dbms -p steelyard --test room --test command -- --ignored --nocapture --test-threads 1

.PHONY: docs
docs: setup-docs ## make a site of this documentation: target/docs-site/index.html
	@rm -rf target/docs-site
	@[ -x target/release/steelyard ] || [ -x target/debug/steelyard ] || $(MAKE) build
	@target/sphinx/bin/sphinx-build -qEW --keep-going -c scripts/docs -d target/docs-read . target/docs-site
	@echo "The documentation: file://$(CURDIR)/target/docs-site/index.html"

.PHONY: web
web: setup-build $(PAGE) ## build only the pages of a report and a site

.PHONY: dist
dist: setup-dist $(PAGE) ## make what people install, for x86-64 and aarch64: dist/
	scripts/dist.sh

.PHONY: dist-check
dist-check: setup-dist-check ## install what is in dist/ into empty systems, run it, remove it
	scripts/dist-check.sh

.PHONY: crates
crates: setup-build $(PAGE) ## make what would be published as crates, and compile the command from it
	scripts/crates.sh

.PHONY: audit
audit: setup-audit ## licenses and sources of all crates; known vulnerabilities, if they can be fetched
	scripts/audit.sh

.PHONY: clean
clean: ## remove build output, packages and the demo's results (not the cache of servers)
	cargo clean
	rm -rf dist crates/report/page crates/site/app web/node_modules $(DEMO)

.PHONY: setup-build setup-demo setup-test setup-bench setup-validate setup-docs setup-dist setup-dist-check setup-audit
setup-build setup-demo setup-test setup-bench setup-validate setup-docs setup-dist setup-dist-check setup-audit: setup-%:
	@scripts/setup.sh $*

$(MODULES): web/package.json web/package-lock.json | setup-build
	cd web && npm ci --no-audit --no-fund
	@touch $@

$(PAGE): $(MODULES) $(PAGE_SOURCES) | setup-build
	cd web && npm run --silent build
	@touch $@
