package secrets

import "bytes"

// Kinds of our own rules.
const (
	kindPrivateKey    = "private-key"
	kindJWT           = "jwt"
	kindBasicAuth     = "basic-auth"
	kindBearer        = "bearer-token"
	kindAuthorization = "authorization"
	kindURLPassword   = "url-password"
	kindUserPassword  = "user-password" // of curl --user
	kindPassword      = "password"
	kindToken         = "token"
	kindSecret        = "secret"
	kindAPIKey        = "api-key"
)

// ours returns the rules of this package. Those that go by a name come last: where an issuer's rule finds the same,
// that is what the value is called.
func ours() []*rule {
	return []*rule{
		{kind: kindPrivateKey, keywords: []string{"private key-----", "private key block-----"}, near: nearAny, before: reachKey, reach: reachKey, window: keywordAlone, find: privateKey},
		{kind: kindJWT, keywords: []string{"eyj"}, near: nearToken, reach: mostJWT + 256, shape: true, window: keywordAlone, find: jwt},
		{kind: kindBasicAuth, keywords: []string{"basic "}, near: nearToken8, reach: reachToken, shape: true, window: keywordAlone, find: basicAuth},
		{kind: kindBearer, keywords: []string{"bearer "}, near: nearToken, reach: mostJWT, shape: true, window: keywordAlone, find: bearer},
		{kind: kindAuthorization, keywords: []string{"authorization"}, near: nearAny, reach: mostJWT, window: keywordAlone, find: authorization},
		{kind: kindURLPassword, keywords: []string{"://"}, near: nearUser, window: keywordAlone, find: urlPassword},
		{kind: kindURLPassword, keywords: []string{`:\/\/`, `:\\/\\/`}, near: nearAny, window: keywordAlone, find: urlPassword},
		{kind: kindUserPassword, keywords: []string{"curl "}, near: nearCurl, window: keywordAlone, find: curlUser},
		named(kindAPIKey, "api_key", "api-key", "apikey", "access_key", "access-key", "accesskey", "private_key", "privatekey", "auth_key", "authkey",
			"encryption_key", "encryptionkey", "signing_key", "account_key", "accountkey", "license_key", "master_key", "service_key", "subscription_key", "subscription-key"),
		named(kindPassword, "passw", "passphrase"),
		named(kindToken, "token"),
		named(kindSecret, "secret", "credential"),
	}
}

// privateKey takes the body of a key block, which may be cut at either end. The lines that mark it stay.
func privateKey(text []byte, from, to int, found func(from, to int)) {
	line := from
	for line > 0 && text[line-1] != '\n' && from-line < 80 {
		line--
	}
	switch before := text[line:from]; {
	case bytes.Contains(before, []byte("-----BEGIN")):
		body := keyHeaders(text, to)
		takeBody(text, body, keyBody(text, body), found)
	case bytes.Contains(before, []byte("-----END")):
		end := line + bytes.Index(before, []byte("-----END"))
		start := end
		for start > 0 && keyByte(text[start-1]) {
			start--
		}
		takeBody(text, start, end, found)
	}
}

// keyHeaders returns where the headers of a block end: DEK-Info: ..., Version: .... RFC 1421, RFC 4880.
func keyHeaders(text []byte, i int) int {
	for {
		start := i
		for start < len(text) && (text[start] == '\n' || text[start] == ' ' || text[start] == '\t') {
			start++
		}
		end := start
		for end < len(text) && text[end] != '\n' && text[end] != '"' && text[end] != '\'' && end-start < 200 {
			end++
		}
		if end == len(text) || text[end] != '\n' || !bytes.Contains(text[start:end], []byte(": ")) {
			return i
		}
		i = end
	}
}

// keyBody returns where a body ends: base64 in lines, which may be quoted, framed, or pieces that code joins.
func keyBody(text []byte, i int) int {
	for i < len(text) {
		switch c := text[i]; {
		case keyByte(c):
			i++
		case c == '"' || c == '\'':
			next := i + 1
			for next < len(text) && (text[next] == ' ' || text[next] == '\t' || text[next] == '+' || text[next] == ',' || text[next] == '\\' || text[next] == '\n') {
				next++
			}
			if next == len(text) || text[next] != c || bytes.IndexByte(text[i:next], '\n') < 0 {
				return i
			}
			i = next + 1
		default:
			return i
		}
	}
	return i
}

// takeBody takes a body without the blanks and signs around it.
func takeBody(text []byte, from, to int, found func(from, to int)) {
	for from < to && !wordByte(text[from]) && text[from] != '/' && text[from] != '+' {
		from++
	}
	for from < to && !wordByte(text[to-1]) && text[to-1] != '/' && text[to-1] != '+' && text[to-1] != '=' {
		to--
	}
	if to-from >= leastKeyBody && !standIn(text[from:to]) && entropy(text[from:to]) > 3 {
		found(from, to)
	}
}

const leastKeyBody = 32

// keyByte tells what stands in the body of a key block: base64, line ends, and the marks of quoted or framed lines.
func keyByte(c byte) bool {
	return wordByte(c) || c == '+' || c == '/' || c == '=' || c == '\n' || c == ' ' || c == '\t' || c == '|' || c == '>'
}

// urlPassword takes the password of an address. The last @ before the path ends it.
func urlPassword(text []byte, _, to int, found func(from, to int)) {
	colon, at := -1, -1
	for i := to; i < len(text) && i < to+mostUserinfo; i++ {
		c := text[i]
		if c == '/' || c <= ' ' || c == '"' || c == '\'' || c == '`' || c == '<' || c == '>' || c == opaque || c == '\\' {
			break
		}
		if c == ':' && colon < 0 && at < 0 {
			colon = i
		}
		if c == '@' && colon >= 0 {
			at = i
		}
	}
	if colon < 0 || at < 0 || at-colon-1 < 3 {
		return
	}
	user, password := text[to:colon], text[colon+1:at]
	if weakPassword(user, password) {
		return
	}
	found(colon+1, at)
}

// weakPassword tells passwords that keep nothing secret: stand-ins, and those of every example.
func weakPassword(user, password []byte) bool {
	lower := bytes.ToLower(password)
	if len(password) == 0 || bytes.Equal(bytes.ToLower(user), lower) || standIn(password) {
		return true
	}
	for _, w := range [...]string{"password", "passwd", "pass", "pwd", "secret", "token", "guest", "admin", "root", "postgres", "mysql", "test", "user", "api_key", "apikey", "mypassword", "none", "null", "true", "false", "x-oauth-basic", "oauth2", "string"} {
		if string(lower) == w {
			return true
		}
	}
	return false
}

// curlUser takes the password of -u user:password and --user user:password, on the line of a curl.
func curlUser(text []byte, _, to int, found func(from, to int)) {
	end := to
	for end < len(text) && end-to < mostValue && text[end] != '\n' {
		end++
	}
	line := text[to-1 : end]
	for _, flag := range [...]string{" -u ", " --user ", " --user=", " -u"} {
		at := bytes.Index(line, []byte(flag))
		if at < 0 {
			continue
		}
		from, stop, _ := valueAt(text, to-1+at+len(flag))
		stop = min(stop, end)
		colon := bytes.IndexByte(text[from:max(from, stop)], ':')
		if colon > 0 && from+colon+1 < stop && stop-from-colon-1 >= 3 && !weakPassword(text[from:from+colon], text[from+colon+1:stop]) {
			found(from+colon+1, stop)
		}
		return
	}
}

// valueAt returns the value that begins at i: what a quote holds, or up to a blank or a sign that ends a word.
func valueAt(text []byte, i int) (from, to int, quote byte) {
	if i < len(text) && (text[i] == '"' || text[i] == '\'' || text[i] == '`') {
		quote = text[i]
		i++
	}
	from, to = i, i
	for ; to < len(text) && to-from < mostValue; to++ {
		c := text[to]
		if c == quote && quote != 0 || c == '\n' || c == opaque {
			break
		}
		if quote == 0 && (c <= ' ' || c == '"' || c == '\'' || c == '`' || c == ',' || c == ';' || c == ')' || c == '}' || c == ']' || c == '<' || c == '>' || c == '&' || c == '|' || c == '(' || c == '[') {
			break
		}
	}
	return from, to, quote
}
