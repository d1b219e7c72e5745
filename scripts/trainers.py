"""What trainers make of finished runs: the labels that reach a model are those of OUT, no token more or less.

    python scripts/trainers.py --turnmill BIN --work DIR --tokenizer internal/demo/tokenizer.json

Makes an OUT of cpt and one of sft out of the embedded corpora, loads each with datasets.load_from_disk, and trains a
tiny random model on the CPU for one epoch: with TRL's SFTTrainer, its own preparation and collator, and with the
Trainer of transformers and DataCollatorForSeq2Seq, the class from which LLaMA-Factory's and Axolotl's collators come. Held against the
Arrow files, which pyarrow reads without datasets:

  - every row reaches the model once; without its padding, input_ids and labels are those of the file;
  - padding carries no loss, and is not attended to;
  - the loss is the cross-entropy of labels against the logits one place before them, so the model shifts, and we do not;
  - turnmill check OUT passes afterwards, whatever the trainers have left there.

Needs scripts/trainers-requirements.txt; nothing is fetched.
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys

os.environ.update(HF_HUB_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1", TOKENIZERS_PARALLELISM="false", CUDA_VISIBLE_DEVICES="")
import datasets
import pyarrow
import torch
import transformers
import trl

IGNORE = -100
BATCH = 2


def rows_of(out):
    """The rows of OUT/train in their order, as the files hold them."""
    rows = []
    for f in json.loads((out / "train" / "state.json").read_text())["_data_files"]:
        with pyarrow.memory_map(str(out / "train" / f["filename"])) as source:
            table = pyarrow.ipc.open_stream(source).read_all().to_pydict()
        rows += [(tuple(i), tuple(l)) for i, l in zip(table["input_ids"], table["labels"])]
    return rows


class Watch:
    """Notes what reaches the model, and holds each loss against one that is reckoned here."""

    def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
        labels = inputs["labels"].clone()
        with torch.no_grad():
            logits = model(input_ids=inputs["input_ids"], attention_mask=inputs["attention_mask"]).logits
        items = int((labels[:, 1:] != IGNORE).sum())

        def entropy(logits, labels):
            return float(torch.nn.functional.cross_entropy(logits.flatten(0, 1).float(), labels.flatten(), ignore_index=IGNORE, reduction="sum")) / items

        loss = super().compute_loss(model, inputs, return_outputs, num_items_in_batch)
        self.losses.append((float(loss.detach()), entropy(logits[:, :-1], labels[:, 1:]), entropy(logits, labels)))
        return loss


def watched(trainer, **options):
    """A trainer of that class whose model tells what it was called with."""
    t = type("Watched", (Watch, trainer), {})(**options)
    t.losses, t.batches = [], []
    t.remove_callback(transformers.PrinterCallback)

    def note(_, args, kwargs):
        if kwargs.get("labels") is not None:
            t.batches.append({k: kwargs[k].tolist() for k in ("input_ids", "labels", "attention_mask")})

    t.model.register_forward_pre_hook(note, with_kwargs=True)
    return t


def model_for(tokenizer):
    torch.manual_seed(0)
    return transformers.Qwen2ForCausalLM(transformers.Qwen2Config(
        vocab_size=len(tokenizer), hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2, num_key_value_heads=2,
        max_position_embeddings=1 << 17, initializer_range=1.0, tie_word_embeddings=True))


def settings(work):
    return dict(output_dir=str(work), num_train_epochs=1, per_device_train_batch_size=BATCH, use_cpu=True, report_to="none", save_strategy="no",
                logging_strategy="no", disable_tqdm=True, seed=0)


def with_trl(train, tokenizer, work, max_length=None):
    return watched(trl.SFTTrainer, model=model_for(tokenizer), processing_class=tokenizer, train_dataset=train,
                   args=trl.SFTConfig(max_length=max_length, bf16=False, **settings(work)))


def with_transformers(train, tokenizer, work):
    return watched(transformers.Trainer, model=model_for(tokenizer), train_dataset=train, args=transformers.TrainingArguments(**settings(work)),
                   data_collator=transformers.DataCollatorForSeq2Seq(tokenizer, label_pad_token_id=IGNORE))


def faults_of(trainer, rows):
    """Trains, and says what is wrong, and how many batches there were."""
    trainer.train()
    seen, faults = collections.Counter(), []
    for batch in trainer.batches:
        for ids, labels, attended in zip(batch["input_ids"], batch["labels"], batch["attention_mask"]):
            n = sum(attended)
            if attended != [1] * n + [0] * (len(ids) - n):
                faults.append("padding stands before or within a row, or is attended to")
            if any(l != IGNORE for l in labels[n:]):
                faults.append("padding carries loss")
            seen[tuple(ids[:n]), tuple(labels[:n])] += 1
    want = collections.Counter(rows)
    if seen != want:
        faults.append(f"{sum((want - seen).values())} of {len(rows)} rows do not reach the model as they are, {sum((seen - want).values())} others do")
    for got, shifted, unshifted in trainer.losses:
        if not abs(got - shifted) <= 1e-5 * shifted:
            faults.append(f"the loss is {got}; {shifted} with each label against the logits one place before it")
        if abs(got - unshifted) <= 1e-3 * shifted:
            faults.append(f"the loss is {got}, which does not tell whether labels are shifted: {unshifted} where they are not")
    if len(trainer.losses) != len(trainer.batches) or not trainer.losses:
        faults.append(f"{len(trainer.losses)} losses of {len(trainer.batches)} batches")
    return faults


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--turnmill", required=True, type=pathlib.Path)
    p.add_argument("--work", required=True, type=pathlib.Path)
    p.add_argument("--tokenizer", required=True, type=pathlib.Path)
    a = p.parse_args()
    shutil.rmtree(a.work, ignore_errors=True)
    a.work.mkdir(parents=True)
    transformers.logging.set_verbosity_error()
    torch.set_num_threads(1)
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_file=str(a.tokenizer), eos_token="<|im_end|>", pad_token="<|endoftext|>")
    failed = 0
    for name, flags in (("cpt", []), ("sft", ["--sft"])):
        out = a.work / name
        subprocess.run([a.turnmill, "demo", *flags, "-o", out], check=True, capture_output=True)
        rows = rows_of(out)
        trained = sum(l != IGNORE for _, labels in rows for l in labels)
        manifest = json.loads((out / "manifest.json").read_text())
        faults = []
        if trained != manifest["tokens"]["trained"] or not trained or any(l not in (IGNORE, i) for ids, labels in rows for i, l in zip(ids, labels)):
            faults.append(f"{trained} labels carry loss, the manifest says {manifest['tokens']['trained']}")
        for maker in (with_trl, with_transformers):
            train = datasets.load_from_disk(str(out / "train"))
            wrong = faults_of(maker(train, tokenizer, a.work / "trainer"), rows)
            faults += [f"{maker.__name__}: {f}" for f in wrong]
        cut = with_trl(datasets.load_from_disk(str(out / "train")), tokenizer, a.work / "trainer", max_length=1024).train_dataset
        left = sum(l != IGNORE for labels in cut["labels"] for l in labels)
        check = subprocess.run([a.turnmill, "check", out], capture_output=True, text=True)
        if check.returncode:
            faults.append("turnmill check after training: " + check.stderr.strip())
        for f in faults[:20]:
            print(f"trainers: {name}: {f}")
        failed += len(faults)
        print(f"trainers: {name}: {len(rows)} rows, {sum(len(i) for i, _ in rows)} tokens, {trained} trained: " + ("as they are in TRL and transformers" if not faults else f"{len(faults)} faults"))
        print(f"trainers: {name}: with TRL's default max_length of 1024 there would be {len(cut)} rows, {left} trained")
    print(f"trainers: torch {torch.__version__}, transformers {transformers.__version__}, trl {trl.__version__}, datasets {datasets.__version__}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
