// Package planted makes made-up secrets for tests: values of the shapes that issuers give out, and texts that hold
// them in every form in which a trajectory may.
//
//	Maker  numbers of a fixed sequence   -> a value, the same one in each run
//	Shapes kind, how a value is made     -> "ghp_" + 36 letters and digits
//	Corpus every shape in every form     -> plain, in JSON, escaped, coloured, wrapped, beside a name
//
// No value was ever given out, and none stands in this file, so that nobody's scanner finds one here.
package planted

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Maker makes values, the same ones for the same start.
type Maker uint64

func (m *Maker) next() uint64 {
	*m = *m*6364136223846793005 + 1442695040888963407
	return uint64(*m >> 33)
}

// Alphabets.
const (
	Digits   = "0123456789"
	Capitals = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	Smalls   = "abcdefghijklmnopqrstuvwxyz"
	Hexes    = "0123456789abcdef"
	Alnum    = Digits + Capitals + Smalls
)

// Of returns n characters of an alphabet. It begins with a letter and has a digit, where the alphabet has any.
func (m *Maker) Of(alphabet string, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = alphabet[m.next()%uint64(len(alphabet))]
	}
	if n > 4 && strings.Contains(alphabet, "7") {
		b[n/2], b[n/3] = '7', '3'
	}
	return string(b)
}

// Shape is a kind of value, with how one is made.
type Shape struct {
	Kind string
	Make func(m *Maker) string
}

// Shapes are the values that say themselves what they are.
var Shapes = []Shape{
	{"github-pat", func(m *Maker) string { return "gh" + "p_" + m.Of(Alnum, 36) }},
	{"github-oauth", func(m *Maker) string { return "gh" + "o_" + m.Of(Alnum, 36) }},
	{"github-fine-grained-pat", func(m *Maker) string { return "github" + "_pat_" + m.Of(Alnum, 82) }},
	{"aws-access-token", func(m *Maker) string { return "AK" + "IA" + m.Of(Capitals[:20]+"234567", 16) }},
	{"gcp-api-key", func(m *Maker) string { return "AI" + "za" + m.Of(Alnum, 35) }},
	{"gitlab-pat", func(m *Maker) string { return "gl" + "pat-" + m.Of(Alnum, 20) }},
	{"slack-bot-token", func(m *Maker) string {
		return "xo" + "xb-" + m.Of(Digits, 12) + "-" + m.Of(Digits, 12) + "-" + m.Of(Alnum, 24)
	}},
	{"stripe-access-token", func(m *Maker) string { return "sk" + "_live_" + m.Of(Alnum, 24) }},
	{"npm-access-token", func(m *Maker) string { return "np" + "m_" + m.Of(Alnum, 36) }},
	{"huggingface-access-token", func(m *Maker) string { return "h" + "f_" + m.Of(Smalls+Capitals, 34) }},
	{"openai-api-key", func(m *Maker) string { return "sk" + "-" + m.Of(Alnum, 20) + "T3Blb" + "kFJ" + m.Of(Alnum, 20) }},
	{"anthropic-api-key", func(m *Maker) string { return "sk-" + "ant-api03-" + m.Of(Alnum, 93) + "AA" }},
	{"pypi-upload-token", func(m *Maker) string { return "pypi-" + "AgEIcHlwaS5vcmc" + m.Of(Alnum, 70) }},
	{"sendgrid-api-token", func(m *Maker) string { return "S" + "G." + m.Of(Alnum, 22) + "." + m.Of(Alnum, 43) }},
	{"digitalocean-pat", func(m *Maker) string { return "dop" + "_v1_" + m.Of(Hexes, 64) }},
	{"shopify-access-token", func(m *Maker) string { return "shp" + "at_" + m.Of(Hexes, 32) }},
	{"linear-api-key", func(m *Maker) string { return "lin" + "_api_" + m.Of(Alnum, 40) }},
	{"postman-api-token", func(m *Maker) string { return "PM" + "AK-" + m.Of(Hexes, 24) + "-" + m.Of(Hexes, 34) }},
	{"databricks-api-token", func(m *Maker) string { return "da" + "pi" + m.Of(Hexes, 32) }},
	{"grafana-service-account-token", func(m *Maker) string { return "gl" + "sa_" + m.Of(Alnum, 32) + "_" + m.Of(Hexes, 8) }},
	{"doppler-api-token", func(m *Maker) string { return "dp" + ".pt." + m.Of(Alnum, 43) }},
	{"planetscale-password", func(m *Maker) string { return "pscale" + "_pw_" + m.Of(Alnum, 43) }},
	{"rubygems-api-token", func(m *Maker) string { return "rubygems" + "_" + m.Of(Hexes, 48) }},
	{"vault-service-token", func(m *Maker) string { return "hv" + "s." + m.Of(Alnum, 95) }},
	{"age-secret-key", func(m *Maker) string {
		return "AGE-" + "SECRET-KEY-1" + m.Of("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)
	}},
	{"jwt", func(m *Maker) string {
		part := func(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }
		return part(`{"alg":"HS256","typ":"JWT"}`) + "." + part(`{"sub":"`+m.Of(Digits, 12)+`"}`) + "." + m.Of(Alnum, 43)
	}},
}

// besides are values that are found by what stands beside them: each text holds one %s.
var besides = []struct {
	kind, text string
	make       func(m *Maker) string
}{
	{"basic-auth", "Authorization: Basic %s", func(m *Maker) string {
		return base64.StdEncoding.EncodeToString([]byte("deploy:" + m.Of(Alnum, 14)))
	}},
	{"bearer-token", "curl -H 'Authorization: Bearer %s' https://api.example.org/v1/me", func(m *Maker) string { return m.Of(Alnum, 40) }},
	{"authorization", "authorization: Token %s", func(m *Maker) string { return m.Of(Hexes, 40) }},
	{"url-password", "postgresql://app:%s@db.internal:5432/app", func(m *Maker) string { return m.Of(Alnum, 18) }},
	{"url-password", "git clone https://ci:%s@git.example.org/a/b.git", func(m *Maker) string { return m.Of(Alnum, 22) }},
	{"user-password", "curl -s -u admin:%s https://example.org/x", func(m *Maker) string { return m.Of(Alnum, 16) }},
	{"password", "export DB_PASSWORD=%s", func(m *Maker) string { return m.Of(Alnum, 12) + "!$" }},
	{"password", "mysql --user root --password %s", func(m *Maker) string { return m.Of(Alnum, 14) }},
	{"password", "password: \"%s\"", func(m *Maker) string { return m.Of(Alnum, 10) }},
	{"token", "NPM_CONFIG_AUTH_TOKEN=%s", func(m *Maker) string { return m.Of(Hexes, 36) }},
	{"token", "declare -x CI_JOB_TOKEN=\"%s\"", func(m *Maker) string { return m.Of(Alnum, 32) }},
	{"secret", "clientSecret: '%s'", func(m *Maker) string { return m.Of(Alnum, 40) }},
	{"secret", "SECRET_KEY_BASE=%s", func(m *Maker) string { return m.Of(Hexes, 64) }},
	{"api-key", "AWS_SECRET_ACCESS_KEY=%s", func(m *Maker) string { return m.Of(Alnum, 20) + "/" + m.Of(Alnum, 18) + "+" }},
	{"api-key", "X-Api-Key: %s", func(m *Maker) string { return m.Of(Alnum, 32) }},
	{"api-key", "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=%s==;EndpointSuffix=x", func(m *Maker) string { return m.Of(Alnum, 86) }},
	{"private-key", "-----BEGIN RSA PRIVATE" + " KEY-----\n%s\n-----END RSA PRIVATE" + " KEY-----", func(m *Maker) string {
		var lines []string
		for range 6 {
			lines = append(lines, m.Of(Alnum+"+/", 64))
		}
		return strings.Join(lines, "\n")
	}},
	{"private-key", "-----BEGIN OPENSSH PRIVATE" + " KEY-----\n%s", func(m *Maker) string { // cut
		return m.Of(Alnum+"+/", 70) + "\n" + m.Of(Alnum+"+/", 70) + "\n" + m.Of(Alnum+"+/", 31)
	}},
	{"private-key", "%s\n-----END PRIVATE" + " KEY-----", func(m *Maker) string { // cut at its start
		return m.Of(Alnum+"+/", 64) + "\n" + m.Of(Alnum+"+/", 64) + "\n" + m.Of(Alnum+"+/", 20)
	}},
}

// Secret is a made-up secret in a text.
type Secret struct {
	Kind  string
	Form  string // how it stands there
	Value string
	Text  string
}

// forms are the ways in which a value of a shape may stand in a text.
var forms = []struct {
	name string
	put  func(value string) string
}{
	{"plain", func(v string) string { return "the key is " + v + " as of today" }},
	{"line", func(v string) string { return v + "\n" }},
	{"arguments", func(v string) string { return `{"command":"deploy --with \"` + v + `\" && echo done\n"}` }},
	{"key", func(v string) string { return `{"properties":{"` + v + `":{"type":"string","default":"` + v + `"}}}` }},
	{"escaped", func(v string) string {
		return `{"x":"` + fmt.Sprintf(`\u%04x`, v[0]) + v[1:5] + fmt.Sprintf(`\u%04x`, v[5]) + v[6:] + `"}`
	}},
	{"nested", func(v string) string {
		inner, _ := json.Marshal(map[string]string{"out": "line one\n" + v + "\n"})
		outer, _ := json.Marshal(map[string]string{"body": string(inner)})
		return string(outer)
	}},
	{"coloured", func(v string) string { return "\x1b[32m" + v[:9] + "\x1b[0m\x1b[1;31m" + v[9:] + "\x1b[0m" }},
	{"coloured early", func(v string) string { return "a " + v[:2] + "\x1b[0m" + v[2:] }},
	{"coloured json", func(v string) string {
		return `{"screen":"$ cat x\r\n\u001b[1m` + v[:12] + `\u001b[m` + v[12:] + `\r\n"}`
	}},
	{"wrapped at 80", func(v string) string {
		return wrapped(strings.Repeat("x", 80-17)+" TOKEN: "+v+" end of it", 80, "")
	}},
	{"wrapped early", func(v string) string { return wrapped(strings.Repeat("y", 77)+" "+v, 80, "") }},
	{"wrapped, indented", func(v string) string { return strings.Repeat("z", 51) + " " + v[:12] + "\n    " + v[12:] }},
	{"wrapped, backslash", func(v string) string { return "deploy --region eu --key " + v[:12] + "\\\n  " + v[12:] }},
	{"url", func(v string) string { return "https://example.org/hook?a=1&t=" + v + "&b=2" }},
	{"call", func(v string) string { return "login(" + v + ")" }},
	{"quoted", func(v string) string { return "os.environ['X'] = '" + v + "'" }},
}

// wrapped breaks a text at a column, as a terminal does.
func wrapped(text string, column int, indent string) string {
	var lines []string
	for len(text) > column {
		lines, text = append(lines, text[:column]), text[column:]
	}
	return strings.Join(append(lines, text), "\n"+indent)
}

// Corpus returns secrets in every form that a value of its kind can have.
func Corpus() (all []Secret) {
	m := Maker(42)
	for _, s := range Shapes {
		for _, f := range forms {
			v := s.Make(&m)
			all = append(all, Secret{Kind: s.Kind, Form: f.name, Value: v, Text: f.put(v)})
		}
	}
	for i, b := range besides {
		v := b.make(&m)
		text := fmt.Sprintf(b.text, v)
		all = append(all, Secret{b.kind, "beside " + strconv.Itoa(i), v, text}, Secret{b.kind, "lines", v, "$ cat it\n" + text + "\n$ ls\n"})
		quoted, _ := json.Marshal(map[string]string{"command": text})
		all = append(all, Secret{b.kind, "arguments", v, string(quoted)})
	}
	return all
}
