package hub

import (
	"cmp"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// DefaultEndpoint is the hub that is asked where HF_ENDPOINT names no other.
const DefaultEndpoint = "https://huggingface.co"

// Options say where to look and whom to ask. The zero value has no cache and asks no one.
type Options struct {
	Endpoint  string // URL of the hub, without a slash at its end; "" asks none
	Cache     string // directory of the cache; "" means none
	Offline   bool   // ask no hub: the cache only
	Token     string // sent to the endpoint, and to no other host
	TokenPath string // a file with the token, read when Token is ""; it may be absent
	NoToken   bool   // send no token, whatever Token and TokenPath hold
	NoLinks   bool   // keep copies in the cache's snapshots, not symbolic links

	UserAgent string // "" means turnmill
	Limit     int64  // bytes of the largest file that is taken; 0 means 256 MiB

	// Sleep waits for d before another try, or until ctx ends, which is an error. nil means that nothing is
	// tried twice.
	Sleep func(ctx context.Context, d time.Duration) error
	// After calls f when d has passed, in a goroutine of its own, unless stop is called before. nil means that
	// a server may keep silent for ever.
	After func(d time.Duration, f func()) (stop func() bool)

	Logger *slog.Logger // what was fetched, what is tried again, a cache that cannot be written; nil: nothing
}

// FromEnv returns the options that Hugging Face's own clients would take from the environment: HF_HOME,
// HF_HUB_CACHE, XDG_CACHE_HOME, HF_ENDPOINT, HF_TOKEN, HF_TOKEN_PATH, HF_HUB_DISABLE_IMPLICIT_TOKEN,
// HF_HUB_OFFLINE, HF_HUB_DISABLE_SYMLINKS, and the older names that they still read. A variable that is empty
// counts as unset. home is the user's home directory; without one and without the variables there is no cache.
func FromEnv(getenv func(string) string, home string) Options {
	e := env{getenv, home}
	root := e.path("HF_HOME")
	if caches := cmp.Or(getenv("XDG_CACHE_HOME"), join(home, ".cache")); root == "" && caches != "" {
		root = e.expand(join(caches, "huggingface"))
	}
	return Options{
		Endpoint:  strings.TrimRight(cmp.Or(getenv("HF_ENDPOINT"), DefaultEndpoint), "/"),
		Cache:     cmp.Or(e.path("HF_HUB_CACHE"), e.path("HUGGINGFACE_HUB_CACHE"), join(root, "hub")),
		Offline:   isTrue(cmp.Or(getenv("HF_HUB_OFFLINE"), getenv("TRANSFORMERS_OFFLINE"))),
		Token:     cleanToken(cmp.Or(getenv("HF_TOKEN"), getenv("HUGGING_FACE_HUB_TOKEN"))),
		TokenPath: cmp.Or(e.path("HF_TOKEN_PATH"), join(root, "token")),
		NoToken:   isTrue(getenv("HF_HUB_DISABLE_IMPLICIT_TOKEN")),
		NoLinks:   isTrue(getenv("HF_HUB_DISABLE_SYMLINKS")),
	}
}

// env reads variables that name paths.
type env struct {
	getenv func(string) string
	home   string
}

func (e env) path(name string) string { return e.expand(e.getenv(name)) }

// expand replaces ~ at the start and variables in a path, as the clients do for values that no shell has seen.
func (e env) expand(path string) string {
	if rest, ok := strings.CutPrefix(path, "~"); ok && e.home != "" && (rest == "" || rest[0] == '/') {
		path = e.home + rest
	}
	return os.Expand(path, func(name string) string {
		return cmp.Or(e.getenv(name), "$"+name)
	})
}

// join is filepath.Join that keeps an unknown directory unknown.
func join(dir, name string) string {
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, name)
}

func isTrue(value string) bool {
	switch strings.ToUpper(value) {
	case "1", "ON", "YES", "TRUE":
		return true
	}
	return false
}

func cleanToken(token string) string {
	return strings.TrimSpace(strings.NewReplacer("\r", "", "\n", "").Replace(token))
}

// token returns the token to send, or "", and what it was taken from, for messages.
func (o *Options) token() (token, from string) {
	switch {
	case o.NoToken:
		return "", ""
	case o.Token != "":
		return o.Token, "HF_TOKEN"
	case o.TokenPath == "":
		return "", ""
	}
	data, err := os.ReadFile(o.TokenPath)
	if err != nil {
		if !isMissing(err) {
			o.logger().Warn("token not read", "error", err)
		}
		return "", ""
	}
	return cleanToken(string(data)), o.TokenPath
}

func (o *Options) logger() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.New(slog.DiscardHandler)
}

func (o *Options) limit() int64 { return cmp.Or(o.Limit, 256<<20) }
