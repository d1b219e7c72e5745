"""TRL: trl_prepare.py TOKENIZER_DIR CHATS WORK. load_dataset, SFTTrainer._prepare_dataset (TRL's own code), save_to_disk, in one process.

Loss on the assistant's messages by TRL's own training template for Qwen3, nothing truncated, nothing packed. The trainer is a stand-in
that holds what the method reads: the real one wants a model.
"""
import os
import pathlib
import shutil
import sys
from types import SimpleNamespace

from common import Clock, tell

directory, source, work = sys.argv[1:]
shutil.rmtree(work, ignore_errors=True)
os.environ["HF_HOME"] = work + "/hf"
import datasets
import transformers
import trl

tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
template = pathlib.Path(trl.__file__).with_name("chat_templates").joinpath("qwen3_training.jinja").read_text()
args = SimpleNamespace(
    dataset_num_proc=None,
    dataset_text_field="text",
    assistant_only_loss=True,
    max_length=None,
    truncation_mode="keep_start",
    packing_strategy="bfd",
    shuffle_dataset=False,
    seed=0,
    eos_token=None,
)
trainer = SimpleNamespace(_tokenizer=tokenizer, chat_template=template, completion_only_loss=False, args=args)
clock = Clock()
with clock:
    rows = datasets.load_dataset("json", data_files=source, split="train", cache_dir=work + "/cache")
    rows = trl.SFTTrainer._prepare_dataset(trainer, rows, tokenizer, args, False, None, "train")
    rows.save_to_disk(work + "/out")
tokens = sum(len(row) for batch in rows.with_format("arrow").select_columns(["input_ids"]).iter(1000) for row in batch["input_ids"])
tell(f"trl {trl.__version__}, datasets {datasets.__version__}, transformers {transformers.__version__}", clock, tokens)
