"""datatrove: datatrove_tokens.py TOKENIZER_DIR TEXTS WORK [loss]. JsonlReader, then DocumentTokenizer, one task, documents in their order.

With loss it also writes which tokens carry loss, from the ranges in the documents' metadata.
"""
import os
import pathlib
import shutil
import sys
from importlib.metadata import version

from common import Clock, tell
from datatrove.executor.local import LocalPipelineExecutor
from datatrove.pipeline.readers import JsonlReader
from datatrove.pipeline.tokens import DocumentTokenizer

directory, source, work = sys.argv[1:4]
shutil.rmtree(work, ignore_errors=True)
folder, name = os.path.split(os.path.abspath(source))
job = LocalPipelineExecutor(
    pipeline=[
        JsonlReader(folder, glob_pattern=name, doc_progress=False, file_progress=False),
        DocumentTokenizer(work + "/out", directory + "/tokenizer.json", eos_token="<|endoftext|>", save_loss_metadata="loss" in sys.argv[4:], shuffle_documents=False, seed=0),
    ],
    tasks=1,
    workers=1,
    logging_dir=work + "/logs",
)
clock = Clock()
with clock:
    job.run()
tokens = sum(p.stat().st_size for p in pathlib.Path(work, "out").rglob("*.ds")) // 4
tell(f"datatrove {version('datatrove')}, tokenizers {version('tokenizers')}", clock, tokens)
