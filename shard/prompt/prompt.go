// Package prompt writes a trajectory as a world model is asked about it: a system message that says what to
// predict and holds the trajectory's own parts, a user message for each action, an assistant's for each
// observation. Each of the seven domains, and any other under the name general, has the templates v0 to v11:
// texts of their own wording, order and layout. Report, section 3.1.2.
//
//	data/terminal/v3.txt
//	    === system                         text, and slots that are filled from the trajectory
//	    ...
//	    {{#if demonstrations}}             lines that stand there only when the slot is not empty;
//	    ## Examples                        several names: when any of them is not
//	    {{demonstrations}}
//	    {{/if}}
//	    === user
//	    Turn {{turn}} ... {{state}} ... {{action|fence}}     in a code fence where it is JSON
//	    === assistant
//	    **Environment Observation:**
//	    {{observation}}
//
//	Trajectory --Render--> Trajectory     system text, user texts and wrapped observations
//	           --Messages--> []Message    up to the action of one turn
//
// A template is parsed once, and written once, from left to right: what fills a slot is copied byte for byte
// and never looked at, so content that looks like a slot, a tag or a heading is content. Masking is measured
// before any template, on the trajectory itself.
package prompt

import (
	"crypto/sha256"
	"embed"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/turnmill/turnmill"
)

//go:embed data
var data embed.FS

// General names the templates of domains other than the seven.
const General turnmill.Domain = "general"

// Template is one version for one domain. It is read-only and safe for concurrent use.
type Template struct {
	Domain  turnmill.Domain // one of the seven, or General
	Version string          // v0 to v11
	SHA256  string          // of Text, in hexadecimal
	Text    string          // as it stands in the project

	system, user, assistant []node
}

const versions = 12

// Versions returns v0 to v11.
func Versions() []string {
	all := make([]string, versions)
	for i := range all {
		all[i] = fmt.Sprint("v", i)
	}
	return all
}

// Domains returns the domains that have templates of their own, in the report's order, and General.
func Domains() []turnmill.Domain { return append(turnmill.Domains(), General) }

// All returns every template, by domain and then by version.
func All() []*Template { return slices.Clone(all()) }

var all = sync.OnceValue(func() []*Template {
	var out []*Template
	for _, d := range Domains() {
		for _, v := range Versions() {
			text, err := data.ReadFile(path.Join("data", string(d), v+".txt"))
			if err != nil {
				panic("prompt: " + err.Error())
			}
			t, err := parse(string(text))
			if err != nil {
				panic(fmt.Sprintf("prompt: %s %s: %v", d, v, err))
			}
			sum := sha256.Sum256(text)
			t.Domain, t.Version, t.SHA256, t.Text = d, v, hex.EncodeToString(sum[:]), string(text)
			out = append(out, t)
		}
	}
	return out
})

// Find returns the template of a domain by its version. Domains without templates of their own have the
// general ones.
func Find(domain turnmill.Domain, version string) (*Template, error) {
	d, v := slices.Index(Domains(), domain), slices.Index(Versions(), version)
	if v < 0 {
		return nil, fmt.Errorf("template %q: there are v0 to v%d; turnmill templates lists them", version, versions-1)
	}
	if d < 0 {
		d = len(Domains()) - 1
	}
	return all()[d*versions+v], nil
}

// SetSHA256 names a version in every domain: the hash of the hashes of its templates, in the order of
// Domains, each followed by a line feed.
func SetSHA256(version string) (string, error) {
	h := sha256.New()
	for _, d := range Domains() {
		t, err := Find(d, version)
		if err != nil {
			return "", err
		}
		h.Write([]byte(t.SHA256 + "\n"))
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// Pools returns the names of the pools: each has templates of its own, so that none shares one with another.
func Pools() []string { return []string{"rl", "cpt", "sft"} }

// Choose returns the template under which a pool asks: v0 for rl, v1 for cpt, and for sft one of v2 to v11, each
// as likely as the others, by the id of what is asked. Report, section 3.1.2.
//
// The draw is SHA-256 of "template", seed and id with a zero byte between each two. Its first eight bytes,
// big-endian, are x, and the version is v(2 + floor(10x / 2^64)).
func Choose(seed, id string, domain turnmill.Domain, pool string) (*Template, error) {
	switch pool {
	case "rl":
		return Find(domain, "v0")
	case "cpt":
		return Find(domain, "v1")
	case "sft":
		sum := sha256.Sum256([]byte("template\x00" + seed + "\x00" + id))
		n, _ := bits.Mul64(binary.BigEndian.Uint64(sum[:8]), versions-2)
		return Find(domain, fmt.Sprint("v", 2+n))
	}
	return nil, fmt.Errorf("pool %q: want one of %s", pool, strings.Join(Pools(), ", "))
}

// ID names the template in rows and queries.
func (tmpl *Template) ID() turnmill.Template {
	return turnmill.Template{Version: tmpl.Version, SHA256: tmpl.SHA256}
}

// Name returns domain and version, as in terminal/v3.
func (tmpl *Template) Name() string { return string(tmpl.Domain) + "/" + tmpl.Version }

// Pool returns the pool whose questions are asked under this version.
func (tmpl *Template) Pool() string {
	switch tmpl.Version {
	case "v0":
		return "rl"
	case "v1":
		return "cpt"
	}
	return "sft"
}

// Form says how an answer stands in an assistant's message: tags, marker, or plain where there is nothing
// around it.
func (tmpl *Template) Form() string {
	switch around := tmpl.Wrap(""); {
	case strings.HasPrefix(around, "<predicted_observation>"):
		return "tags"
	case around != "":
		return "marker"
	}
	return "plain"
}
