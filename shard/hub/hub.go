package hub

import (
	"context"
	"errors"
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
	c := newCache(&o, ref, fileName)
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
	return c.fetch(ctx, &o, "tokenizer")
}

// Beside returns another file of the commit that Get's tokenizer.json was of, from the cache or the hub as Get
// does, and nil where there is none: the hub says so, which the cache keeps, or no hub may be asked. name is the
// file's name in the repository, without directories. Errors are those of Get.
func Beside(ctx context.Context, o Options, ref Ref, name string) ([]byte, error) {
	c := newCache(&o, ref, name)
	file, err := c.lookup()
	if err != nil {
		return nil, err
	}
	if file != nil {
		return file.Data, nil
	}
	if o.Offline || o.Endpoint == "" || c.absent(ref.Revision) {
		return nil, nil
	}
	file, err = c.fetch(ctx, &o, "file beside a tokenizer")
	var failed *Error
	switch {
	case err == nil:
		return file.Data, nil
	case !errors.As(err, &failed) || failed.Kind != NotFound:
		return nil, err
	case failed.entry:
		if err := c.storeAbsent(ref.Revision); err != nil {
			o.logger().Warn("not kept in the cache that a file does not exist", "file", name, "error", err)
		}
	}
	return nil, nil // of a repository that has just given its tokenizer.json, any 404 says that
}

// fetch takes the file from the hub and keeps it in the cache; what names it in the log.
func (c *cache) fetch(ctx context.Context, o *Options, what string) (*File, error) {
	f, err := newFetcher(o, c.ref, c)
	if err != nil {
		return nil, err
	}
	got, err := f.fetch(ctx)
	if err != nil {
		return nil, err
	}
	o.logger().Info(what+" fetched", "repository", c.ref.String(), "commit", got.commit, "bytes", len(got.data), "file", c.name)
	if err := c.store(got); err != nil {
		o.logger().Warn(what+" not kept in the cache", "error", err, "file", c.name)
	}
	return &File{Data: got.data, Commit: got.commit}, nil
}
