"""Runs a command against a real OpenAI-compatible server: `transformers serve` with a tiny random model, on loopback.

    python scripts/server.py --work build/server-work --tokenizer DIR -- COMMAND...

DIR holds a tokenizer.json. The model (Qwen2, two layers, 10 MB) is made once, from a fixed seed. The command finds the
server by TURNMILL_SERVER_URL and TURNMILL_SERVER_MODEL; its exit code is this script's. The model's text is noise: what
is proved is the protocol, the concurrency, the journal and the accounts. Needs scripts/server-requirements.txt; nothing
is fetched.
"""

import argparse
import os
import pathlib
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

START = 180  # seconds until the server must answer


def make_model(tokenizer, directory):
    """Writes the model beside the tokenizer's files, whole or not at all."""
    if (directory / "config.json").exists():
        return
    import torch
    from transformers import AutoTokenizer, Qwen2Config, Qwen2ForCausalLM

    torch.manual_seed(0)
    config = Qwen2Config(vocab_size=151936, hidden_size=16, intermediate_size=32, num_hidden_layers=2, num_attention_heads=2,
                         num_key_value_heads=2, max_position_embeddings=4096, tie_word_embeddings=True)
    part = directory.with_name(directory.name + ".part")
    AutoTokenizer.from_pretrained(tokenizer).save_pretrained(part)
    Qwen2ForCausalLM(config).save_pretrained(part)
    part.rename(directory)


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def wait_for(server, url, log):
    end = time.monotonic() + START
    while time.monotonic() < end:
        if server.poll() is not None:
            raise SystemExit(f"server: it ended with {server.returncode}; its words are in {log}")
        try:
            with urllib.request.urlopen(url + "/health", timeout=5) as answer:
                if answer.status == 200:
                    return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit(f"server: no answer within {START} s; its words are in {log}")


def main():
    args = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    args.add_argument("--work", type=pathlib.Path, required=True)
    args.add_argument("--tokenizer", type=pathlib.Path, required=True)
    args.add_argument("command", nargs=argparse.REMAINDER)
    args = args.parse_args()
    command = args.command[1:] if args.command[:1] == ["--"] else args.command
    args.work.mkdir(parents=True, exist_ok=True)
    model = (args.work / "model").resolve()
    make_model(args.tokenizer, model)

    port, log = free_port(), args.work / "server.log"
    url = f"http://127.0.0.1:{port}"
    program = pathlib.Path(sys.executable).with_name("transformers")
    environment = dict(os.environ, HF_HUB_OFFLINE="1", HF_HOME=str((args.work / "hub").resolve()))
    with open(log, "wb") as words:
        start = time.monotonic()
        server = subprocess.Popen([program, "serve", str(model), "--host", "127.0.0.1", "--port", str(port), "--device", "cpu"],
                                  env=environment, stdout=words, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            wait_for(server, url, log)
            print(f"server: {url} answers after {time.monotonic() - start:.1f} s", flush=True)
            return subprocess.run(command, env=dict(os.environ, TURNMILL_SERVER_URL=url + "/v1", TURNMILL_SERVER_MODEL=str(model))).returncode
        finally:
            server.terminate()
            try:
                server.wait(20)
            except subprocess.TimeoutExpired:
                server.kill()
                server.wait()


if __name__ == "__main__":
    sys.exit(main())
