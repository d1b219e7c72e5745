package judge

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/turnmill/turnmill"
)

// RubricVersion names the texts that judges are sent. Any change of a word is a new version.
const RubricVersion = "1"

// Rubric is what a judge of one domain is told. Its identity is version, name and hash.
type Rubric struct {
	Name    string `json:"name"`    // the domain, or general
	Version string `json:"version"` // RubricVersion
	SHA256  string `json:"sha256"`  // of the texts for scores, pairs and verdicts, rubric included, a zero byte after each

	texts [numKinds]string // with the slot {{key}} left
}

// general serves domains without a rubric of their own.
const general = "general"

// rubrics are read once; they are constants of the program.
var rubrics = readRubrics()

// Rubrics returns all rubrics, the seven domains' in the report's order, then the general one.
func Rubrics() []Rubric { return append([]Rubric(nil), rubrics...) }

// RubricFor returns the rubric of a domain, the general one for any other.
func RubricFor(domain turnmill.Domain) *Rubric {
	for i := range rubrics {
		if rubrics[i].Name == string(domain) {
			return &rubrics[i]
		}
	}
	return &rubrics[len(rubrics)-1]
}

// readRubrics fills the slots of the prompts, each once: what fills a slot is not looked at again.
func readRubrics() []Rubric {
	names := []string{}
	for _, d := range turnmill.Domains() {
		names = append(names, string(d))
	}
	var all []Rubric
	for _, name := range append(names, general) {
		r := Rubric{Name: name, Version: RubricVersion}
		h := sha256.New()
		slots := strings.NewReplacer("{{frame}}", mustRead("prompts/frame.txt"), "{{rubric}}", mustRead("rubrics/"+name+".txt"))
		for k := range r.texts {
			r.texts[k] = slots.Replace(mustRead("prompts/" + Kind(k).String() + ".txt"))
			h.Write([]byte(r.texts[k] + "\x00"))
		}
		r.SHA256 = hex.EncodeToString(h.Sum(nil))
		all = append(all, r)
	}
	return all
}

// system returns what a judge is told for one question.
func (r *Rubric) system(k Kind, key string) string {
	return strings.ReplaceAll(r.texts[k], "{{key}}", key)
}

// mustRead returns an embedded file; that it is there is proved by any test.
func mustRead(name string) string {
	b, err := files.ReadFile(name)
	if err != nil {
		panic(err)
	}
	return string(b)
}
