"""Hugging Face tokenizers: hf_tokenizers.py TOKENIZER_DIR CHATS. Ids are taken out as lists, as a caller has to."""
import sys

from common import Clock, Ids, batches, contents, tell
import numpy
import tokenizers

tokenizer = tokenizers.Tokenizer.from_file(sys.argv[1] + "/tokenizer.json")
texts = contents(sys.argv[2])
clock, ids = Clock(), Ids()
for batch in batches(texts):
    with clock:
        found = [e.ids for e in tokenizer.encode_batch_fast(batch, add_special_tokens=False)]
    for one in found:
        ids.add(numpy.array(one, dtype="<u4"))
tell(f"tokenizers {tokenizers.__version__}", clock, ids.n, ids.digest())
