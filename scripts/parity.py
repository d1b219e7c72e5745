"""Proves rows against transformers and shards against datasets.

  parity.py --turnmill BIN --work DIR

For each source of real trajectories that turnmill reads (TURNMILL_DATA), the first 50 conversations in the
order of paths, and for the demo corpus all, are written once as unified records and once as chat messages.
turnmill makes rows of the first, transformers of the second, with the same tokenizer.json. Ids and the
places that carry loss must be equal, for the formats chatml and qwen3.

Contents that the published template would trim are trimmed beforehand on both sides. Conversations that
hold a control token's text are left out and counted, because transformers takes it for control.
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

import datasets
import fetch_tokenizer
import transformers

CHATML = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
)
PER_SOURCE = 50
PARTS = ("task_description", "action_space", "initial_state", "demonstrations", "simulation_instruction")


def run(*args):
    return subprocess.run([str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def conversations(turnmill, files):
    """The unified trajectories of the files, in order, at most PER_SOURCE, and how many files gave any."""
    out, read = [], 0
    for f in files:
        got = run(turnmill, "ingest", f)
        lines = [json.loads(line) for line in got.stdout.decode().split("\n") if line]
        lines = [t for t in lines if t.get("kind") != "document" and t.get("turns")]
        read += bool(lines)
        out += lines
        if len(out) >= PER_SOURCE:
            return out[:PER_SOURCE], read
    return out, read


def trim(content):
    """What the published Qwen3 template does to an assistant's content."""
    return content.split("</think>")[-1].lstrip("\n")


def prepared(trajectory, n):
    """The trajectory with contents that no template changes, under an id that stands for its place."""
    t = dict(trajectory, id=f"conversation-{n}")
    t["turns"] = [dict(x, action=x.get("action") or "", observation=trim(x["observation"])) for x in t["turns"]]
    return t


def messages(t):
    system = "\n\n".join(p for p in (t.get("system", {}).get(k, "") for k in PARTS) if p)
    out = [{"role": "system", "content": system}] if system else []
    for x in t["turns"]:
        user = x["action"]
        if x.get("state"):
            user = f"Current state:\n{x['state']}\n\nAction:\n{user}"
        out += [{"role": "user", "content": user}, {"role": "assistant", "content": x["observation"]}]
    return out


def expected(tokenizer, chat, msgs):
    """Ids, and the places that carry loss: tokens whose last character lies in an assistant's content, and
    the end token after it."""
    ids = tokenizer.apply_chat_template(msgs, tokenize=True, return_dict=False)
    assert isinstance(ids, list) and all(isinstance(i, int) for i in ids), "ids asked for, not a mapping"
    text = tokenizer.apply_chat_template(msgs, tokenize=False)
    enc = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    assert enc["input_ids"] == ids, "the rendered text encodes to other ids than the template call gave"
    trained, at = set(), 0
    for i, m in enumerate(msgs):
        head = f"<|im_start|>{m['role']}\n"
        if chat == "qwen3" and m["role"] == "assistant" and i == len(msgs) - 1:
            head += "<think>\n\n</think>\n\n"
        whole = head + m["content"] + "<|im_end|>"
        assert text.startswith(whole, at), "the rendered text is not made of the messages"
        if m["role"] == "assistant":
            trained.update(range(at + len(head), at + len(whole)))
        at += len(whole) + len("\n")
    assert at == len(text)
    return ids, [end > start and end - 1 in trained for start, end in enc["offset_mapping"]]


def rows(turnmill, work, name, chat, tokenizer_dir, trajectories):
    source, out = work / f"{name}-{chat}.jsonl", work / f"{name}-{chat}"
    shutil.rmtree(out, ignore_errors=True)
    source.write_text("".join(json.dumps(t, ensure_ascii=False) + "\n" for t in trajectories), encoding="utf-8")
    got = run(turnmill, "cpt", source, "-o", out, "--tokenizer", tokenizer_dir, "--chat", chat, "--mask", "off",
              "--filters", "none", "--train-dialogue", "--progress", "none")
    if got.returncode:
        sys.exit(f"turnmill cpt: exit {got.returncode}\n{got.stderr.decode()}")
    check = run(turnmill, "check", out)
    if check.returncode:
        sys.exit(f"turnmill check: exit {check.returncode}\n{check.stderr.decode()}")
    train = datasets.load_from_disk(str(out / "train"))
    assert train.num_rows == datasets.load_from_disk(str(out))["train"].num_rows
    return train


def compare(args, name, chat, tokenizer, trajectories, control):
    kept, forged = [], 0
    for n, t in enumerate(trajectories):
        t = prepared(t, n)
        if any(c in m["content"] for m in messages(t) for c in control):
            forged += 1
            continue
        kept.append(t)
    if not kept:
        return 0, forged, 0, 0
    train = rows(args.turnmill, args.work, name, chat, args.tokenizer, kept)
    assert train.num_rows == len(kept), f"{train.num_rows} rows for {len(kept)} conversations"
    tokens = bad = 0
    for row, t in zip(train, kept):
        ids, loss = expected(tokenizer, chat, messages(t))
        got = [label != -100 for label in row["labels"]]
        right = row["input_ids"] == ids and got == loss and all(row["attention_mask"])
        right = right and all(l in (-100, i) for l, i in zip(row["labels"], row["input_ids"]))
        tokens += len(ids)
        if not right:
            bad += 1
            print(f"  differs: {name} {chat} {t['id']}", file=sys.stderr)
    return len(kept), forged, tokens, bad


def sources(turnmill):
    demo = sorted(pathlib.Path("internal/demo/corpus").glob("*.jsonl"))
    yield "demo", demo
    data = os.environ.get("TURNMILL_DATA")
    if not data or not pathlib.Path(data).is_dir():
        print("parity: TURNMILL_DATA is not set: no real trajectories, the demo corpus only")
        return
    for source in sorted(p for p in pathlib.Path(data).iterdir() if p.is_dir()):
        yield source.name, sorted(f for f in source.rglob("*") if f.is_file())


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--turnmill", type=pathlib.Path, required=True)
    p.add_argument("--work", type=pathlib.Path, required=True)
    args = p.parse_args()
    args.turnmill, args.work = args.turnmill.resolve(), args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    args.tokenizer = fetch_tokenizer.fetch(*fetch_tokenizer.QWEN3, args.work)
    datasets.disable_progress_bars()
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(args.tokenizer))
    published = tokenizer.chat_template
    control = [t.content for t in tokenizer.added_tokens_decoder.values() if t.special]
    total = [0, 0, 0, 0]
    print(f"parity with transformers {transformers.__version__}, datasets {datasets.__version__}, qwen3")
    print(f"  {'source':<16}{'chat':<8}{'conversations':>14}{'forged':>8}{'tokens':>10}{'different':>11}")
    for name, files in sources(args.turnmill):
        found, _ = conversations(args.turnmill, files)
        if not found:
            continue
        for chat, template in (("chatml", CHATML), ("qwen3", published)):
            tokenizer.chat_template = template
            got = compare(args, name, chat, tokenizer, found, control)
            total = [a + b for a, b in zip(total, got)]
            print(f"  {name:<16}{chat:<8}{got[0]:>14}{got[1]:>8}{got[2]:>10}{got[3]:>11}")
    print(f"  {'all':<24}{total[0]:>14}{total[1]:>8}{total[2]:>10}{total[3]:>11}")
    if total[3] or not total[0]:
        sys.exit("parity: FAILED")
    print("parity: ok, no conversation was left out but those with forged control text")


if __name__ == "__main__":
    main()
