package hub

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"unicode/utf8"
)

var (
	etagName = regexp.MustCompile(`^[A-Za-z0-9_-][A-Za-z0-9_.-]{0,127}$`) // what may name a file in blobs
	checksum = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
)

// cleanETag takes the quotes and the mark of a weak one off an ETag (RFC 9110, section 8.8.3).
func cleanETag(header string) string {
	return strings.Trim(strings.TrimPrefix(strings.TrimSpace(header), "W/"), `"`)
}

// matches tells whether data has the checksum that its ETag is. The hub's ETags are git's SHA-1 of small files
// and the SHA-256 of large ones; some mirrors give the plain SHA-1. An ETag that is no checksum, such as a
// number of a mirror's own, matches what the file's name says: JSON, or text that is no page.
func matches(etag, name string, data []byte) bool {
	if !checksum.MatchString(etag) {
		return plausible(name, data)
	}
	if len(etag) == hex.EncodedLen(sha256.Size) {
		sum := sha256.Sum256(data)
		return hex.EncodeToString(sum[:]) == etag
	}
	plain := sha1.Sum(data)
	return gitSum(data) == etag || hex.EncodeToString(plain[:]) == etag
}

// plausible is all that can be known without a checksum: an error page of a proxy is neither JSON nor a template.
func plausible(name string, data []byte) bool {
	if filepath.Ext(name) == ".json" {
		return json.Valid(data)
	}
	start := bytes.ToLower(bytes.TrimSpace(data[:min(len(data), 64)]))
	return utf8.Valid(data) && !bytes.HasPrefix(start, []byte("<!doctype")) && !bytes.HasPrefix(start, []byte("<html"))
}

// gitSum is the name that git gives to a file's content.
func gitSum(data []byte) string {
	h := sha1.New()
	fmt.Fprintf(h, "blob %d\x00", len(data))
	h.Write(data)
	return hex.EncodeToString(h.Sum(nil))
}
