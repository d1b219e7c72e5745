package secrets

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/planted"
)

// alike returns texts that look like secrets and are none.
func alike() (all []string) {
	m := planted.Maker(11)
	add := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for range 12 {
		uuid := m.Of(planted.Hexes, 8) + "-" + m.Of(planted.Hexes, 4) + "-4" + m.Of(planted.Hexes, 3) + "-a" + m.Of(planted.Hexes, 3) + "-" + m.Of(planted.Hexes, 12)
		sha1, sha256, sha512, md5 := m.Of(planted.Hexes, 40), m.Of(planted.Hexes, 64), m.Of(planted.Hexes, 128), m.Of(planted.Hexes, 32)
		b64 := base64.StdEncoding.EncodeToString([]byte(m.Of(planted.Alnum, 63)))
		add("commit %s\nAuthor: Dev <dev@example.org>", sha1)
		add("index %s..%s 100644", sha1[:7], sha1[7:14])
		add("%s  release.tar.gz", sha256)
		add("sha512-%s==", base64.StdEncoding.EncodeToString([]byte(m.Of(planted.Alnum, 64)))[:86])
		add(`"integrity": "sha512-%s"`, b64)
		add(`{"id":"%s","parent":"%s"}`, uuid, uuid)
		add("ETag: \"%s\"", md5)
		add("digest: sha256:%s", sha256)
		add("FROM python@sha256:%s", sha256)
		add("h1:%s=", b64[:43])
		add("data:image/png;base64,iVBORw0KGgo%s", b64)
		add(`{"image_url":{"url":"data:image/jpeg;base64,/9j/%s"}}`, strings.Repeat(b64, 4))
		add("background:url(data:font/woff2;base64,d09GMgAB%s)", b64)
		add("!function(e,t){var n=%q;e.%s=t(n)}(this,function(e){return e.token||e.key})", md5[:8], "a"+md5[:4])
		add("cookie consent id=%s", uuid)
		add(`"password_hash": "$2b$12$%s"`, m.Of(planted.Alnum, 53))
		add(`"key": "%s"`, sha1)
		add("cache-key=%s", sha256)
		add("primary_key: %s", uuid)
		add("git checkout %s -- token.py", sha1)
		add("%s", sha512)
		add("0x%s", m.Of(planted.Hexes, 40))
		add("-----BEGIN CERTIFICATE-----\n%s\n-----END CERTIFICATE-----", b64)
		add("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI%s dev@host", m.Of(planted.Alnum, 43))
		add("session %s started at 2026-03-04T10:15:00Z", uuid)
	}
	return append(all, fixedAlike...)
}

// fixedAlike are what documentation, code, templates and listings hold.
var fixedAlike = []string{
	"aws_access_key_id = AK" + "IAIOSFODNN7EXAMPLE",
	"aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
	"Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==",
	"Authorization: Basic dXNlcjpwYXNzd29yZA==",
	"Authorization: Bearer <token>", "Authorization: Bearer $TOKEN", "Authorization: Bearer ${TOKEN}", "Authorization: Bearer YOUR_TOKEN_HERE",
	"Authorization: Bearer {token}", `-H "Authorization: token $GITHUB_TOKEN"`,
	"ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "sk-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", "hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
	"export OPENAI_API_KEY=your-api-key-here", "export OPENAI_API_KEY=sk-...", "OPENAI_API_KEY=<your key>", "API_KEY=${API_KEY}", "API_KEY=$(cat key.txt)", "TOKEN=$1",
	"PASSWORD=changeme", "PASSWORD=password", "DB_PASSWORD=********", "SECRET_KEY=os.environ['SECRET_KEY']", "MAX_TOKENS=4096", "TOKENIZERS_PARALLELISM=false",
	"TOKENIZER=bert-base-uncased", "HF_TOKEN=", "GITHUB_TOKEN: ${{ secrets.GITHUB_TOKEN }}", "password: {{ vault_password }}", "PASSWORD_FILE=/run/secrets/db",
	"API_KEY_PATH=/etc/keys/api", "SECRET=/run/secrets/x", "TOKEN_URL=https://example.org/oauth/token",
	"<|im_start|>assistant", "<|im_end|>", "<|endoftext|>", "<|start_header_id|>system<|end_header_id|>", "<｜User｜>", "<start_of_turn>model",
	`{"eos_token":"<|im_end|>","pad_token":"<|endoftext|>","bos_token":null}`, `"unk_token": "[UNK]"`, `"mask_token": "<mask>"`, `"eos_token_id": 151645`,
	`{"usage":{"prompt_tokens":1532,"completion_tokens":87,"total_tokens":1619}}`, `"max_tokens": 100000`, `"token_count": 123456789`, `"tokens": ["a1", "b2"]`,
	"def get_token(self, token: str) -> Token:", "token = self.tokenizer.next_token()", "token = tokens[i + 1]", "if token == 'abcdef1234567890abcd':", "for token in tokenize(text2vec_v1):",
	"password = getpass.getpass('Password: ')", "password = request.form['password']", "password: str = Field(min_length=8)", "self.password = hash_password(password)",
	"secret = secrets.token_hex(32)", "api_key = os.getenv('API_KEY')", "const apiKey = process.env.API_KEY", "apiKey: config.get('apiKey')", "api_key=settings.OPENAI_API_KEY2",
	"PrivateKey = testRSA2048PrivateKey", "private_key = ed25519.Ed25519PrivateKey.generate()", "PublicKey: publicKey1024", "tls.Certificate{PrivateKey: testEd25519PrivateKey}",
	"Enter your password:", "Password: ", "password incorrect, try again", "The password must have 8 characters", "Passwords do not match", "Reset password: link sent", "passwd: password updated successfully",
	"root:x:0:0:root:/root:/bin/bash", "next_page_token: CAUQAA1b2c3d4e5f6g7h8", `"nextPageToken": "EAAaBlBUOkNESQ1234567890"`, `"continuation_token": "a8f5f167f44f4964e6c998dee827110c"`,
	"http://localhost:8080/a@b", "https://user@example.org/x", "https://example.org:443/path", "ssh://git@github.com:22/a/b.git", "git@github.com:a/b.git", "https://user:pass@host/", "postgres://user:password@localhost/db",
	"postgresql://postgres:postgres@localhost:5432/test", "redis://:${REDIS_PASSWORD}@redis:6379", "http://[::1]:8080/@x", "mailto:a:b@example.org", "https://oauth2:${GITLAB_TOKEN}@gitlab.com/a/b.git",
	"curl -u user:password https://example.org", "curl -u $USER:$PASS https://example.org", "curl --user \"$A\" x", "Basic usage: run the thing", "basic authentication is off", "Basic understanding of algebra",
	"eyJ is how JSON begins in base64", "eyJhbGciOi", "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9", "eyJrZXkiOiJ2YWx1ZSJ9.eyJhIjoxfQ.",
	"-----BEGIN PUBLIC KEY-----\nMIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA\n-----END PUBLIC KEY-----", "-----BEGIN PRIVATE KEY-----\n...\n-----END PRIVATE KEY-----", "grep -r 'BEGIN RSA PRIVATE KEY-----' .",
	"-----BEGIN RSA PRIVATE KEY-----\nyour key here\n-----END RSA PRIVATE KEY-----",
	"Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore et dolore magna aliqua.",
	"asiatic lilies and akia trees", "ghp_ is how such tokens begin", "sk-learn==1.4.2", "scikit-learn 1.5.0", "xoxb tokens are of bots", "glpat- tokens", "npm_config_registry=https://registry.npmjs.org/", "npm_lifecycle_script=webpack --mode production",
	"hf_hub_download(repo_id='a/b', filename='tokenizer.json')", "hf_transformers_cache_directory_for_models", "pat.search(text)", "sat.solve()", "s.split('.')", "SG.utils", "linear(in_features=768, out_features=3072)", "Linear: (3072, 768)",
	"twitter: @someone", "facebook: like us", "travis: build 1234 passed", "sentry: 3 new issues", "jira: PROJ-1234567890", "JIRA = Jira(server)", "okta, auth0 and others", "key: value", "keyboard: Logitech K380 multi-device",
	"access: read-write", "Access-Control-Allow-Origin: *", "auth: none", "author: Jane Q. Public 1234567890", "authority = certificate_authority_2024_v1", "secret santa: 12 people", "secretary: J. Smith",
	"API-first design", "api-version=2024-02-01-preview", "apikeys.list", "client_secret_basic", "token_type: bearer", "grant_type=authorization_code", "csrf: enabled", "tokenizer_class: PreTrainedTokenizerFast",
	"node-v20.11.1-linux-x64.tar.xz", "python-3.12.2-amd64.exe", "build-20260304-1532-x86_64", "i-0abc123def4567890", "arn:aws:iam::123456789012:role/admin", "vpc-0a1b2c3d4e5f67890", "ami-0abcdef1234567890",
	"192.168.1.10:5432", "2001:db8:85a3::8a2e:370:7334", "+49 30 1234567", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "dev@example.org", "/home/al/work/alpha.py", `C:\Users\al\Desktop`, "al dente",
	"REDACTED.github-pat.1", "TOKEN=REDACTED.token.3", "password: [REDACTED]", "https://user:REDACTED.url-password.1@host/", "Authorization: Bearer ***", "AccountKey=...;EndpointSuffix=core.windows.net",
}

// TestAlike: nothing that only looks like a secret is touched, as it stands, quoted, coloured and in a log.
func TestAlike(t *testing.T) {
	all := alike()
	s := New(Scrub)
	for _, text := range all {
		for _, form := range []string{"%s", "$ cat a\n%s\n$ ls\n", "\x1b[32m%s\x1b[0m", "2026-03-04 10:15:00 INFO %s"} {
			d := &turnmill.Document{Text: fmt.Sprintf(form, text)}
			was := d.Text
			if counts := s.Document(d); len(counts) > 0 || d.Text != was {
				t.Errorf("%v: %q became %q", counts, was, d.Text)
			}
		}
	}
	if len(all) < 300 {
		t.Errorf("%d look-alikes: too few to prove anything", len(all))
	}
}
