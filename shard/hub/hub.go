package hub

import (
	"context"
	"fmt"
)

// File is a tokenizer.json and the commit that it is of.
type File struct {
	Data   []byte
	Commit string // 40 hexadecimal digits
}

// Get returns the tokenizer.json of a repository: from the cache, without a request, where the cache has it at
// that revision, else from the hub, and then the cache has it too. A cache that cannot be read or written is
// logged and costs nothing else. Errors are *Error, but for the cause of a ctx that ended. It is safe for
// concurrent use, by several processes too.
func Get(ctx context.Context, o Options, ref Ref) (*File, error) {
	c := newCache(&o, ref)
	file, err := c.lookup()
	if err != nil || file != nil {
		return file, err
	}
	if o.Offline || o.Endpoint == "" {
		why := "HF_HUB_OFFLINE forbids to fetch it"
		if !o.Offline {
			why = "no hub is named to fetch it from"
		}
		return nil, &Error{Kind: NotCached, Ref: ref, Cache: o.Cache, what: why,
			try: fmt.Sprintf("unset that, or fetch it beforehand: hf download %s %s --revision %s", ref.Repo, fileName, ref.revision())}
	}
	f, err := newFetcher(&o, ref, c)
	if err != nil {
		return nil, err
	}
	got, err := f.fetch(ctx)
	if err != nil {
		return nil, err
	}
	o.logger().Info("tokenizer fetched", "repository", ref.String(), "commit", got.commit, "bytes", len(got.data))
	if err := c.store(got); err != nil {
		o.logger().Warn("tokenizer not kept in the cache", "error", err)
	}
	return &File{Data: got.data, Commit: got.commit}, nil
}
