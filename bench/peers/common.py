"""What the scripts here share: one thread each, the clock, and the line of JSON that a run ends with.

Import this before anything that starts threads. CPU seconds are those of the job alone: imports and the loading of the
tokenizer come before the clock starts. They count user and system time of this process and of its children that ended.
"""
import gc
import hashlib
import json
import os
import time
import warnings

warnings.simplefilter("ignore")
for name in ("RAYON_NUM_THREADS", "OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"
os.environ.update(TOKENIZERS_PARALLELISM="false", HF_HUB_OFFLINE="1", HF_DATASETS_OFFLINE="1", HF_DATASETS_DISABLE_PROGRESS_BARS="1")

BATCH = 1000  # messages


def cpu():
    t = os.times()
    return time.process_time() + t.children_user + t.children_system


class Clock:
    """Adds up the CPU and wall seconds spent inside `with clock:`."""

    def __init__(self):
        self.cpu = self.wall = 0.0
        gc.collect()

    def __enter__(self):
        self._from = cpu(), time.perf_counter()

    def __exit__(self, *_):
        self.cpu += cpu() - self._from[0]
        self.wall += time.perf_counter() - self._from[1]


class Ids:
    """Counts and hashes ids, which come as arrays of 32 bits."""

    def __init__(self):
        self.n, self._sum = 0, hashlib.sha256()

    def add(self, array):
        self.n += len(array)
        self._sum.update(array.astype("<u4", copy=False).tobytes())

    def digest(self):
        return self._sum.hexdigest()


def lines(path):
    with open(path, encoding="utf-8", newline="\n") as f:
        yield from f


def contents(path):
    """The texts of all messages of a file of chats."""
    return [m["content"] for line in lines(path) for m in json.loads(line)["messages"]]


def batches(texts):
    for i in range(0, len(texts), BATCH):
        yield texts[i : i + BATCH]


def tell(version, clock, tokens, digest="", warm=0.0):
    print(json.dumps({"CPU": clock.cpu, "Wall": clock.wall, "Warm": warm, "Tokens": int(tokens), "Digest": digest, "Version": version}), flush=True)
