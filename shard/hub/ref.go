package hub

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// fileName is the file that is looked for.
const fileName = "tokenizer.json"

// defaultRevision is what a name without a revision means.
const defaultRevision = "main"

// Ref names a repository at a revision.
type Ref struct {
	Repo     string // "gpt2", "Qwen/Qwen3-8B"
	Revision string // a branch, a tag or a commit; "" means main
}

// String returns the name as ParseRef takes it.
func (r Ref) String() string {
	if r.Revision == "" {
		return r.Repo
	}
	return r.Repo + "@" + r.Revision
}

func (r Ref) revision() string {
	if r.Revision == "" {
		return defaultRevision
	}
	return r.Revision
}

// ParseRef reads REPO, ORG/REPO, and either with @REVISION. It takes what the hub takes for a repository's
// name, but for names that end in .json, which are mistyped paths. The result is safe in a path and in a URL.
func ParseRef(name string) (Ref, error) {
	repo, revision, given := strings.Cut(name, "@")
	if err := checkRepo(repo); err != nil {
		return Ref{}, err
	}
	if given {
		if err := checkRevision(revision); err != nil {
			return Ref{}, err
		}
	}
	return Ref{repo, revision}, nil
}

var (
	repoPart     = regexp.MustCompile(`^[A-Za-z0-9_](?:[A-Za-z0-9_.-]{0,94}[A-Za-z0-9_])?$`)
	revisionPart = regexp.MustCompile(`^[A-Za-z0-9_+-][A-Za-z0-9_.+-]*$`)
	commitHash   = regexp.MustCompile(`^[0-9a-f]{40}$`)
)

func checkRepo(repo string) error {
	parts := strings.Split(repo, "/")
	switch {
	case strings.Contains(repo, "://"):
		return errors.New("a repository is named without its address, as in Qwen/Qwen3-8B")
	case len(parts) > 2:
		return fmt.Errorf("a repository is NAME or ORG/NAME, and this has %d parts", len(parts))
	case strings.HasSuffix(repo, ".json"):
		return errors.New("a repository is named, not a file in it, as in Qwen/Qwen3-8B")
	case strings.HasSuffix(repo, ".git"):
		return errors.New("a repository is named without .git")
	case strings.Contains(repo, "--"), strings.Contains(repo, ".."):
		return errors.New("no repository has -- or .. in its name")
	}
	for _, part := range parts {
		if !repoPart.MatchString(part) {
			return fmt.Errorf("%q is no part of a repository's name: 1 to 96 letters, digits, dots, dashes and underscores, no dot or dash at either end", short(part))
		}
	}
	return nil
}

// longestRevision keeps the names of files below refs, temporary ones too, within what file systems take.
const longestRevision = 200

func checkRevision(revision string) error {
	bad := len(revision) > longestRevision || strings.Contains(revision, "..")
	for part := range strings.SplitSeq(revision, "/") {
		bad = bad || !revisionPart.MatchString(part)
	}
	if bad {
		return fmt.Errorf("%q after @ is no revision: want a branch, a tag or a commit of up to %d letters, digits and ._-+/", short(revision), longestRevision)
	}
	return nil
}

// short cuts what a message quotes.
func short(s string) string {
	const most = 100
	if len(s) > most {
		return strings.ToValidUTF8(s[:most], "") + "…"
	}
	return s
}
