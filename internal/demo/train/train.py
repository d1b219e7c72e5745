"""Trains the embedded demo tokenizer: internal/demo/tokenizer.json, of Qwen3's shape, 6,144 tokens.

    python train/train.py          (in internal/demo, with the package `tokenizers` at the version below)

Reads every string in corpus/*.jsonl, so the demo's texts come out in few tokens. The result depends on the
corpus and on the library's version alone; --check trains again and compares with the file.
"""

import argparse
import json
import pathlib
import sys

import tokenizers
from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, trainers

TOKENIZERS = "0.23.3"
HERE = pathlib.Path(__file__).resolve().parent.parent
SIZE = 6144
MOST_BYTES = 400_000
REGEX = (r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
         r"|\s*[\r\n]+|\s+(?!\S)|\s+")
SPECIAL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
PLAIN = ["<think>", "</think>", "<tool_call>", "</tool_call>"]


def strings(value):
    """All strings in a JSON value, keys left out, in the order of the text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for v in value.values():
            yield from strings(v)
    elif isinstance(value, list):
        for v in value:
            yield from strings(v)


def corpus():
    paths = sorted((HERE / "corpus").glob("*.jsonl"))
    if not paths:
        sys.exit(f"no *.jsonl in {HERE / 'corpus'}: the tokenizer is trained on the demo's own texts")
    for path in paths:
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            try:
                value = json.loads(line)
            except ValueError as err:
                sys.exit(f"{path.name}:{number}: {err}")
            for text in strings(value):
                # Texts of control tokens must not become ordinary tokens.
                for token in SPECIAL + PLAIN:
                    text = text.replace(token, "\n")
                yield text


def train(texts):
    tok = Tokenizer(models.BPE())
    tok.normalizer = normalizers.NFC()
    tok.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(REGEX), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, trim_offsets=False, use_regex=False)])
    level = {"add_prefix_space": False, "trim_offsets": False, "use_regex": False}
    tok.decoder = decoders.ByteLevel(**level)
    trainer = trainers.BpeTrainer(vocab_size=SIZE - len(SPECIAL + PLAIN), initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
                                  max_token_length=24, show_progress=False)
    tok.train_from_iterator(texts, trainer)
    spec = json.loads(tok.to_str())
    first = len(spec["model"]["vocab"])
    spec["added_tokens"] = [
        {"id": first + i, "content": token, "single_word": False, "lstrip": False, "rstrip": False,
         "normalized": False, "special": token in SPECIAL}
        for i, token in enumerate(SPECIAL + PLAIN)]
    return json.dumps(spec, ensure_ascii=False, separators=(",", ":")) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 when the file is another")
    args = parser.parse_args()
    if tokenizers.__version__ != TOKENIZERS:
        sys.exit(f"the demo tokenizer is made with tokenizers {TOKENIZERS}; {tokenizers.__version__} is installed")
    texts = list(corpus())
    text = train(texts)
    if train(texts) != text:
        sys.exit("two trainings on one corpus differ")
    size = len(text.encode())
    if size >= MOST_BYTES:
        sys.exit(f"{size} bytes, want less than {MOST_BYTES}; lower SIZE")
    target = HERE / "tokenizer.json"
    if args.check:
        return 0 if target.exists() and target.read_text(encoding="utf-8") == text else 1
    target.write_text(text, encoding="utf-8")
    tok = Tokenizer.from_str(text)
    chars = sum(map(len, texts))
    tokens = sum(len(tok.encode(t).ids) for t in texts)
    print(f"{target.name}: {size} bytes, {tok.get_vocab_size()} tokens, {chars / max(tokens, 1):.2f} characters a token over {chars} characters")
    return 0


if __name__ == "__main__":
    sys.exit(main())
