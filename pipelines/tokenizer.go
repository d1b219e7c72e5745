package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/shard/bpe"
	"github.com/turnmill/turnmill/shard/hf"
	"github.com/turnmill/turnmill/shard/hub"
)

// engines are the tokenizer engines that a plan can name; --engine takes auto as well.
var engines = [...]string{"bpe", "hf"}

// tokenizer is a tokenizer.json in the engine that reads it, and what it costs. It is safe for concurrent
// use.
type tokenizer struct {
	turnmill.Vocabulary
	engine string
	place  string                                                 // for local.json: what names it again on this machine
	known  string                                                 // its published chat format where that needs no template
	beside func(ctx context.Context, name string) ([]byte, error) // another file of where it came from; nil: there is none
	// encoders returns what makes an encoder for each goroutine, given the texts that are control tokens.
	encoders func(control []string) (func() turnmill.Encoder, error)
	bytes    int64 // of memory, whatever the number of encoders
	each     int64 // and more for each encoder
	charge   int64 // of the memory budget, for each byte of a record
}

// loadTokenizer finds and loads a tokenizer.
func loadTokenizer(ctx context.Context, name, engine string, from hub.Options) (*tokenizer, TokenizerInfo, error) {
	file, err := findTokenizer(ctx, name, from)
	var t *tokenizer
	if err == nil {
		t, err = openTokenizer(file.data, engine)
	}
	if ctx.Err() != nil {
		return nil, TokenizerInfo{}, context.Cause(ctx)
	}
	if err != nil {
		var failed *hub.Error
		err = fmt.Errorf("--tokenizer %s: %w", name, err)
		if errors.As(err, &failed) && !failed.Setting() {
			return nil, TokenizerInfo{}, err
		}
		return nil, TokenizerInfo{}, &UsageError{err}
	}
	t.place, t.known, t.beside = file.place, file.known, file.beside
	return t, TokenizerInfo{Name: file.name, SHA256: hexSum(file.data), Engine: t.engine, Vocabulary: t.Size()}, nil
}

// tokenizerFile is a tokenizer.json. Its name holds no directory and no commit, because names stand in files
// that are the same everywhere; its place does, and stands in local.json.
type tokenizerFile struct {
	data        []byte
	name, place string
	known       string // as in tokenizer
	beside      func(ctx context.Context, name string) ([]byte, error)
}

// tokenizerNames are what --tokenizer takes, for messages.
const tokenizerNames = "a tokenizer.json, a directory with one, a Hugging Face repository as in Qwen/Qwen3-8B, or demo"

// findTokenizer reads what a name stands for: demo, a tokenizer.json, a directory with one, or, where no file
// has that name, a repository of the hub.
func findTokenizer(ctx context.Context, name string, from hub.Options) (f tokenizerFile, err error) {
	if name == "demo" {
		return tokenizerFile{data: demo.Tokenizer(), name: name, place: name, known: demo.Chat}, nil
	}
	path := name
	info, err := os.Stat(path)
	if err != nil {
		why := errors.Unwrap(err)
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
			return fetchTokenizer(ctx, name, from, why)
		}
		return f, fmt.Errorf("%w; name %s", why, tokenizerNames)
	}
	if info.IsDir() {
		path = filepath.Join(path, "tokenizer.json")
	}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return f, fmt.Errorf("%s is no file; name %s", path, tokenizerNames)
	}
	data, err := os.ReadFile(path)
	beside := func(_ context.Context, other string) ([]byte, error) { return readBeside(path, other) }
	return tokenizerFile{data: data, name: filepath.Base(path), place: absolute(name), beside: beside}, err
}

// readBeside reads another file of a file's directory; nil means that there is none.
func readBeside(path, name string) ([]byte, error) {
	other := filepath.Join(filepath.Dir(path), name)
	info, err := os.Stat(other)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("no regular file")
	}
	data, err := os.ReadFile(other)
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// fetchTokenizer takes a name that no file has, and missing says so, for a repository's.
func fetchTokenizer(ctx context.Context, name string, from hub.Options, missing error) (f tokenizerFile, err error) {
	ref, err := hub.ParseRef(name)
	if err != nil {
		return f, fmt.Errorf("%w, nor is it a Hugging Face repository: %w; name %s", missing, err, tokenizerNames)
	}
	got, err := hub.Get(ctx, from, ref)
	if err != nil {
		return f, fmt.Errorf("%w; as a Hugging Face repository: %w; or name a tokenizer.json, a directory with one, or demo", missing, err)
	}
	at := hub.Ref{Repo: ref.Repo, Revision: got.Commit}
	beside := func(ctx context.Context, other string) ([]byte, error) { return hub.Beside(ctx, from, at, other) }
	return tokenizerFile{data: got.Data, name: ref.String(), place: at.String(), beside: beside}, nil
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

// noTokenizer stands for the tokenizer of an audit that has none.
func noTokenizer() *tokenizer { return &tokenizer{charge: chargeFactor} }

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
