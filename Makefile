# `make lab` runs Lab 8 and `make test` runs all tests; both set up what is
# missing first. On a machine that has all of it, set-up takes no time.

LONGFAT := .venv/bin/longfat

.PHONY: lab test check bench lock clean

lab:
	@tools/setup.sh lab
	@$(LONGFAT) kernel build $$(head -n 1 .venv/kernels) >/dev/null
	@$(LONGFAT) run labs/lab08 --kernel $$(head -n 1 .venv/kernels)

test:
	@tools/setup.sh test
	@$(LONGFAT) kernel build $$(cat .venv/kernels) >/dev/null
	@$(MAKE) --no-print-directory check
	.venv/bin/pytest -n auto --dist loadgroup

check:
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy

bench:
	@tools/setup.sh test
	.venv/bin/python benchmarks/speed.py

# Needs uv. Every version is pinned with its hashes; no index is named.
UV_LOCK = uv pip compile -q --universal --python-version 3.11 --generate-hashes --no-header --no-annotate
lock:
	$(UV_LOCK) pyproject.toml tools/build.in -o requirements.lock
	$(UV_LOCK) --extra dev pyproject.toml tools/build.in -c requirements.lock -o requirements-dev.lock

clean:
	rm -rf .venv runs
