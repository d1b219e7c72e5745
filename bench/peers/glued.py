"""The fastest parts there are, glued: glued.py TOKENIZER_DIR CHATS OUT_PREFIX.

orjson reads the chats, an f-string writes ChatML, gigatoken encodes 300 chats a call, and numpy marks what the assistant
says with its end token. Three files: ids, mask, where chats start. It checks nothing, reads one format, keeps no account, and
finds messages by their special tokens, so a text that holds one breaks its mask.
"""
import hashlib
import sys
from importlib.metadata import version

from common import Clock, tell
import gigatoken
import numpy as np
import orjson

CHATS = 300
directory, source, out = sys.argv[1:]
tokenizer = gigatoken.Tokenizer(directory + "/tokenizer.json")
START, END, ASSISTANT = (int(tokenizer.encode(t)[0]) for t in ("<|im_start|>", "<|im_end|>", "assistant"))


def said(ids):
    """1 where an assistant's message carries loss: behind `<|im_start|>assistant\n`, up to and with its end token."""
    starts, ends = np.flatnonzero(ids == START), np.flatnonzero(ids == END)
    starts = starts[ids[starts + 1] == ASSISTANT]
    steps = np.zeros(len(ids) + 1, np.int8)
    steps[starts + 3] = 1
    steps[ends[np.searchsorted(ends, starts)] + 1] = -1
    return np.cumsum(steps[:-1], dtype=np.int8)


def write(chats, ids_file, mask_file, offsets):
    layout = tokenizer.encode_batch(chats, parallel=False).layout
    ids = np.asarray(layout.content.data)
    ids_file.write(ids.tobytes())
    mask_file.write(said(ids).tobytes())
    base = offsets[-1]
    offsets.extend((np.asarray(layout.offsets.data)[1:] + base).tolist())


clock, offsets, chats = Clock(), [0], []
with clock:
    with open(source, "rb") as lines, open(out + ".ids", "wb") as ids_file, open(out + ".mask", "wb") as mask_file:
        for line in lines:
            chats.append("".join([f"<|im_start|>{m['role']}\n{m['content']}<|im_end|>\n" for m in orjson.loads(line)["messages"]]))
            if len(chats) == CHATS:
                write(chats, ids_file, mask_file, offsets)
                chats.clear()
        if chats:
            write(chats, ids_file, mask_file, offsets)
    np.asarray(offsets, np.uint64).tofile(out + ".offsets")
with open(out + ".ids", "rb") as f:
    digest = hashlib.file_digest(f, "sha256").hexdigest()
tell(f"orjson {orjson.__version__}, gigatoken {version('gigatoken')}, numpy {np.__version__}", clock, offsets[-1], digest)
