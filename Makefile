# Two targets are all that a newcomer needs: `make demo` and `make test`.

GO     ?= go
BIN    := build/turnmill
VENV   := build/venv
SERVER := build/server
TRAINERS := build/trainers
PEERS  := build/peers
PYTHON ?= python3

comma  := ,

# The engine hf is the Hugging Face library in Rust, built from the module's own files and our patch. The stamp
# names both, so that a change of either builds it anew; without the stamp turnmill is built without hf.
HF_MOD   := github.com/daulet/tokenizers
HF_VER    = $(shell $(GO) list -m -f '{{.Version}}' $(HF_MOD))
HF_STAMP  = build/lib/$(HF_VER)-$(shell cksum < shard/hf/tokenizers.patch | cut -d' ' -f1).stamp
HF_LINK  := $(if $(filter Darwin,$(shell uname -s)),-Wl$(comma)-dead_strip,-Wl$(comma)--gc-sections)
HF_FLAGS := -tags hf -ldflags '-extldflags "$(HF_LINK)"'
GOHF      = $(if $(shell ls $(HF_STAMP) 2>/dev/null),$(HF_FLAGS))

.PHONY: all race-commands race-packages build demo demo-sft hf test lint golden fuzz mutants soak bench bench-peers bench-stream parity audit-sql browser parity-ids server trainers clean

all: build

build:
	$(GO) build -trimpath $(GOHF) -o $(BIN) ./cmd/turnmill

# The library for the engine hf: three minutes of one core, once.
hf:
	@if [ -f $(HF_STAMP) ]; then echo "hf: $(HF_VER) is built"; \
	elif ! command -v cargo >/dev/null || ! command -v c++ >/dev/null || ! command -v patch >/dev/null; then \
		echo "hf: left out, with its tests (needs cargo 1.78 or later, a C++ compiler and patch); turnmill builds without the engine hf"; \
	else $(MAKE) --no-print-directory $(HF_STAMP); fi

build/lib/%.stamp: shard/hf/tokenizers.patch
	rm -rf build/hf build/lib
	mkdir -p build/hf build/lib
	$(GO) mod download $(HF_MOD)
	cp -R "$$($(GO) list -m -f '{{.Dir}}' $(HF_MOD))/." build/hf
	chmod -R u+w build/hf
	patch -s -l -p1 -d build/hf < $<
	cargo build --release --locked --manifest-path build/hf/Cargo.toml --target-dir build/cargo
	cp build/cargo/release/libtokenizers.a build/lib/
	rm -rf build/hf build/cargo
	touch $@

# The main job on the embedded corpus with the embedded tokenizer.
demo: build
	$(BIN) demo -o build/demo

demo-sft: build
	$(BIN) demo --sft -o build/demo-sft

# Everything: rules, Go tests with the race detector, and the proofs that need Python. The tests of pipelines take as
# long as all others, so they run in two halves, each beside half of the rest.
HALF := ^Test[A-M]

test: hf lint
	@test -n "$$TURNMILL_DATA" || echo "test: TURNMILL_DATA is not set: tests over recorded runs of others are left out"
	@command -v zstd >/dev/null || echo "test: no program zstd: one test of its windows is left out; another makes such frames itself"
	@$(GO) test -count=1 -run '^TestProgram$$' -v ./filter/verify | sed -n 's/.*no sandbox here/test: programs of verifiers are left out: no sandbox here/p'
	$(MAKE) --no-print-directory -j 2 --output-sync=target race-commands race-packages
	$(if $(GOHF),$(GO) test -race -shuffle=on -timeout 30m $(GOHF) ./shard/hf)
	$(if $(GOHF),$(GO) test -race -timeout 30m $(GOHF) -run 'TestOpenTokenizer|TestHF' ./pipelines)
	$(MAKE) --no-print-directory parity
	$(MAKE) --no-print-directory audit-sql
	$(MAKE) --no-print-directory browser
	$(if $(GOHF),TURNMILL_QWEN3="$$(ls "$$PWD"/build/parity/*qwen3-*/tokenizer.json)" $(GO) test $(GOHF) -run TestParityQwen3 ./shard/hf)

race-commands:
	$(GO) test -race -shuffle=on -p 1 -timeout 30m -run '$(HALF)' ./pipelines
	$(GO) test -race -shuffle=on -p 1 -timeout 30m ./cmd/turnmill

race-packages:
	$(GO) test -race -shuffle=on -p 1 -timeout 30m -skip '$(HALF)' ./pipelines
	$(GO) test -race -shuffle=on -p 1 -timeout 30m $$($(GO) list ./... | grep -v -e '/pipelines$$' -e '/cmd/turnmill$$')

lint:
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { echo "gofmt would change:"; gofmt -l $$(git ls-files '*.go'); exit 1; }
	$(GO) vet ./...
	$(GO) vet -tags hf ./...
	$(GO) vet -tags soak ./cmd/turnmill
	$(GO) tool staticcheck ./...
	$(GO) tool staticcheck -tags hf ./shard/hf ./pipelines ./cmd/turnmill
	@scripts/sizes

golden:
	$(GO) test ./... -update

# A minute a target.
fuzz:
	@$(if $(GOHF),GOFLAGS=-tags=hf) scripts/fuzz 60s

# A thousand damaged copies of published files (TURNMILL_DATA), else of samples, through ingest and cpt.
mutants:
	$(GO) test -run TestMutants -v ./pipelines -mutants 1000

# Random inputs and flags, killed at random moments and run again, for TURNMILL_SOAK (30m), and 200 kills.
soak:
	$(GO) test -tags soak -run Soak -timeout 0 -v ./cmd/turnmill

# Ours alone: memory, MB/s per core of each stage, of the whole and of each decoder; rewrites its sections of
# docs/performance.md. With Qwen3's tokenizer where `make parity` has fetched it, else with the embedded one.
bench: build
	$(GO) run ./bench -turnmill $(BIN) $(addprefix -tokenizer ,$(firstword $(wildcard build/parity/*qwen3-*/tokenizer.json))) -out docs/performance.md
	$(GO) run ./bench -decoders -out docs/performance.md

# Us and the tools that others use in alternation, on recorded runs (TURNMILL_DATA), with a published tokenizer: about
# half an hour of one core, 6 GB of peers in build/peers, 5 GB of corpora and runs. Rewrites its section and the opening.
bench-peers: build $(PEERS)/ready
	@test -n "$$TURNMILL_DATA" || { echo "bench-peers: set TURNMILL_DATA to a directory of recorded runs"; exit 1; }
	$(GO) run ./bench -peers -turnmill $(BIN) -python $(PEERS)/bin/python \
		-tokenizer "$$($(PYTHON) scripts/fetch_tokenizer.py build/parity)/tokenizer.json" -out docs/performance.md

# Ten million short trajectories with recorded turns through a pipe: twenty minutes, 38 GB of disk.
bench-stream: build
	@test -n "$$TURNMILL_DATA" || { echo "bench-stream: set TURNMILL_DATA to a directory of recorded runs"; exit 1; }
	$(GO) run ./bench -stream 10000000 -turnmill $(BIN) \
		-tokenizer "$$($(PYTHON) scripts/fetch_tokenizer.py build/parity)/tokenizer.json" -out docs/performance.md

# Ids and loss positions against transformers, shards against datasets.
parity: build $(VENV)/ready
	$(VENV)/bin/python scripts/parity.py --turnmill $(BIN) --work build/parity $(if $(GOHF),,--engine bpe)

# The figures of an audit's report against DuckDB, by the SQL of docs/audit.md.
audit-sql: build $(VENV)/ready
	$(VENV)/bin/python scripts/audit_duckdb.py --turnmill $(BIN) --work build/audit $(if $(TURNMILL_DATA),--data $(TURNMILL_DATA))

# The report in headless Chromium, against runs with the tables that its sliders make; pictures in build/browser.
browser: build
	$(PYTHON) scripts/browser.py --turnmill $(BIN) --work build/browser $(if $(TURNMILL_DATA),--data $(TURNMILL_DATA))

# Ids of both engines against the library in Python, for every family: hours.
parity-ids: hf $(VENV)/ready
	$(VENV)/bin/python scripts/parity_ids.py --families build/parity $(if $(TURNMILL_DATA),--data $(TURNMILL_DATA)) $(if $(GOHF),,--engine bpe)

# The client of endpoints against a real server: `transformers serve` with a tiny random model. Its environment in
# build/server takes 6 GB, so that this is no part of `make test`.
server: $(SERVER)/ready
	$(SERVER)/bin/python scripts/server.py --work build/server-work --tokenizer "$$($(PYTHON) scripts/fetch_tokenizer.py build/parity)" -- \
		$(GO) test -count=1 -run TestRealServer -v ./filter/judge/endpoint

# The labels that reach a model in TRL's SFTTrainer and in the Trainer of transformers: some minutes on the CPU. Its environment
# in build/trainers takes 6 GB, so that this is no part of `make test`.
trainers: build $(TRAINERS)/ready
	$(TRAINERS)/bin/python scripts/trainers.py --turnmill $(BIN) --work build/trainers-work --tokenizer internal/demo/tokenizer.json

$(VENV)/ready: scripts/requirements.txt
	$(PYTHON) -m venv $(VENV)
	$(VENV)/bin/python -m pip install --quiet --requirement scripts/requirements.txt
	@touch $@

$(PEERS)/ready: bench/peers/requirements.txt
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --requirement bench/peers/requirements.txt
	@touch $@

$(TRAINERS)/ready: scripts/trainers-requirements.txt
	$(PYTHON) -m venv $(TRAINERS)
	$(TRAINERS)/bin/python -m pip install --quiet --requirement scripts/trainers-requirements.txt
	@touch $@

$(SERVER)/ready: scripts/server-requirements.txt
	$(PYTHON) -m venv $(SERVER)
	$(SERVER)/bin/python -m pip install --quiet --requirement scripts/server-requirements.txt
	@touch $@

clean:
	rm -rf build
