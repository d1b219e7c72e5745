package secrets

import "bytes"

// named is a rule that goes by the name of a variable, a member, a header or a flag: PASSWORD=…, "api_key": "…",
// X-Token: …, --password ….
func named(kind string, keywords ...string) *rule {
	return &rule{kind: kind, keywords: keywords, near: nearName, reach: reachNamed, window: keywordAlone,
		find: func(text []byte, from, to int, found func(from, to int)) {
			namedValue(text, from, to, kind == kindPassword, found)
		}}
}

func namedValue(text []byte, from, to int, password bool, found func(from, to int)) {
	for n := 0; from > 0 && n < mostName && (wordByte(text[from-1]) || text[from-1] == '-' || text[from-1] == '.'); n++ {
		from--
	}
	for n := 0; to < len(text) && n < mostName && (wordByte(text[to]) || text[to] == '-'); n++ {
		to++
	}
	name := text[from:to]
	if !secretName(name) {
		return
	}
	a, b, how, ok := afterName(text, to)
	if !ok && bytes.HasPrefix(name, []byte("--")) && to < len(text) && text[to] == ' ' {
		a, b, _ = valueAt(text, to+1)
		how, ok = quotedValue, true
	}
	if !ok || b-a < leastValue {
		return
	}
	if value := text[a:b]; worthHiding(name, value, how, password) {
		found(a, b)
	}
}

// how a value is written.
type manner uint8

const (
	bareValue   manner = iota // name = value, or name=value in code
	quotedValue               // in quotes, or a member's: a text for sure
	shellValue                // NAME=value without a blank
)

// afterName reads a sign and a value after a name.
func afterName(text []byte, i int) (from, to int, how manner, ok bool) {
	start := i
	for n := 0; n < 2 && i < len(text) && (text[i] == '"' || text[i] == '\'' || text[i] == '`' || text[i] == ']'); n++ {
		i++
	}
	i = skipBlanks(text, i)
	if i >= len(text) || i-start > 8 {
		return 0, 0, 0, false
	}
	sign := text[i]
	switch {
	case sign == '=' && i+1 < len(text) && text[i+1] == '>':
		i += 2
	case sign == '=' && i+1 < len(text) && text[i+1] != '=', sign == ':' && i+1 < len(text) && text[i+1] != ':':
		i++
		if sign == ':' && text[i] == '=' {
			i++
		}
	default:
		return 0, 0, 0, false
	}
	bare, member := i == start+1 && sign == '=', i > start+1 && text[start] == '"'
	blanks := i
	i = skipBlanks(text, i)
	from, to, quote := valueAt(text, i)
	switch {
	case quote != 0:
		how = quotedValue
	case bare && i == blanks:
		how = shellValue
	case sign == ':' && (i > blanks || member):
		how = quotedValue // of YAML or a header
	}
	return from, to, how, true
}

// worthHiding tells secrets from stand-ins, code and words. What a shell sets under a name of capitals is taken as it
// is; a password has to be more than a word; any other value has to look made by a machine.
func worthHiding(name, value []byte, how manner, password bool) bool {
	if standIn(value) || weakPassword(name, value) {
		return false
	}
	capitals := bytes.Equal(name, bytes.ToUpper(name))
	switch {
	case how == shellValue && capitals && password:
		return !codeLike(value)
	case how == shellValue && capitals:
		return len(value) >= 8 && !allDigits(value) && !codeLike(value)
	case password && how != bareValue:
		return strongWord(value) && !bytes.ContainsAny(value, " {}()")
	}
	return randomValue(value, leastRandom) && !bytes.ContainsAny(value, " {}()") && !namesItself(value)
}

// namesItself tells names of code from values: testRSA2048PrivateKey, cfg.apiKey2.
func namesItself(value []byte) bool {
	lower := bytes.ToLower(value)
	for _, w := range [...]string{"privatekey", "publickey", "secretkey", "encryptionkey", "apikey", "token", "secret", "passw", "credential"} {
		if bytes.Contains(lower, []byte(w)) {
			return true
		}
	}
	return false
}

// codeLike tells references to members and calls from values.
func codeLike(value []byte) bool {
	dots := bytes.Count(value, []byte("."))
	return bytes.ContainsAny(value, "()[]{}") || dots > 0 && identifier(value) && !bytes.ContainsAny(value, "!#%^*+=?")
}

// strongWord tells a password from a word of a language or of code: it has a digit or a sign beside its letters.
func strongWord(value []byte) bool {
	letters, digits, signs := 0, 0, 0
	for _, c := range value {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z' || c >= 0x80:
			letters++
		case '0' <= c && c <= '9':
			digits++
		case c != '_' && c != '-' && c != '.' && c != ' ' && c != ':' && c != '/':
			signs++
		}
	}
	return digits+signs > 0 && letters+digits > 3
}

func allDigits(value []byte) bool { return len(bytes.Trim(value, "0123456789")) == 0 }

// secretName tells names of secrets from names that only hold the word: the last part says what the thing is.
func secretName(name []byte) bool {
	parts := nameParts(name)
	for len(parts) > 1 && (allDigits(parts[len(parts)-1]) || isOneOf(parts[len(parts)-1], "value", "base", "raw", "new", "old", "prod", "dev", "staging", "live", "v")) {
		parts = parts[:len(parts)-1]
	}
	if len(parts) == 0 {
		return false
	}
	last, before := parts[len(parts)-1], parts[:len(parts)-1]
	switch {
	case isOneOf(last, "password", "passwd", "passphrase", "passwort", "secret", "apikey", "accesskey", "authkey", "secretkey", "privatekey", "accountkey", "credential", "credentials"):
		return !holds(before, "no", "has", "is", "show", "hide", "reset", "forgot", "change", "confirm")
	case isOneOf(last, "token", "authtoken", "accesstoken"):
		return !holds(before, "eos", "bos", "pad", "unk", "sep", "cls", "mask", "special", "next", "page", "prev", "continuation", "cursor", "sync", "max", "min", "num", "n", "per",
			"start", "end", "stop", "first", "last", "prompt", "image", "added", "design", "syntax", "parse", "lexer", "word", "sub", "cancel", "cancellation", "class", "is", "has")
	case isOneOf(last, "key"):
		return holds(before[max(len(before)-1, 0):], "api", "access", "secret", "private", "auth", "encryption", "signing", "account", "license", "service", "subscription", "master")
	}
	return len(parts) > 1 && isOneOf(last, "base") && isOneOf(parts[len(parts)-2], "key")
}

func isOneOf(part []byte, words ...string) bool {
	for _, w := range words {
		if string(part) == w {
			return true
		}
	}
	return false
}

func holds(parts [][]byte, words ...string) bool {
	for _, p := range parts {
		if isOneOf(p, words...) {
			return true
		}
	}
	return false
}

// nameParts cuts a name at signs and at capitals, in small letters.
func nameParts(name []byte) (parts [][]byte) {
	start := 0
	take := func(end int) {
		if end > start {
			parts = append(parts, bytes.ToLower(name[start:end]))
		}
		start = end
	}
	small := func(c byte) bool { return 'a' <= c && c <= 'z' }
	capital := func(c byte) bool { return 'A' <= c && c <= 'Z' }
	for i, c := range name {
		switch {
		case c == '_' || c == '-' || c == '.':
			take(i)
			start = i + 1
		case i > 0 && capital(c) && (small(name[i-1]) || i+1 < len(name) && small(name[i+1]) && capital(name[i-1])):
			take(i)
		case i > 0 && ('0' <= c && c <= '9') != ('0' <= name[i-1] && name[i-1] <= '9'):
			take(i)
		}
	}
	take(len(name))
	return parts
}
