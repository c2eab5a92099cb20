# `make` or `make demo`: from a fresh clone to a rewritten, checked kernel. `make test`: everything that must hold.
# Needs python3 (3.11 or newer) with its venv module; the rest is installed into .venv.

.PHONY: demo test lint clean docs
.DEFAULT_GOAL := demo
SHELL := bash
.SHELLFLAGS := -euo pipefail -c

PYTHON ?= python3
VENV := .venv
PY := $(VENV)/bin/python
SKEL := $(VENV)/bin/skel

# Without an NVIDIA GPU the CPU build of torch is installed first, so that no CUDA libraries are fetched. Where PyTorch's
# index cannot be reached, the same version is taken from the package index that pip is set up with. The CPU build names
# no triton; this one is its pair in the CUDA build.
TORCH_CPU ?= torch==2.13.0+cpu
TORCH_PLAIN := $(firstword $(subst +, ,$(TORCH_CPU)))
TRITON ?= triton==3.7.1
TORCH_INDEX ?= https://download.pytorch.org/whl/cpu
PYTEST_ARGS ?= -n auto --maxprocesses 8

HASH := $(shell cat pyproject.toml Makefile | cksum | cut -d' ' -f1)
BASE := $(VENV)/.installed-$(HASH)
EXTRAS := $(VENV)/.installed-test-$(HASH)
WHEELS := .cache/wheels
# NAME@VERSION: make takes an argument with `=` in it for the setting of a variable.
WHEEL_PINS := fla-core@0.6.0 fla-core@0.5.2 sglang@0.5.23 sgl-deep-gemm@0.2.5 einops@0.8.1
DEMO := .cache/demo

demo: $(BASE)
	@mkdir -p $(DEMO)
	@echo; echo '$$ skel search "redundant normalization"'
	@$(SKEL) search "redundant normalization" --db sqlite:///$(DEMO)/skel.sqlite
	@echo; echo '$$ skel apply fuse_vtiles examples/kda_decode.py --no-bench -o $(DEMO)/kda_decode_fuse_vtiles.py'
	@$(SKEL) apply fuse_vtiles examples/kda_decode.py --no-bench \
	  --db sqlite:///$(DEMO)/skel.sqlite -o $(DEMO)/kda_decode_fuse_vtiles.py
	@echo; echo 'What this did: installed skel into $(VENV), searched the skeletons for a symptom, applied the first answer to a'
	@echo 'Kimi-Delta-Attention decode kernel, compiled the candidates, and compared the chosen one with the original and with'
	@echo 'a float64 reference. The rewritten file is $(DEMO)/kda_decode_fuse_vtiles.py; the database is $(DEMO)/skel.sqlite.'
	@echo; echo 'Try next:'
	@echo '  diff -u examples/kda_decode.py $(DEMO)/kda_decode_fuse_vtiles.py'
	@echo '  $(SKEL) show fuse_vtiles'
	@echo '  $(SKEL) scan examples/'
	@echo '  $(SKEL) apply fuse_vtiles YOUR_KERNEL.py --diff'

test: $(EXTRAS)
	@$(MAKE) --no-print-directory lint
	@$(MAKE) --no-print-directory -k $(WHEEL_PINS:%=$(WHEELS)/.%) || \
	  echo 'Some wheels could not be downloaded; the tests that read them are skipped.'
	$(PY) -m pytest $(PYTEST_ARGS)

lint: $(EXTRAS)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff check --select TID251 skel/store skel/rewriter skel/validation skel/miner skel/skeletons
	$(VENV)/bin/mypy

docs: $(BASE)
	$(PY) -m skel.docs

clean:
	rm -rf $(VENV) .cache build dist *.egg-info .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo 'skel needs Python 3.11 or newer: make PYTHON=python3.12'; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo 'python3 lacks its venv module: apt install python3-venv'; exit 1; }

$(BASE): | $(PY)
	@if nvidia-smi -L >/dev/null 2>&1; then \
	  echo 'NVIDIA GPU found: installing with the CUDA build of torch'; \
	elif $(PY) -c 'import torch' >/dev/null 2>&1; then \
	  echo 'torch is there already'; \
	elif $(PY) -c 'import urllib.request as r; r.urlopen("$(TORCH_INDEX)/", timeout=5)' >/dev/null 2>&1 && \
	     $(PY) -m pip install --quiet --extra-index-url $(TORCH_INDEX) '$(TORCH_CPU)' '$(TRITON)'; then \
	  echo 'No NVIDIA GPU: installed $(TORCH_CPU)'; \
	else \
	  echo 'No NVIDIA GPU, and $(TORCH_CPU) cannot be had from $(TORCH_INDEX): taking $(TORCH_PLAIN)'; \
	  $(PY) -m pip install --quiet '$(TORCH_PLAIN)' '$(TRITON)'; \
	fi
	@echo 'Installing skel and what it needs ...'
	@$(PY) -m pip install --quiet --editable .
	@touch $@

$(EXTRAS): $(BASE)
	@$(PY) -m pip install --quiet --editable '.[test]'
	@touch $@

# Read by tests as sources, but for fla-core and einops never imported; the pinned platform gives the same files on every machine.
$(WHEELS)/.%:
	@mkdir -p $(WHEELS)
	@$(PY) -m pip download --quiet --no-deps --only-binary=:all: --implementation cp --python-version 3.11 \
	  --platform manylinux_2_34_x86_64 --platform manylinux2014_x86_64 --platform any --dest $(WHEELS) '$(subst @,==,$*)'
	@touch $@
