package pipelines

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/shard/bpe"
	"github.com/turnmill/turnmill/shard/hf"
)

// engines are the tokenizer engines that a plan can name; --engine takes auto as well.
var engines = [...]string{"bpe", "hf"}

// tokenizer is a tokenizer.json in the engine that reads it, and what it costs. It is safe for concurrent
// use.
type tokenizer struct {
	turnmill.Vocabulary
	engine string
	// encoders returns what makes an encoder for each goroutine, given the texts that are control tokens.
	encoders func(control []string) (func() turnmill.Encoder, error)
	bytes    int64 // of memory, whatever the number of encoders
	each     int64 // and more for each encoder
	charge   int64 // of the memory budget, for each byte of a record
}

// loadTokenizer finds and loads a tokenizer: demo, a tokenizer.json, or a directory with one. The name that
// it returns holds no directory, because names stand in files that are the same everywhere.
func loadTokenizer(name, engine string) (*tokenizer, TokenizerInfo, error) {
	fail := func(err error) (*tokenizer, TokenizerInfo, error) {
		return nil, TokenizerInfo{}, &UsageError{fmt.Errorf("--tokenizer %s: %w", name, err)}
	}
	data, known := demo.Tokenizer(), "demo"
	if name != "demo" {
		path := name
		info, err := os.Stat(path)
		if err != nil {
			return fail(fmt.Errorf("%w; name a tokenizer.json, a directory with one, or demo", errors.Unwrap(err)))
		}
		if info.IsDir() {
			path = filepath.Join(path, "tokenizer.json")
		}
		if data, err = os.ReadFile(path); err != nil {
			return fail(err)
		}
		known = filepath.Base(path)
	}
	t, err := openTokenizer(data, engine)
	if err != nil {
		return fail(err)
	}
	return t, TokenizerInfo{Name: known, SHA256: hexSum(data), Engine: t.engine, Vocabulary: t.Size()}, nil
}

// openTokenizer reads a tokenizer.json with the named engine, or, with auto, with bpe where it knows the
// file's shape exactly and with hf where not. Both give the same ids.
func openTokenizer(data []byte, engine string) (*tokenizer, error) {
	if engine != "auto" && !slices.Contains(engines[:], engine) {
		return nil, fmt.Errorf("no engine is called %q", engine)
	}
	if engine == "hf" {
		return openHF(data)
	}
	m, err := bpe.Load(data)
	if err == nil {
		return newBPE(m), nil
	}
	var refused *bpe.LoadError
	if engine == "bpe" || !errors.As(err, &refused) || !refused.Unsupported {
		return nil, err
	}
	t, other := openHF(data)
	if errors.Is(other, hf.ErrNotBuilt) {
		return nil, fmt.Errorf("%w; or the engine hf, which reads other files: %w", err, other)
	}
	return t, other
}

func newBPE(m *bpe.Model) *tokenizer {
	return &tokenizer{
		Vocabulary: m, engine: "bpe", bytes: int64(m.Bytes()), each: bpe.EncoderBytes, charge: chargeFactor,
		encoders: func(control []string) (func() turnmill.Encoder, error) {
			return func() turnmill.Encoder { return m.NewEncoder(control) }, nil
		},
	}
}

func openHF(data []byte) (*tokenizer, error) {
	m, err := hf.Open(data)
	if err != nil {
		return nil, err
	}
	return &tokenizer{
		Vocabulary: m, engine: "hf", bytes: int64(m.Bytes()), each: hf.WorkerBytes, charge: hf.ChargeFactor,
		encoders: func(control []string) (func() turnmill.Encoder, error) {
			e, err := m.NewEncoder(control) // large and safe for concurrent use: one for all
			return func() turnmill.Encoder { return e }, err
		},
	}, nil
}
