# The one list of commands. Each sets up what it needs in .venv, says what it does, and is quick the second time.

PYTHON ?= python3
RUN = .venv/bin/python
TOLD = $(if $(MACHINE),--machine "$(MACHINE)")
# Where Python may not keep what it compiled, each of the hundreds of processes of `make test` compiles it all again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help python book port serve live lab check test test-all test-rest test-weekly mutants test-chapters test-variants test-gpu test-colab refresh models test-models chapter exercises grade pdf zip preview release bench links lock newest clean ready-lab ready-book ready-model ready-tests ready-browsers

help: ## list the commands
	@sed -n 's/^\([a-z-]*\):.*## /\1|/p' Makefile | while IFS='|' read -r name words; do printf '  make %-14s %s\n' "$$name" "$$words"; done

book: ready-book ## build the site into _build/html (only when something changed)
	@$(RUN) -m tools.site.build

port: # what is none is told before the site is built
	@[ -z "$(PORT)" ] || { [ "$(PORT)" -ge 0 ] && [ "$(PORT)" -lt 65536 ]; } 2>/dev/null || \
		{ echo "$(MAKECMDGOALS): a port is a number below 65536, as in \`make $(MAKECMDGOALS) PORT=8000\`: $(PORT) is none" >&2; exit 1; }

serve: port book ## build, serve on this machine only, and print the address (PORT=8000)
	@$(RUN) -m tools.site.server $(PORT)

live: port ready-model book ## as `make serve`, with kernels of this machine: the code in the pages can be run (PORT=8000)
	@$(RUN) -m tools.site.live $(PORT)

lab: ready-lab ## open the chapters in JupyterLab
	@$(RUN) -m tools.lab

test: ready-tests ## run every chapter, package and exercise, and a page of each kind, in minutes (MACHINE=avx2: as on a plainer processor)
	@$(RUN) -m tools.testing.run $(TOLD)

test-all: ready-tests ## run all that each push asks, also what takes long and finds little that `make test` does not
	@$(RUN) -m tools.testing.run --all $(TOLD)

test-rest: ready-tests ## run what `make test` leaves to `make test-all`, and no more
	@$(RUN) -m tools.testing.run --rest $(TOLD)

test-weekly: ready-tests ## run what GitHub asks once a week, and no more: all pages in each way, other viewers and processors
	@$(RUN) -m tools.testing.run --weekly $(TOLD)

mutants: ready-tests ## make sixty lines of the code wrong, one at a time: which do the tests not notice? (SEED=2026-11-30: those of that day)
	@$(RUN) -m tools.testing.mutants $(if $(SEED),--seed $(SEED))

check: ready-browsers ## run what an edit touches, in seconds
	@$(RUN) -m tools.testing.check

test-chapters: ready-tests ## run the chapters and the packages' tests, without the site: what a Python or a processor can change
	@$(RUN) -m tools.testing.run --chapters $(TOLD)

test-variants: ready-tests ## run the chapters with 1 and 2 threads, and as on plainer processors
	@$(RUN) -m tools.testing.run --variants

test-gpu: ready-tests ## run the chapters on the GPU; fails where there is none
	@$(RUN) -m tools.testing.run --gpu

test-colab: ## run the chapters in Colab's own image (needs docker, and disk for a large image)
	@command -v docker >/dev/null || { echo "test: there is no docker to run Colab's image with" >&2; exit 1; }
	@docker run --rm --volume "$(CURDIR):/content/attention-measured:ro" --workdir /content/attention-measured \
		--entrypoint python3 us-docker.pkg.dev/colab-images/public/cpu-runtime -m tools.colab

refresh: ready-model ## re-execute the chapters that changed (ALL=1: all) and store clean outputs
	@$(RUN) -m tools.chapters.refresh $(if $(ALL),--all)

models: ready-model ## train the models that take longer than a chapter may, and store their weights in src/models
	@$(RUN) -m tools.chapters.models
	@$(RUN) -m tools.chapters.trainings

test-models: ready-model ## train them from another seed, and see whether their chapters' claims still hold
	@$(RUN) -m tools.chapters.models --fresh
	@$(RUN) -m chapters.the_transformer.seeds

chapter: ready-book ## make a new chapter: NAME=long-and-fast TITLE="Long and fast" PART="What goes in"
	@$(RUN) -m tools.chapters.new_chapter "$(NAME)" "$(TITLE)" "$(PART)"

exercises: ready-book ## write the hand-outs for a course: the chapters without solutions, and the solutions
	@$(RUN) -m tools.chapters.editions

grade: ready-model ## run hand-ins again and write who passed what: FOLDER=hand-ins (TRUST=1: without walls, too)
	@$(RUN) -m tools.grade "$(FOLDER)" $(if $(TRUST),--trust)

pdf: ready-browsers ## print the whole book to _build/attention-measured.pdf
	@$(RUN) -m tools.site.pdf

zip: book ## pack the site for a machine without a network
	@$(RUN) -m zipfile -c _build/attention-measured.zip _build/html/
	@echo "zip: _build/attention-measured.zip is ready: unpack it and open index.html"

preview: ready-browsers book ## draw the README's moving picture from the built site
	@$(RUN) -m tools.site.preview

release: zip pdf exercises ## pack the site, the PDF and the hand-outs of this version into _build/release
	@$(RUN) -m tools.release

bench: ready-browsers ## measure speed, memory and page weight, side by side in one run
	@$(RUN) -m tools.bench.the_package
	@$(RUN) -m tools.bench.the_site

links: ready-book ## check the links that lead out of the book
	@$(RUN) -m tools.site.links

lock: ready-tests ## re-resolve constraints.txt and Binder's list after an edit of a requirements file
	@.venv/bin/uv pip compile --quiet --universal --fork-strategy fewest --python-version 3.11 \
		--no-header --no-annotate --generate-hashes --upgrade tests/requirements.txt -o constraints.txt
	@$(RUN) -m tools.binder

newest: python ## run everything with the newest versions in place of the pinned ones, to see what will break
	@$(PYTHON) tools/environment.py newest
	@$(RUN) -m tools.testing.run --all

clean: ## remove what the commands above made
	rm -rf .venv _build node_modules .pytest_cache .hypothesis .mypy_cache .ruff_cache

ready-lab: python
	@$(PYTHON) tools/environment.py lab

ready-book: python
	@$(PYTHON) tools/environment.py book

ready-model: python
	@$(PYTHON) tools/environment.py model

ready-tests: python
	@$(PYTHON) tools/environment.py tests

ready-browsers: ready-tests
	@$(RUN) -m tools.site.browser

python:
	@command -v $(PYTHON) >/dev/null || { echo "setup: there is no $(PYTHON): install Python 3.11 or newer" >&2; exit 1; }
