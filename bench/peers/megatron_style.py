"""Megatron style: megatron_style.py TOKENIZER_DIR TEXTS OUT_PREFIX. What Megatron-LM's preprocess_data.py does, which is in no wheel.

json, the tokenizer one document at a time, an end token, and megatron-core's own IndexedDatasetBuilder. No masks.
"""
import json
import sys

from common import Clock, Ids, lines, tell
import numpy
import torch
import transformers
import megatron.core
from megatron.core.datasets.indexed_dataset import IndexedDatasetBuilder

torch.set_num_threads(1)
directory, source, out = sys.argv[1:]
tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
end = tokenizer.convert_tokens_to_ids("<|endoftext|>")
clock, tokens = Clock(), 0
with clock:
    builder = IndexedDatasetBuilder(out + ".bin", dtype=numpy.int32)
    for line in lines(source):
        ids = tokenizer(json.loads(line)["text"]).input_ids
        ids.append(end)
        builder.add_document(ids, [len(ids)])
        tokens += len(ids)
    builder.finalize(out + ".idx")
found = Ids()
all_ids = numpy.memmap(out + ".bin", dtype=numpy.int32)
found.add(all_ids[all_ids != end])
tell(f"megatron-core {megatron.core.__version__}, transformers {transformers.__version__}", clock, tokens, found.digest())
