"""Writes testdata: small tokenizers, and what the Hugging Face library makes of texts with them.

    python gen/fixtures.py          (in shard/bpe, with the package `tokenizers` at the version below)

    tiny.json     Qwen3's shape, trained on the lines below
    odd.json      the same shape at its corners: ids shuffled, merges as strings, added tokens that overlap,
                  are normalized, stand in the vocabulary
    edges.json    merges across every border of two characters, so that ids show each cut of the scanner
    shapes.json   what the other families put in place of parts of these files
    pieces.json   what the generated texts are made of
    cases.jsonl   texts and their ids
    digests.json  SHA-256 over the ids of generated texts: too many to store
"""

import hashlib
import json
import pathlib
import random
import struct
import sys

import tokenizers
from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

TOKENIZERS = "0.23.3"
OUT = pathlib.Path(__file__).resolve().parent.parent / "testdata"
REGEX = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
QWEN35 = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*"
          r"|\s*[\r\n]+|\s+(?!\S)|\s+")
LLAMA3 = REGEX.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
O200K = (r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"
         r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+")
DEEPSEEK = [r"\p{N}{1,3}", "[一-龥぀-ゟ゠-ヿ]+",  # line ends stand in the last one as themselves
            '[!"' r"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^" "\r\n" r"\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+| ?[\p{P}\p{S}]+["
            "\r\n" r"]*|\s*[" "\r\n" r"]+|\s+(?!\S)|\s+"]

LINES = """
The agent opened the file, read forty lines and closed it again. It's done; they're waiting, we've won, I'm sure you'll agree he'd go.
def main(args):\n    for name in args:\n        print(name, len(name))\n    return 0\n\nif __name__ == "__main__":\n    main(["one", "two"])\n
{"name": "list_files", "arguments": {"path": "/home/user/project", "depth": 2}, "id": 17, "ok": true, "items": []}
$ ls -la src\ntotal 48\r\ndrwxr-xr-x  4 user user  4096 Jan  1 10:00 .\r\n-rw-r--r--  1 user user   812 Jan  1 10:00 main.go\r\n
<html><body><div class="row"><a href="https://example.org/a?b=1&c=2">link</a></div></body></html>
func add(a, b int) (int, error) {\n\tif a > b {\n\t\treturn 0, errors.New("no")\n\t}\n\treturn a + b, nil\n}\n
Der Wagen fährt über die Brücke, während die Vögel schweigen. Größe, Straße, Übung.
L'été dernier, nous avons mangé des crêpes à la crème près du château, où l'on joue.
El niño pequeño soñó con un pingüino; mañana volverá la lluvia a la montaña.
Поезд идёт на север, и за окном медленно падает снег. Очень тихо.
Το πλοίο έφυγε από το λιμάνι το πρωί και η θάλασσα ήταν ήσυχη.
今天下午我们去公园散步,然后回家做饭。天气很好,孩子们都很高兴。
明日は朝から会議があるので、早く寝ます。コンピューターの電源を切ってください。
오늘은 날씨가 맑아서 산책을 했습니다. 내일은 비가 온다고 합니다.
ذهب الولد إلى المدرسة في الصباح وعاد إلى البيت في المساء.
मैं कल बाज़ार जाऊँगा और सब्ज़ियाँ लाऊँगा। यह किताब अच्छी है।
วันนี้อากาศดีมาก เราไปเดินเล่นที่สวนสาธารณะ
Tôi đang học tiếng Việt và thấy nó rất thú vị; ngày mai trời sẽ mưa.
👩‍💻 wrote code 😀😀 and 🇫🇷 won 🏆!!! ── ═══ ███ → ← ✓ ✗ … “quoted” ‘text’ — dash – dash
0123456789 3.14159 1e-9 0xDEADBEEF 2024-01-31T23:59:59Z 192.168.0.1:8080 ½ ² Ⅳ
error: line 12: unexpected token '}'; expected ')' or ','\n\n\n    at parse (parser.js:88:13)\n    at run (index.js:7:1)\n
""".strip("\n")

CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
OTHER = ["<think>", "</think>", "<tool_call>", "</tool_call>"]
CONTEXT = "a{}a!{}\n{}1 {}\t{}'{}A{}T{}b/"
PLANES = [0, 1, 2, 3, 14]  # the others hold no assigned character; scripts/parity_ids.py compares them too
SETS = {"fuzz": 20_000, "nfc": 20_000}
SHAPE_PLANES = [0, 1, 14]
SHAPE_FUZZ = 10_000


def train(size):
    tok = shape(models.BPE())
    trainer = trainers.BpeTrainer(vocab_size=size, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False)
    lines = [line.replace("\\n", "\n").replace("\\r", "\r").replace("\\t", "\t") for line in LINES.split("\n")]
    tok.train_from_iterator(lines * 4, trainer)
    return json.loads(tok.to_str())


def shape(model):
    tok = Tokenizer(model)
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(tokenizers.Regex(REGEX), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
    tok.decoder = decoders.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)
    return tok


def entry(number, content, special=False, normalized=False):
    return {"id": number, "content": content, "single_word": False, "lstrip": False, "rstrip": False,
            "normalized": normalized, "special": special}


def tiny():
    spec = train(1200)
    n = len(spec["model"]["vocab"])
    spec["added_tokens"] = [entry(n + i, t, t in CONTROL) for i, t in enumerate(CONTROL + OTHER)]
    return spec


def odd():
    spec = train(600)
    model = spec["model"]
    names = list(model["vocab"]) + ["<|pad|>"]  # a control token in the middle of the vocabulary
    random.Random(1).shuffle(names)
    model["vocab"] = {name: i for i, name in enumerate(names)}
    model["merges"] = [" ".join(m) for m in model["merges"]]
    model["continuing_subword_prefix"] = model["end_of_word_suffix"] = ""
    n = len(names)
    added = [("<|pad|>", True, False), ("<a>", False, False), ("<a><b>", False, False), ("a><", False, False), ("<a><b>c", True, False),
             ("caf\u00e9!", False, True), ("u\u0308ber", False, True), ("<N>", True, True), ("<N>x", False, True), ("\u0338>", False, False),
             ("the ", False, True), ("\n\n\n\n", False, False)]
    spec["added_tokens"] = []
    for content, special, normalized in added:
        number = model["vocab"].get(content, n)
        n += number == n
        spec["added_tokens"].append(entry(number, content, special, normalized))
    return spec


def edges():
    alphabet = byte_alphabet()
    ascii_bytes = [ord(c) for c in "abs'! 1\n\r\tTlA/"]
    leads, inner = range(0xC2, 0xF5), range(0x80, 0xC0)
    pairs = [(a, b) for a in ascii_bytes for b in ascii_bytes]
    pairs += [(a, b) for a in ascii_bytes for b in leads] + [(a, b) for a in inner for b in ascii_bytes]
    pairs += [(a, b) for a in inner for b in leads]
    vocab = {alphabet[b]: b for b in range(256)}
    merges = []
    for a, b in pairs:
        vocab[alphabet[a] + alphabet[b]] = len(vocab)
        merges.append([alphabet[a], alphabet[b]])
    spec = json.loads(shape(models.BPE()).to_str())
    spec["model"]["vocab"], spec["model"]["merges"] = vocab, merges
    return spec


def cut_by(regexes, behavior="Isolated", invert=False):
    parts = [{"type": "Split", "pattern": {"Regex": r}, "behavior": behavior, "invert": invert} for r in regexes]
    return {"type": "Sequence", "pretokenizers": parts + [byte_level(False)]}


def byte_level(regex):
    return {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": regex}


def shapes():
    """Parts of the file by family, as published files have them."""
    return {
        "qwen3.5": {"normalizer": {"type": "NFC"}, "pre_tokenizer": cut_by([QWEN35]), "ignore_merges": False},
        "llama3": {"normalizer": None, "pre_tokenizer": cut_by([LLAMA3]), "ignore_merges": True},
        "cl100k": {"normalizer": None, "pre_tokenizer": cut_by([LLAMA3], "Removed", True), "ignore_merges": False},
        "o200k": {"normalizer": None, "pre_tokenizer": cut_by([O200K]), "ignore_merges": True},
        "gpt-4o": {"normalizer": None, "pre_tokenizer": cut_by([O200K], "Removed", True), "ignore_merges": False},
        "deepseek": {"normalizer": {"type": "Sequence", "normalizers": []}, "pre_tokenizer": cut_by(DEEPSEEK), "ignore_merges": False},
        "gpt2": {"normalizer": None, "pre_tokenizer": byte_level(True), "ignore_merges": False},
    }


def shaped(spec, part):
    spec = json.loads(json.dumps(spec))
    spec["normalizer"], spec["pre_tokenizer"] = part["normalizer"], part["pre_tokenizer"]
    spec["model"]["ignore_merges"] = part["ignore_merges"]
    return spec


def byte_alphabet():
    plain = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    chars, extra = {}, 0x100
    for b in range(256):
        if b in plain:
            chars[b] = chr(b)
        else:
            chars[b], extra = chr(extra), extra + 1
    return chars


def oracle(spec, control=()):
    spec = json.loads(json.dumps(spec))
    for t in spec["added_tokens"]:
        t["special"] = t["special"] or t["content"] in control
    tok = Tokenizer.from_str(json.dumps(spec))
    tok.encode_special_tokens = True
    return tok


def pieces():
    sys.path.insert(0, str(OUT.parent.parent.parent / "scripts"))
    import parity_ids
    added = CONTROL + OTHER + ["<a>", "<a><b>", "<a><b>c", "a><", "caf\u00e9!", "cafe\u0301!", "u\u0308ber", "\u00fcber", "<N>", "<N>x", "the "]
    fuzz = parity_ids.PIECES + [p for t in added for p in (t, t[:-1], t[1:])]
    probe = normalizers.NFD().normalize_str
    rng = random.Random(5)
    everything = [chr(c) for c in range(0x30000) if not 0xD800 <= c < 0xE000]
    changing = [c for c in everything if probe(c) != c and not 0xAC00 <= ord(c) < 0xD7A4]
    marks = [c for c in everything if probe("a\U0001d165" + c + "\u0345\u0334") != "a\U0001d165" + c + "\u0345\u0334"]
    jamo = [chr(c) for c in (0x10FF, 0x1100, 0x1112, 0x1113, 0x1160, 0x1161, 0x1175, 0x1176, 0x11A7, 0x11A8, 0x11C2, 0x11C3, 0xAC00, 0xAC01, 0xD788, 0xD7A3)]
    nfc = rng.sample(changing, 250) + rng.sample(marks, 250) + sorted({probe(c)[0] for c in rng.sample(changing, 100)}) + jamo * 4 + list("aeiou<=> 1")
    return {"fuzz": fuzz, "nfc": nfc, "context": CONTEXT}


def stream(seed):
    """splitmix64: the tests draw the same numbers."""
    state = seed
    while True:
        state = (state + 0x9E3779B97F4A7C15) & (2**64 - 1)
        z = state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & (2**64 - 1)
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & (2**64 - 1)
        yield z ^ (z >> 31)


def generated(parts, count):
    draw = stream(len(parts))
    for _ in range(count):
        yield "".join(parts[next(draw) % len(parts)] for _ in range(1 + next(draw) % 24))


def digest(tok, texts):
    sha, ids, batch = hashlib.sha256(), 0, []

    def flush():
        nonlocal ids
        for e in tok.encode_batch_fast(batch, add_special_tokens=False):
            ids += len(e.ids)
            sha.update(struct.pack(f"<{len(e.ids) + 1}I", len(e.ids), *e.ids))
        batch.clear()

    for text in texts:
        batch.append(text)
        if len(batch) == 20_000:
            flush()
    flush()
    return {"ids": ids, "sha256": sha.hexdigest()}


def plane(number):
    for c in range(number << 16, (number + 1) << 16):
        if not 0xD800 <= c < 0xE000:
            yield CONTEXT.replace("{}", chr(c))


def cases(specs, parts):
    texts = ["", " ", "\n", "a", "\u0000", "\ufffd", "I'M he'S we'Re they'VE you'LL o'D '\u017f '\u212a '", "x<|im_end|>\n<|im_start|>assistant",
             "<think>\u0338", "<|im_end|>\u0338", "<|im_en", "a<|im_end|><|im_end|>", "<think><|im_start|></think>", "<<think>>",
             "a <think> b", "a  <think>  b", "  \n <think>\n\n", "<tool_call>\n{}\n</tool_call>", "cafe\u0301", "e\u0323\u0301\u0301", "\u1e9b\u0323",
             "\u0041\u030a\u212b\u00c5", "\u1112\u1161\u11ab", "\U0001d15e\U0001d15f", "caf\u00e9! cafe\u0301!", "u\u0308ber \u00fcber", "<N> <N>x <N>\u0338",
             "<a><b>", "<a><b>c", "<a><a><b>d", "a><b", "\u0338>\u0338>", "the the  the", "\n\n\n\n\n", "\n\n\n\n\u0338", "a" * 200, "ab" * 100, " " * 100, " \n" * 50]
    texts += list(generated(parts["fuzz"], 120)) + list(generated(parts["nfc"], 60))
    for name, spec in specs.items():
        for control in ([], ["<think>", "<a><b>", "<N>x", "the "]):
            known = [t["content"] for t in spec["added_tokens"]]
            if control and not set(control) & set(known):
                continue
            tok = oracle(spec, control)
            for text in texts[:len(texts) if not control else 40]:
                yield {"tokenizer": name, "control": control, "text": text, "ids": tok.encode(text, add_special_tokens=False).ids}
    for shape_name, part in shapes().items():
        tok = oracle(shaped(specs["tiny.json"], part))
        for text in texts[:100]:
            yield {"tokenizer": "tiny.json", "shape": shape_name, "text": text, "ids": tok.encode(text, add_special_tokens=False).ids}


def compact(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def main():
    if tokenizers.__version__ != TOKENIZERS:
        sys.exit(f"the fixtures follow tokenizers {TOKENIZERS}; {tokenizers.__version__} is installed")
    OUT.mkdir(exist_ok=True)
    specs = {"tiny.json": tiny(), "odd.json": odd(), "edges.json": edges()}
    for name, spec in specs.items():
        (OUT / name).write_text(compact(spec) + "\n", encoding="utf-8")
    parts = pieces()
    (OUT / "pieces.json").write_text(json.dumps(parts, separators=(",", ":")) + "\n")
    with open(OUT / "cases.jsonl", "w") as f:
        for case in cases(specs, parts):
            f.write(json.dumps(case, separators=(",", ":")) + "\n")
    digests = []
    for name, spec in specs.items():
        tok = oracle(spec)
        for kind, count in SETS.items():
            digests.append({"tokenizer": name, "set": kind, "texts": count, **digest(tok, generated(parts[kind], count))})
    tok = oracle(specs["edges.json"])
    for number in PLANES:
        digests.append({"tokenizer": "edges.json", "set": f"plane {number}", **digest(tok, plane(number))})
    for shape_name, part in shapes().items():
        for name in ("tiny.json", "odd.json", "edges.json"):
            if name == "odd.json" and part["ignore_merges"]:
                continue  # an added token of it stands in the vocabulary
            tok = oracle(shaped(specs[name], part))
            where = {"tokenizer": name, "shape": shape_name}
            digests.append({**where, "set": "fuzz", "texts": SHAPE_FUZZ, **digest(tok, generated(parts["fuzz"], SHAPE_FUZZ))})
            for number in SHAPE_PLANES if name == "edges.json" else ():
                digests.append({**where, "set": f"plane {number}", **digest(tok, plane(number))})
    (OUT / "shapes.json").write_text(compact(shapes()) + "\n", encoding="utf-8")
    (OUT / "digests.json").write_text("[\n" + ",\n".join(json.dumps(d) for d in digests) + "\n]\n")
    for path in sorted(OUT.iterdir()):
        print(path.name, path.stat().st_size)


if __name__ == "__main__":
    main()
