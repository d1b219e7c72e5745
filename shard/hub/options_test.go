package hub

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

func TestFromEnv(t *testing.T) {
	const home = "/home/ann"
	base := Options{Endpoint: DefaultEndpoint, Cache: "/home/ann/.cache/huggingface/hub", TokenPath: "/home/ann/.cache/huggingface/token"}
	with := func(change func(*Options)) Options {
		o := base
		change(&o)
		return o
	}
	for name, c := range map[string]struct {
		env  map[string]string
		home string
		want Options
	}{
		"nothing":              {nil, home, base},
		"no home":              {nil, "", Options{Endpoint: DefaultEndpoint}},
		"no home, and a cache": {map[string]string{"HF_HUB_CACHE": "/c"}, "", Options{Endpoint: DefaultEndpoint, Cache: "/c"}},
		"XDG_CACHE_HOME": {map[string]string{"XDG_CACHE_HOME": "/x"}, home,
			with(func(o *Options) { o.Cache, o.TokenPath = "/x/huggingface/hub", "/x/huggingface/token" })},
		"HF_HOME": {map[string]string{"XDG_CACHE_HOME": "/x", "HF_HOME": "/h"}, home,
			with(func(o *Options) { o.Cache, o.TokenPath = "/h/hub", "/h/token" })},
		"HF_HOME with variables": {map[string]string{"HF_HOME": "~/$SUB/${NO}x", "SUB": "s"}, home,
			with(func(o *Options) { o.Cache, o.TokenPath = "/home/ann/s/$NOx/hub", "/home/ann/s/$NOx/token" })},
		"~ alone":   {map[string]string{"HF_HOME": "~"}, home, with(func(o *Options) { o.Cache, o.TokenPath = "/home/ann/hub", "/home/ann/token" })},
		"~ another": {map[string]string{"HF_HOME": "~bob"}, home, with(func(o *Options) { o.Cache, o.TokenPath = "~bob/hub", "~bob/token" })},
		"HF_HUB_CACHE": {map[string]string{"HF_HOME": "/h", "HF_HUB_CACHE": "/c", "HUGGINGFACE_HUB_CACHE": "/old"}, home,
			with(func(o *Options) { o.Cache, o.TokenPath = "/c", "/h/token" })},
		"the older cache": {map[string]string{"HUGGINGFACE_HUB_CACHE": "/old"}, home, with(func(o *Options) { o.Cache = "/old" })},
		"HF_ENDPOINT":     {map[string]string{"HF_ENDPOINT": "https://m.example/hf//"}, home, with(func(o *Options) { o.Endpoint = "https://m.example/hf" })},
		"HF_TOKEN":        {map[string]string{"HF_TOKEN": " hf_x\r\n", "HUGGING_FACE_HUB_TOKEN": "old"}, home, with(func(o *Options) { o.Token = "hf_x" })},
		"the older token": {map[string]string{"HUGGING_FACE_HUB_TOKEN": "old"}, home, with(func(o *Options) { o.Token = "old" })},
		"HF_TOKEN_PATH":   {map[string]string{"HF_TOKEN_PATH": "~/t"}, home, with(func(o *Options) { o.TokenPath = "/home/ann/t" })},
		"no token":        {map[string]string{"HF_HUB_DISABLE_IMPLICIT_TOKEN": "true"}, home, with(func(o *Options) { o.NoToken = true })},
		"offline":         {map[string]string{"HF_HUB_OFFLINE": "Yes"}, home, with(func(o *Options) { o.Offline = true })},
		"offline, older":  {map[string]string{"TRANSFORMERS_OFFLINE": "1"}, home, with(func(o *Options) { o.Offline = true })},
		"online":          {map[string]string{"HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "1"}, home, base},
		"copies":          {map[string]string{"HF_HUB_DISABLE_SYMLINKS": "ON"}, home, with(func(o *Options) { o.NoLinks = true })},
	} {
		got := FromEnv(func(key string) string { return c.env[key] }, c.home)
		if got.Endpoint != c.want.Endpoint || got.Cache != c.want.Cache || got.Token != c.want.Token || got.TokenPath != c.want.TokenPath ||
			got.Offline != c.want.Offline || got.NoToken != c.want.NoToken || got.NoLinks != c.want.NoLinks {
			t.Errorf("%s: %+v, want %+v", name, got, c.want)
		}
	}
}

// TestEnvironmentTold: docs/tokenizers.md has a row for every variable that is read, and no other.
func TestEnvironmentTold(t *testing.T) {
	var want, got []string
	FromEnv(func(key string) string { want = append(want, key); return "" }, "")
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "tokenizers.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Z_]+)` \\|").FindAllStringSubmatch(string(text), -1) {
		got = append(got, m[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if want = slices.Compact(want); !slices.Equal(got, want) {
		t.Errorf("docs/tokenizers.md has rows for\n%q, read are\n%q", got, want)
	}
}
