"""Compares the ids of an engine with those of the Hugging Face library, text by text.

    python scripts/parity_ids.py tokenizer.json [--engine ENGINE] [--data DIR ...] [--only STAGE ...] [--control TOKEN ...]
    python scripts/parity_ids.py --families WORK [--data DIR ...] [--only STAGE ...]

Needs Python with `tokenizers` (the release that shard/bpe names), and Go; engine hf needs `make hf`. With
--families published files are fetched into WORK, and each goes through every engine that reads it.
Stages:

    data    every file below DIR as one text, and every string inside its JSON
    onecp   every code point in one context
    allcp   every code point in ten contexts: proves the class tables
    fuzz    60,000 strings over pieces that meet at awkward places
    nfc     40,000 strings of decomposable characters, jamo and marks
    worst   long runs: one pre-token of a megabyte, blanks, marks, one character again and again

Special tokens are plain text on both sides (encode_special_tokens), and so are those named by --control.
Ends of bpe are checked for order and for the end of the text, those of hf against the library's offsets.
Exit status 1 when one differs. Texts come from a fixed seed, so a difference can be met again.
"""

import argparse
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time

import fetch_tokenizer
import tokenizers

ROOT = pathlib.Path(__file__).resolve().parent.parent
BATCH = 1 << 21  # characters sent at once

HF_FLAGS = ["-tags", "hf", "-ldflags", '-extldflags "-Wl,--gc-sections"']

CONTEXTS = ["{}", "a{}", "{}a", "a{}b", " {}", "{} ", "'{}", "{}'s 1", "!{}\n", "\n{}  {}{}\u0301"]

PIECES = (
    ["'" + s for s in "s S t T re RE Re rE ve VE m M ll LL lL Ll d D \u017f \u017fs x l r v".split()]
    + ["\u212a", "\u017f", "\u0130", "\u0131", "ß", "ẞ", "ﬆ", "ﬁ", "'", "’", "''", "'s's"]
    + ["a", "Z", "the", "Hello", "world", "café", "cafe\u0301", "日本", "語", "한국", "ไทย", "नमस्ते", "عربي", "Ελλ", "Привет"]
    + ["\u0301", "\u0323\u0301", "\u0301\u0323", "\u20dd", "\u093c", "\u0f71\u0f72", "\U0001e000", "\u1df6", "\ufe0f", "\u200d"]
    + ["👨‍👩‍👧", "🏽", "🇩🇪", "😀", "\U000e0041", "\U0001f9d1\u200d\U0001f4bb"]
    + ["\r", "\n", "\r\n", "\n\r", "\n\n", "\t", "\x0b", "\x0c", " ", "  ", "   ", " \n", "\n ", " \r\n ", "\t\n\t"]
    + [chr(c) for c in (0x85, 0xA0, 0x1680, *range(0x2000, 0x200C), 0x2028, 0x2029, 0x202F, 0x205F, 0x2060, 0x3000, 0xFEFF, 0x180E)]
    + [chr(c) for c in (0, 1, 7, 8, 0x1B, 0x1C, 0x1D, 0x1E, 0x1F, 0x7F, 0x80, 0x9F)]
    + ["\ufffd", "\ufffe", "\uffff", "\U0010ffff", "\ue000", "\u0378", "\u1100\u1161\u11a8", "\u1100", "\u1161", "\u11a7", "\uac00\u11a8"]
    + ["0", "1", "42", "٣", "²", "Ⅷ", "½", "一", "〇", "𝟘", "1.5e-3", "0x7f"]
    + ["!", "...", "--", "=>", "</", "<", ">", "<|", "|>", "_", "#", "://", "{\"a\":", "\\n", "\"", "`", "€", "¿", "。", "、", "·"]
    + ["\x1b[0m", "\x1b[31m", "█", "░", "→", "\u0338"]
    + ["\u0344", "\u0340", "\u0958", "\u212b", "\u2126", "\ufb2c", "\u1e9b\u0323", "\u0f73", "\U0001d15e", "\U000110ba", "\U00011099\U000110ba"]
)


def json_strings(value):
    stack = [value]
    while stack:
        v = stack.pop()
        if isinstance(v, str):
            yield v
        elif isinstance(v, dict):
            stack.extend(v.keys())
            stack.extend(v.values())
        elif isinstance(v, list):
            stack.extend(v)


def data_texts(folders):
    for folder in folders:
        for path in sorted(p for p in pathlib.Path(folder).rglob("*") if p.is_file()):
            text = path.read_bytes().decode("utf-8", "replace")
            yield text
            if path.suffix not in (".json", ".jsonl", ".cast"):
                continue
            try:
                parts = [json.loads(text)]
            except ValueError:
                parts = []
                for line in text.splitlines():
                    try:
                        parts.append(json.loads(line))
                    except ValueError:
                        continue
            for part in parts:
                for s in json_strings(part):
                    yield s.encode("utf-8", "replace").decode()  # lone surrogates become "?"


def codepoint_texts(contexts):
    for context in contexts:
        for c in range(0x110000):
            if not 0xD800 <= c < 0xE000:
                yield context.replace("{}", chr(c))


def fuzz_texts(added):
    pieces = list(PIECES)
    for token in added:
        pieces += [token, token[:-1], token[1:], "<" + token]
    rng = random.Random(20240607)
    for _ in range(60_000):
        n = rng.choice((1, 2, 3, 4, 6, 10, 20, 40))
        yield "".join(rng.choice(pieces) for _ in range(n))


def nfc_texts():
    probe = tokenizers.normalizers.NFD().normalize_str
    everything = [chr(c) for c in range(0x30000) if not 0xD800 <= c < 0xE000]
    changing = [c for c in everything if probe(c) != c and not 0xAC00 <= ord(c) < 0xD7A4]
    marks = [c for c in everything if probe("a\U0001d165" + c + "\u0345\u0334") != "a\U0001d165" + c + "\u0345\u0334"]
    jamo = [chr(c) for c in (*range(0x10FE, 0x1120), *range(0x115E, 0x117A), *range(0x11A5, 0x11C8))]
    syllables = [chr(c) for c in range(0xAC00, 0xD7A4, 7)]
    firsts = sorted({probe(c)[0] for c in changing})
    groups = [changing, marks, jamo, syllables, firsts, list("aeiouAEINOU<>=> '\n1")]
    rng = random.Random(9)
    for _ in range(40_000):
        n = rng.choice((1, 2, 3, 5, 8, 13, 30))
        if rng.random() < 0.01:
            yield "a" + "".join(rng.choice(marks) for _ in range(rng.randrange(500)))
        else:
            yield "".join(rng.choice(groups[rng.choice((0, 1, 1, 2, 3, 4, 5))]) for _ in range(n))


def worst_texts():
    rng = random.Random(3)
    n = 1_000_000
    letters, hexes = "abcdefghijklmnopqrstuvwxyz", "0123456789abcdef"
    base64 = letters + letters.upper() + "0123456789+/"
    yield "a" * n
    yield "".join(rng.choice(letters) for _ in range(n))
    yield "".join(rng.choice(base64) for _ in range(n))
    yield "".join(rng.choice(hexes) for _ in range(n))
    yield "".join(rng.choice("0123456789") for _ in range(n))
    yield "=" * n
    yield "".join(rng.choice("!#$%&()*+-./:;<=>?@[]^_{|}~") for _ in range(n))
    yield " " * 100_000
    yield "\n" * 100_000
    yield (" " * 99 + "\n") * 5_000
    yield (" " * 99 + "x") * 5_000
    yield "中" * 333_000
    yield "".join(chr(rng.randrange(0x4E00, 0x9FA6)) for _ in range(333_000))
    yield "<" * n
    yield "<pipe" * 200_000
    yield "<|im_end|" * 100_000
    yield "<|im_end|>" * 100_000
    yield "<think>" * 100_000
    yield "e" + "\u0301\u0323" * 25_000
    yield "e\u0301" * 100_000
    yield "\u0301" * 50_000
    yield "\U0001d15e" * 50_000
    yield "'s" * 300_000


class Engine:
    """A running scripts/ids. Texts are written by a thread, so neither side waits for the other's buffer."""

    def __init__(self, binary, name, tokenizer, control):
        self.name = name
        self.proc = subprocess.Popen([binary, name, tokenizer, *control], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def encode(self, texts):
        raw = [t.encode() for t in texts]
        data = b"".join(struct.pack("<I", len(r)) + r for r in raw)

        def feed():
            self.proc.stdin.write(data)
            self.proc.stdin.flush()

        thread = threading.Thread(target=feed)
        thread.start()
        out = []
        for r in raw:
            n, forged, added = struct.unpack("<III", self.read(12))
            values = struct.unpack(f"<{2 * n}I", self.read(8 * n))
            out.append((values[:n], values[n:], forged, added, len(r)))
        thread.join()
        return out

    def read(self, n):
        data = self.proc.stdout.read(n)
        if len(data) != n:
            sys.exit("scripts/ids ended early")
        return data

    def close(self):
        self.proc.stdin.close()
        if self.proc.wait() != 0:
            sys.exit("scripts/ids failed")


def oracle(path, control):
    """The library's tokenizer in which special tokens, and the named ones, are plain text."""
    spec = json.loads(path.read_text(encoding="utf-8"))
    unknown = set(control) - {t["content"] for t in spec["added_tokens"]}
    if unknown:
        sys.exit(f"no added tokens of {path}: {sorted(unknown)}")
    for token in spec["added_tokens"]:
        token["special"] = token["special"] or token["content"] in control
    made = tokenizers.Tokenizer.from_str(json.dumps(spec))
    made.encode_special_tokens = True
    others = {t["id"] for t in spec["added_tokens"] if not t["special"]}
    return made, others, [t["content"] for t in spec["added_tokens"]]


def batches(texts):
    batch, size = [], 0
    for text in texts:
        batch.append(text)
        size += len(text)
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def ends_of(text, offsets):
    """What the engine hf makes of the library's offsets, which count characters here: ends never decrease,
    and what was composed into a character belongs to its token."""
    at = [0]
    for c in text:
        at.append(at[-1] + len(c.encode()))
    ends, end = [], 0
    for i, (_, stop) in enumerate(offsets):
        end = max(end, stop)
        following = offsets[i + 1][0] if i + 1 < len(offsets) else len(text)
        while end < following and not text[end].isspace():
            end += 1
        ends.append(at[end])
    return ends


def fault(ours, theirs, others, ends_wanted=None):
    """What is wrong with one answer, or None."""
    ids, ends, _, added, size = ours
    if ids != theirs:
        at = next((i for i, (a, b) in enumerate(zip(ids, theirs)) if a != b), min(len(ids), len(theirs)))
        return f"token {at}: {ids[max(0, at - 2):at + 4]}, the library has {theirs[max(0, at - 2):at + 4]}"
    if ends_wanted is not None and ends_wanted != list(ends):
        at = next(i for i, (a, b) in enumerate(zip(ends, ends_wanted)) if a != b)
        return f"end of token {at}: {ends[at]}, the library has {ends_wanted[at]}"
    if ends_wanted is None and ends and (ends[-1] != size or sorted(ends) != list(ends)):
        return f"ends {ends[-4:]} of a text of {size} bytes"
    if (added or not others.isdisjoint(ids)) and added != sum(i in others for i in ids):
        return f"{added} added tokens counted"
    return None


def compare(name, texts, engine, tok, others):
    count = ids = size = bad = 0
    began = time.monotonic()
    for batch in batches(texts):
        ours = engine.encode(batch)
        offsets = engine.name == "hf"
        library = tok.encode_batch if offsets else tok.encode_batch_fast
        for text, mine, other in zip(batch, ours, library(batch, add_special_tokens=False)):
            theirs = tuple(other.ids)
            count, ids, size = count + 1, ids + len(theirs), size + mine[4]
            wrong = fault(mine, theirs, others, ends_of(text, other.offsets) if offsets else None)
            if wrong:
                bad += 1
                if bad <= 5:
                    print(f"{name}: {text[:60]!r}: {wrong}", flush=True)
    print(f"{name:6} {count:>10,} texts {size:>12,} bytes {ids:>12,} ids {bad} mismatches  {time.monotonic() - began:.0f} s", flush=True)
    return count, ids, bad


def run(args, engine_name, path, control, work):
    """Compares one engine over one file; the number of faults."""
    tok, others, added = oracle(path, control)
    stages = {"data": lambda: data_texts(args.data), "onecp": lambda: codepoint_texts(["!{}a{} {}'s\n"]),
              "allcp": lambda: codepoint_texts(CONTEXTS), "fuzz": lambda: fuzz_texts(added), "nfc": nfc_texts, "worst": worst_texts}
    print(f"{path.parent.name}/{path.name}, engine {engine_name}, tokenizers {tokenizers.__version__}")
    total = (0, 0, 0)
    engine = Engine(build(engine_name, work), engine_name, str(path), control)
    for name, texts in stages.items():
        if name in (args.only or ("data", "allcp", "fuzz", "nfc", "worst")):
            total = tuple(map(sum, zip(total, compare(name, texts(), engine, tok, others))))
    engine.close()
    print(f"total  {total[0]:>10,} texts {total[1]:>25,} ids {total[2]} mismatches", flush=True)
    return total[2]


def shaped(path, shape):
    """The file with the way to cut of another family put in."""
    if not shape:
        return path
    part = json.loads((ROOT / "shard/bpe/testdata/shapes.json").read_text(encoding="utf-8"))[shape]
    spec = json.loads(path.read_text(encoding="utf-8"))
    spec["normalizer"], spec["pre_tokenizer"] = part["normalizer"], part["pre_tokenizer"]
    spec["model"]["ignore_merges"] = part["ignore_merges"]
    made = path.parent / f"tokenizer-{shape}.json"
    made.write_text(json.dumps(spec, ensure_ascii=False), encoding="utf-8")
    return made


def build(engine_name, work):
    binary = str(pathlib.Path(work) / f"ids-{engine_name}")
    flags = HF_FLAGS if engine_name == "hf" else []
    subprocess.run(["go", "build", *flags, "-o", binary, "./scripts/ids"], cwd=ROOT, check=True)
    return binary


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer", type=pathlib.Path, nargs="?")
    parser.add_argument("--families", type=pathlib.Path, metavar="WORK")
    parser.add_argument("--family", action="append", default=[], metavar="NAME", help="of --families only these")
    parser.add_argument("--engine", choices=("bpe", "hf"), help="with --families only this one; else bpe unless told")
    parser.add_argument("--data", action="append", default=[], metavar="DIR")
    parser.add_argument("--only", action="append", default=[], metavar="STAGE")
    parser.add_argument("--control", action="append", default=[], metavar="TOKEN")
    args = parser.parse_args()
    if (args.tokenizer is None) == (args.families is None):
        parser.error("name a tokenizer.json, or --families")
    bad = 0
    with tempfile.TemporaryDirectory() as work:
        if args.tokenizer:
            bad = run(args, args.engine or "bpe", args.tokenizer, args.control, work)
        for name, family in fetch_tokenizer.FAMILIES.items():
            if args.families is None or args.family and name not in args.family:
                continue
            path = fetch_tokenizer.fetch(family.package, family.version, args.families) / "tokenizer.json"
            path = shaped(path, family.shape)
            for engine in family.engines:
                if args.engine in (None, engine):
                    bad += run(args, engine, path, list(family.control) + args.control, work)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
