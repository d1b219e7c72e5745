"""gigatoken: gigatoken_batches.py TOKENIZER_DIR CHATS. The first pass of the process is the cold one, the second the warm one.

Batches are faster here than one call with everything. Ids stay in the array that the library returns.
"""
import sys
from importlib.metadata import version

from common import Clock, Ids, batches, contents, tell
import gigatoken
import numpy

tokenizer = gigatoken.Tokenizer(sys.argv[1] + "/tokenizer.json")
texts = contents(sys.argv[2])
passes = []
for _ in range(2):
    clock, ids = Clock(), Ids()
    for batch in batches(texts):
        with clock:
            content = tokenizer.encode_batch(batch, parallel=False).layout.content
        ids.add(numpy.asarray(content.data))
    passes.append((clock, ids))
cold, first = passes[0]
assert first.digest() == passes[1][1].digest()
tell(f"gigatoken {version('gigatoken')}", cold, first.n, first.digest(), warm=passes[1][0].cpu)
