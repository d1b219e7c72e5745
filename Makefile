# Two targets are all that a newcomer needs: `make demo` and `make test`.

GO     ?= go
BIN    := build/turnmill
VENV   := build/venv
PYTHON ?= python3

.PHONY: all build demo test lint golden fuzz bench parity clean

all: build

build:
	$(GO) build -trimpath -o $(BIN) ./cmd/turnmill

# The main job on the embedded corpus with the embedded tokenizer.
demo: build
	$(BIN) demo -o build/demo

# Everything: rules, Go tests with the race detector, and the proofs that need Python.
test: lint
	$(GO) test -race -shuffle=on -timeout 30m ./...
	$(MAKE) --no-print-directory parity

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	@scripts/sizes

golden:
	$(GO) test ./... -update

# A minute a target.
fuzz:
	@scripts/fuzz 60s

# Memory, MB/s per core of each stage and of the whole; rewrites docs/performance.md.
bench: build
	$(GO) run ./bench -turnmill $(BIN) -out docs/performance.md

# Ids and loss positions against transformers, shards against datasets.
parity: build $(VENV)/ready
	$(VENV)/bin/python scripts/parity.py --turnmill $(BIN) --work build/parity

$(VENV)/ready: scripts/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --requirement scripts/requirements.txt
	@touch $@

clean:
	rm -rf build
