package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/shard/bpe"
)

// result is what one run says of itself. The Python scripts print the same as one line of JSON.
type result struct {
	CPU     float64 // seconds of the job, user and system, start-up left out where the job can tell
	Warm    float64 // seconds of a second pass, 0 without one
	Wall    float64
	Tokens  int64
	Digest  string  // SHA-256 of all ids, 32 bits each, little-endian
	Peak    float64 // MiB resident, of the whole process
	Start   float64 // CPU seconds of the whole process, start-up included
	Version string
}

// children are the parts of this program that are started as processes of their own, by their first argument.
var children = map[string]func(args []string) error{
	"measure": measureChild, "encode": encodeChild, "stages": stagesChild, "digest": digestChild,
}

// measureChild runs args[1:], whose standard output becomes ours, and writes what the system says of it to
// the file args[0]. A small process between keeps the peak of this program out of the child's, which counts
// what its parent held when it was started.
func measureChild(args []string) error {
	cmd := exec.Command(args[1], args[2:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	began := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%v: %w", cmd.Args, err)
	}
	r := result{Wall: time.Since(began).Seconds(), Start: (cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(),
		Peak: float64(cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) / 1024}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return os.WriteFile(args[0], data, 0o666)
}

// runner starts processes as measured runs.
type runner struct {
	self  string   // this program
	under []string // what stands before every command
	work  string
	env   []string
}

func newRunner(o *options) (*runner, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	r := &runner{self: self, work: o.work, env: os.Environ()}
	if o.under != "" {
		r.under = []string{o.under}
	}
	return r, nil
}

// run runs a command on the given core, or on all for a negative one, and returns what it printed and what
// it cost. GOMAXPROCS follows the core; the peers set their own thread counts.
func (r *runner) run(core int, args ...string) ([]byte, result, error) {
	side := filepath.Join(r.work, "measured.json")
	all := slices.Concat(r.under, []string{r.self, "measure", side})
	env := r.env
	if core >= 0 {
		all = append(all, "taskset", "-c", strconv.Itoa(core))
		env = append(slices.Clone(env), "GOMAXPROCS=1")
	}
	all = append(all, args...)
	cmd := exec.Command(all[0], all[1:]...)
	cmd.Env = env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, result{}, fmt.Errorf("%v: %w\n%s%s", all, err, stdout.String(), stderr.String())
	}
	data, err := os.ReadFile(side)
	if err != nil {
		return nil, result{}, err
	}
	var m result
	err = json.Unmarshal(data, &m)
	return stdout.Bytes(), m, err
}

// tell runs a command that prints a result.
func (r *runner) tell(core int, args ...string) (result, error) {
	out, m, err := r.run(core, args...)
	if err != nil {
		return result{}, err
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	var told result
	if err := json.Unmarshal(lines[len(lines)-1], &told); err != nil {
		return result{}, fmt.Errorf("%v printed %.300q: %w", args, out, err)
	}
	told.Peak, told.Start = m.Peak, m.Start
	return told, nil
}

// ids hashes and counts ids.
type ids struct {
	sum   hash.Hash
	n     int64
	bytes []byte
}

func (d *ids) add(list []int32) {
	if d.sum == nil {
		d.sum = sha256.New()
	}
	d.bytes = d.bytes[:0]
	for _, id := range list {
		d.bytes = binary.LittleEndian.AppendUint32(d.bytes, uint32(id))
	}
	d.sum.Write(d.bytes)
	d.n += int64(len(list))
}

func (d *ids) digest() string {
	if d.sum == nil {
		d.sum = sha256.New()
	}
	return hex.EncodeToString(d.sum.Sum(nil))
}

// encodeChild encodes the texts of chats twice, and prints what that cost: args are a tokenizer.json and a
// file of chats. The hash of the ids is taken between the batches, with the clock stopped.
func encodeChild(args []string) error {
	data, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	model, err := bpe.Load(data)
	if err != nil {
		return err
	}
	texts, err := readTexts(args[1])
	if err != nil {
		return err
	}
	e, sum := model.NewEncoder(nil), &ids{}
	r := result{Version: "turnmill"}
	if r.CPU, err = encodePass(e, texts, sum); err != nil {
		return err
	}
	r.Tokens, r.Digest = sum.n, sum.digest()
	if r.Warm, err = encodePass(e, texts, &ids{}); err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}

func encodePass(e *bpe.Encoder, texts [][]byte, sum *ids) (seconds float64, err error) {
	const batch = 1000
	var tokens turnmill.Tokens
	for len(texts) > 0 {
		n := min(batch, len(texts))
		tokens.IDs, tokens.Ends = tokens.IDs[:0], tokens.Ends[:0]
		began := cpu()
		for _, text := range texts[:n] {
			if err := e.Encode(&tokens, text); err != nil {
				return 0, err
			}
		}
		seconds += (cpu() - began).Seconds()
		sum.add(tokens.IDs)
		texts = texts[n:]
	}
	return seconds, nil
}

// readTexts returns the contents of all messages of a file of chats, and leaves no more than them in memory.
func readTexts(path string) ([][]byte, error) {
	defer debug.FreeOSMemory()
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var texts [][]byte
	for d := json.NewDecoder(f); ; {
		var chat struct{ Messages []struct{ Content string } }
		if err := d.Decode(&chat); errors.Is(err, io.EOF) {
			return texts, nil
		} else if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		for _, m := range chat.Messages {
			texts = append(texts, []byte(m.Content))
		}
	}
}

// digestChild prints the number and hash of all ids in the shards of a run.
func digestChild(args []string) error {
	shards, err := filepath.Glob(filepath.Join(args[0], "train", "*.arrow"))
	if err != nil {
		return err
	}
	slices.Sort(shards)
	sum := &ids{}
	for _, path := range shards {
		if err := addShard(sum, path); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(result{Tokens: sum.n, Digest: sum.digest()})
}

func addShard(sum *ids, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	rd, err := arrow.NewReader(f, info.Size(), path, arrow.ProfileHF)
	if err != nil {
		return err
	}
	for {
		row, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		sum.add(row.IDs)
	}
}
