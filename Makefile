# `make lab` runs Lab 8, `make studio` opens the studio in the browser, and
# `make test` runs the tests; each sets up what is missing first. On a machine
# that has all of it, set-up takes no time.

LONGFAT := .venv/bin/longfat

# What a machine needs: kernels, and its programs.
KERNEL = $(LONGFAT) kernel build $$(head -n 1 .venv/kernels) >/dev/null
KERNELS = $(LONGFAT) kernel build $$(cat .venv/kernels) >/dev/null
TOOLS = $(LONGFAT) tools build >/dev/null

.PHONY: lab machine report-script studio web test test-slow test-long check check-python check-web docs bench screenshots dist matrix lock clean

lab:
	@tools/setup.sh lab
	@$(MAKE) --no-print-directory -j 2 machine report-script
	@$(LONGFAT) run labs/lab08 --kernel $$(head -n 1 .venv/kernels)
	@[ "$$(command -v longfat)" = "$(CURDIR)/$(LONGFAT)" ] \
		|| echo 'To call longfat by its name in this shell: . .venv/bin/activate'

# The tools are downloaded while the kernel is compiled.
machine:
	@$(TOOLS) & tools=$$!; $(KERNEL) && wait $$tools

# What draws the charts of report pages: from TypeScript in web/ to files in the Python package.
# Without it, reports have the figures, and no charts to zoom in.
SCRIPT = src/longfat/output/report/bundle/report.js
report-script:
	@if command -v npm >/dev/null; then $(MAKE) --no-print-directory $(SCRIPT); fi

studio: web machine
	@$(LONGFAT) studio

# The studio's page, likewise.
PAGE = src/longfat/studio/static/index.html
web:
	@tools/setup.sh studio
	@$(MAKE) --no-print-directory $(PAGE) $(SCRIPT)

WEB = web/node_modules/.package-lock.json $(shell find web/src -type f)

$(PAGE): $(WEB) web/index.html web/vite.config.ts web/vite.teacher.config.ts
	cd web && npm run --silent build -- --logLevel warn
	cd web && npm run --silent build:teacher -- --logLevel warn

$(SCRIPT): $(WEB) web/vite.report.config.ts
	cd web && npm run --silent build:report -- --logLevel warn

web/node_modules/.package-lock.json: web/package.json web/package-lock.json
	cd web && npm ci --silent --no-progress
	@touch $@

# Each of some thousand processes would else compile longfat again.
PYTEST = env -u PYTHONDONTWRITEBYTECODE .venv/bin/pytest
# Every behaviour once, on the labs' kernel alone.
test:
	@tools/setup.sh test
	@$(MAKE) --no-print-directory machine $(PAGE) $(SCRIPT)
	@$(MAKE) --no-print-directory -j 2 --output-sync check
	@# A load on the machine can break a test that waits for a browser or a process. What failed
	@# runs once more, alone; a defect fails again. The results of both are printed.
	$(PYTEST) -n auto --dist loadgroup || { [ $$? = 1 ] && $(PYTEST) --last-failed; }

# The other kernels, builds and machines that are killed, clusters, students who cheat,
# packetdrill's scripts of the kernels, labs typed by hand.
test-slow:
	@tools/setup.sh test
	@$(KERNELS)
	@$(TOOLS)
	@$(MAKE) --no-print-directory $(PAGE) $(SCRIPT)
	$(PYTEST) -m 'slow and not long' -n auto --dist loadgroup || { [ $$? = 1 ] && $(PYTEST) -m 'slow and not long' --last-failed; }

# Whole labs: typed at a person's speed, and each figure of their texts. Hours.
test-long:
	@tools/setup.sh test
	@$(KERNELS)
	@$(TOOLS)
	@$(MAKE) --no-print-directory $(PAGE) $(SCRIPT)
	$(PYTEST) -m long --timeout 7200

check: check-python check-web

check-python:
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

check-web:
	cd web && npm run --silent check

# The documentation as a site, in build/site. RESULTS=yes runs the tutorial, and the studies of
# the gallery, for their output and figures.
docs:
	@tools/setup.sh test
	.venv/bin/python -m tools.site build/site $(if $(RESULTS),--results)

bench:
	@tools/setup.sh test
	.venv/bin/python benchmarks/speed.py

# Wheels of longfat, of the kernels that are built and of the pinned tools, for hosts that cannot build any.
dist: web
	@$(KERNELS)
	@$(TOOLS)
	@.venv/bin/python -m tools.dist dist

# What the README promises, tried on fresh Debian machines (docs/platforms.md). Needs root
# and debootstrap. MATRIX='--release trixie --what lab' tries a part of it.
matrix: dist
	.venv/bin/python -m tools.matrix $(MATRIX)

# The pictures of the studio in docs/images.
screenshots:
	@tools/setup.sh test
	@$(MAKE) --no-print-directory machine $(PAGE)
	.venv/bin/python -m tools.screenshots

# Needs uv. Every version is pinned with its hashes; no index is named.
UV_LOCK = uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
lock:
	$(UV_LOCK) --extra dev pyproject.toml tools/build.in -o requirements-dev.lock
	$(UV_LOCK) --extra lab pyproject.toml tools/build.in -c requirements-dev.lock -o requirements-lab.lock
	$(UV_LOCK) --extra lab --extra studio pyproject.toml tools/build.in -c requirements-dev.lock -o requirements-studio.lock

clean:
	rm -rf .venv runs web/node_modules src/longfat/studio/static src/longfat/output/report/bundle
