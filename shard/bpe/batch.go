package bpe

import (
	"encoding/binary"
	"slices"

	"github.com/turnmill/turnmill"
)

// batch is the work on up to wordsAtOnce pre-tokens, step by step, so that each step is a short loop whose
// waits for memory overlap.
//
//	fill     ends      where the pre-tokens end
//	probe    values    what the near cache has for each, right or wrong; missed lists the wrong ones
//	resolve  values    those from the other caches, or merged; long lists of ids go to spill
//	write    tokens    in order
type batch struct {
	masks  [shortBytes + 2]keyMask
	ends   [wordsAtOnce]int32
	values [wordsAtOnce]shortValue
	missed [wordsAtOnce]int32
	spill  []int32
	touch  uint64 // keeps reads that only fetch memory
}

// words cuts text into pre-tokens and appends the ids of each; base is the offset of text for ends.
func (e *Encoder) words(dst *turnmill.Tokens, text []byte, base int) {
	b := &e.batch
	for from := 0; from < len(text); {
		n := e.m.split.fill(&b.ends, text, from)
		last, end := b.word(from, int32(n-1))
		huge := end-last > longBytes
		if huge {
			n--
		}
		missed := e.probe(text, from, n)
		b.spill = b.spill[:0]
		if missed > 0 {
			e.resolve(text, from, b.missed[:missed])
		}
		e.write(dst, base+from, base, n)
		if huge { // in no cache and not through the spill, which would grow with it
			e.emit(dst, e.merge.run(text[last:end], hashBytes(text[last:end])), base+last)
		}
		from = end
	}
}

// emit appends ids whose first byte stands at offset at.
func (e *Encoder) emit(dst *turnmill.Tokens, ids []int32, at int) {
	dst.IDs = append(dst.IDs, ids...)
	for _, id := range ids {
		at += e.m.tokenLen(id)
		dst.Ends = append(dst.Ends, int32(at))
	}
}

// probe looks n pre-tokens up in the near cache. It has no branches that depend on what it finds.
func (e *Encoder) probe(text []byte, from, n int) (missed int) {
	b := &e.batch
	at := from
	k := 0
	for ; k < n && at+16 <= len(text); k++ {
		end := int(b.ends[k])
		m := &b.masks[min(uint(end-at), shortBytes+1)]
		p := text[at : at+16]
		key := shortKey{binary.LittleEndian.Uint64(p) & m.lo, binary.LittleEndian.Uint64(p[8:])&m.hi | m.length}
		entry := e.near.at(key)
		b.values[k] = entry.value
		b.missed[missed] = int32(k)
		wrong := 0
		if (entry.key.lo^key.lo)|(entry.key.hi^key.hi) != 0 {
			wrong = 1
		}
		missed += wrong
		at = end
	}
	for ; k < n; k++ { // the last 16 bytes of the text
		end := int(b.ends[k])
		if end-at <= shortBytes {
			if key := b.key(text, at, end-at); e.near.at(key).key == key {
				b.values[k], at = e.near.at(key).value, end
				continue
			}
		}
		b.missed[missed] = int32(k)
		missed, at = missed+1, end
	}
	return missed
}

// key returns the key of text[i:i+n], n <= shortBytes.
func (b *batch) key(text []byte, i, n int) shortKey { return b.masks[n].key(text, i) }

// word returns where the pre-token with number k begins and ends.
func (b *batch) word(from int, k int32) (start, end int) {
	if k > 0 {
		from = int(b.ends[k-1])
	}
	return from, int(b.ends[k])
}

// resolve finds the values that the near cache did not have.
func (e *Encoder) resolve(text []byte, from int, missed []int32) {
	b := &e.batch
	for _, k := range missed {
		if start, end := b.word(from, k); end-start <= shortBytes {
			p := int(b.key(text, start, end-start).place()>>e.short.shift) * 2
			b.touch ^= e.short.entries[p].key.lo
		}
	}
	for _, k := range missed {
		start, end := b.word(from, k)
		if end-start > shortBytes {
			b.values[k] = e.longWord(text[start:end])
			continue
		}
		key := b.key(text, start, end-start)
		v := e.short.get(key)
		if v.more == 0 || v.more == elsewhere {
			if v = e.shortWord(key, text[start:end], v.more == elsewhere); v.more >= spilled {
				b.values[k] = v
				continue
			}
		}
		*e.near.at(key) = shortEntry{key, v}
		b.values[k] = v
	}
}

// shortWord returns the ids of a pre-token that the short cache does not have, and remembers them. Those
// of more than fewIDs lie in the long cache, and the short one has a note of that.
func (e *Encoder) shortWord(key shortKey, word []byte, noted bool) shortValue {
	hash := hashBytes(word)
	if noted {
		if ids := e.long.get(word, hash); ids != nil {
			return e.batch.put(ids)
		}
	}
	ids := e.merge.run(word, hash)
	if len(ids) > fewIDs {
		e.long.put(word, hash, ids)
		if !noted {
			e.short.put(key, shortValue{more: elsewhere})
		}
		return e.batch.put(ids)
	}
	v := e.m.shortValueOf(ids)
	e.short.put(key, v)
	return v
}

// longWord returns the ids of a pre-token of more than shortBytes, at most longBytes.
func (e *Encoder) longWord(word []byte) shortValue {
	hash := hashBytes(word)
	ids := e.long.get(word, hash)
	if ids == nil {
		ids = e.merge.run(word, hash)
		e.long.put(word, hash, ids)
	}
	return e.batch.put(ids)
}

// put copies ids to the spill.
func (b *batch) put(ids []int32) shortValue {
	v := shortValue{uint64(len(b.spill)), uint64(len(ids)) | spilled}
	b.spill = append(b.spill, ids...)
	return v
}

// write appends the tokens of the first n pre-tokens, the first of which begins at offset at; base is the
// offset of the text. It writes two ids for each and then steps over those that count.
func (e *Encoder) write(dst *turnmill.Tokens, at, base, n int) {
	b := &e.batch
	room := fewIDs*n + len(b.spill)
	dst.IDs, dst.Ends = slices.Grow(dst.IDs, room), slices.Grow(dst.Ends, room)
	ids, ends := dst.IDs[len(dst.IDs):len(dst.IDs)+room], dst.Ends[len(dst.Ends):len(dst.Ends)+room]
	w, start := 0, int32(at)
	for k := range b.ends[:n] {
		v := b.values[k]
		end := b.ends[k] + int32(base)
		if v.more >= spilled {
			for _, id := range b.spill[v.ids : v.ids+v.more&^spilled] {
				start += int32(e.m.lens[id])
				ids[w], ends[w] = id, start
				w++
			}
			continue
		}
		lens := v.more >> 21
		i, o := (*[fewIDs]int32)(ids[w:]), (*[fewIDs]int32)(ends[w:])
		start += int32(lens & 15)
		i[0], o[0] = int32(v.ids&idMask), start
		start += int32(lens >> 4 & 15)
		i[1], o[1] = int32(v.ids>>21&idMask), start
		count := int(v.more >> 37)
		if count > 2 {
			start += int32(lens >> 8 & 15)
			i[2], o[2] = int32(v.ids>>42), start
			i[3], o[3] = int32(v.more&idMask), end
		}
		w, start = w+count, end
	}
	dst.IDs, dst.Ends = dst.IDs[:len(dst.IDs)+w], dst.Ends[:len(dst.Ends)+w]
}
