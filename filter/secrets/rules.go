package secrets

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/zricethezav/gitleaks/v8/config"
)

// rule finds secrets of one kind beside its keywords.
type rule struct {
	kind     string
	keywords []string
	near     near // what the bytes around a keyword have to be, before anything is decoded
	before   int  // and before it, where that is more than reachBefore
	reach    int  // how much of a text is looked at after a keyword, in bytes; 0: reachNamed
	shape    bool // the value alone says what it is, so that it is looked for across soft line ends too
	// window returns the part of a view to search for the keyword at text[at:end], and find what it holds: the value
	// of a secret from the first one on, or false. Windows of one rule are joined before they are searched.
	window func(text []byte, at, end int) (from, to int)
	find   func(text []byte, from, to int, found func(from, to int))
}

// version is part of the hash of the rules: it changes with what the code of this package finds.
const version = "secrets-1"

// rules is the whole set, read-only once it is made.
type rules struct {
	grams   *grams
	all     []*rule
	byFirst [256][]int32 // the keywords of shapes that begin with a byte, folded
	hash    string
}

// all returns the set: issuers first, so that an issuer's name is taken where both match.
var all = sync.OnceValue(func() *rules {
	r := &rules{}
	sum := sha256.New()
	sum.Write([]byte(version + "\x00" + config.DefaultConfig))
	r.hash = hex.EncodeToString(sum.Sum(nil))
	r.all = append(append(issuers(), ours()...), hiding())
	places := map[string]int{}
	var words []keyword
	for _, one := range r.all {
		for _, text := range one.keywords {
			text = foldText(text)
			at, known := places[text]
			if !known {
				at = len(words)
				places[text] = at
				words = append(words, keyword{text: text})
			}
			words[at].rules = append(words[at].rules, one)
		}
	}
	r.grams = newGrams(words)
	for i, w := range r.grams.words {
		if slices.ContainsFunc(w.rules, func(one *rule) bool { return one.shape }) {
			r.byFirst[w.text[0]] = append(r.byFirst[w.text[0]], int32(i))
		}
	}
	return r
})

// Hash names the rules by their content and by the version of what finds them.
func Hash() string { return all().hash }

// Kinds returns the names of all kinds, sorted, each once.
func Kinds() []string {
	var names []string
	for _, r := range all().all {
		if r.kind != "" {
			names = append(names, r.kind)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// issuerRule is a rule of the gitleaks set, of which we read these keys.
type issuerRule struct {
	ID          string   `toml:"id"`
	Regex       string   `toml:"regex"`
	Entropy     float64  `toml:"entropy"`
	Keywords    []string `toml:"keywords"`
	SecretGroup int      `toml:"secretGroup"`
}

// left are rules of the set that we do without: ours do better, or they need a file's name, or what they find is no
// secret, or they find too much that is none.
var left = map[string]string{
	"generic-api-key": "ours", "jwt": "ours", "jwt-base64": "ours", "private-key": "ours", "curl-auth-header": "ours", "curl-auth-user": "ours",
	"hashicorp-tf-password": "ours", "sidekiq-sensitive-url": "ours", "nuget-config-password": "ours", "freemius-secret-key": "ours",
	"pkcs12-file": "file names", "kubernetes-secret-yaml": "file names",
	"discord-client-id": "no secret", "asana-client-id": "no secret", "adobe-client-id": "no secret", "bitbucket-client-id": "no secret",
	"plaid-client-id": "no secret", "linkedin-client-id": "no secret", "looker-client-id": "no secret", "messagebird-client-id": "no secret",
	"flutterwave-public-key": "no secret", "mailgun-pub-key": "no secret", "lob-pub-api-key": "no secret", "sendbird-access-id": "no secret",
	"sumologic-access-id": "no secret",
	"twilio-api-key":      "two letters and a hash", "lob-api-key": "keywords of code", "facebook-access-token": "keyword elsewhere",
	"airtable-personnal-access-token": "keyword elsewhere", "dropbox-api-token": "15 letters", "confluent-access-token": "16 letters",
	"linkedin-client-secret": "16 letters", "linear-client-secret": "a word and a hash",
}

// other keywords than those of the set, which are too common or too short.
var rekeyed = map[string][]string{
	"vault-service-token":                {"hvs."},
	"sourcegraph-access-token":           {"sgp_"},
	"intra42-client-secret":              {"s-s4t2ud-", "s-s4t2af-"},
	"authress-service-client-access-key": {".acc_", ".acc-"},
	"azure-ad-client-secret":             {"0q~", "1q~", "2q~", "3q~", "4q~", "5q~", "6q~", "7q~", "8q~", "9q~"},
	"gocardless-api-token":               {"gocardless"},
	"new-relic-browser-api-token":        {"newrelic", "new_relic", "new-relic"},
	"new-relic-insert-key":               {"newrelic", "new_relic", "new-relic"},
	"new-relic-user-api-key":             {"newrelic", "new_relic", "new-relic"},
	"typeform-api-token":                 {"typeform"},
	"cloudflare-origin-ca-key":           {"v1.0-"},
	"microsoft-teams-webhook":            {"webhook.office.com"},
}

// issuers returns the rules of the gitleaks set that we take.
func issuers() []*rule {
	var set struct {
		Rules []issuerRule `toml:"rules"`
	}
	if err := toml.Unmarshal([]byte(config.DefaultConfig), &set); err != nil {
		panic(fmt.Sprintf("secrets: the rules of gitleaks cannot be read: %v", err))
	}
	var out []*rule
	for i := range set.Rules {
		r := &set.Rules[i]
		if left[r.ID] != "" || r.Regex == "" {
			continue
		}
		if words := rekeyed[r.ID]; words != nil {
			r.Keywords = words
		}
		out = append(out, r.rule())
	}
	return out
}

// named begins the expressions that want the issuer's name, a sign and a value; the others know the value itself.
func (r *issuerRule) named() bool {
	return strings.HasPrefix(r.Regex, `(?i)[\w.-]{0,50}?(?:`) || strings.HasPrefix(r.Regex, `[\w.-]{0,50}?(?i:`)
}

// ends is how the set's expressions want a value to end. In a text a value stands before a bracket or a full stop too.
const ends = `(?:[\x60'"\s;]|\\[nr]|$)`

func (r *issuerRule) rule() *rule {
	pattern := r.Regex
	named := r.named()
	if !named {
		pattern = strings.ReplaceAll(pattern, ends, `(?:[^\w-]|$)`)
	}
	x := &issuer{named: named, group: r.SecretGroup, entropy: r.Entropy, re: sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })}
	out := &rule{kind: r.ID, keywords: r.Keywords, near: nearToken, shape: !named, reach: reachToken, window: tokenWindow, find: x.find}
	if named {
		out.near, out.window, out.reach = nearSign, namedWindow, reachNamed
		x.entropy = max(x.entropy, 3)
	} else {
		x.entropy = min(x.entropy, 2) // the shape has said it already; placeholders are of one letter
	}
	if r.ID == "maxmind-license-key" { // its keyword is the end
		out.near = nearAny
	}
	return out
}

// issuer finds values by an expression of the set, compiled when it is first needed.
type issuer struct {
	re      func() *regexp.Regexp
	group   int
	entropy float64
	named   bool
}

func (x *issuer) find(text []byte, from, to int, found func(from, to int)) {
	for _, m := range x.re().FindAllSubmatchIndex(text[from:to], -1) {
		a, b := m[0], m[1]
		if x.group > 0 {
			a, b = m[2*x.group], m[2*x.group+1]
		} else {
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 && m[g+1] > m[g] {
					a, b = m[g], m[g+1]
					break
				}
			}
		}
		value := text[from+a : from+b]
		if entropy(value) < x.entropy || x.named && !(mixed(value) && secretWord(text[from+m[0]:from+a])) {
			continue
		}
		found(from+a, from+b)
	}
}
