"""Recomputes the figures of an audit's report with DuckDB, by the SQL that docs/audit.md gives, and compares.

    python scripts/audit_duckdb.py --turnmill build/turnmill --work build/audit [--data DIR]

Audits the embedded corpus of the demo without a tokenizer and with the demo's, and the files below DIR if there is one;
reads report.html as a person would, and holds every domain x category and every group's sums against the turns table.
"""

import argparse
import html.parser
import pathlib
import re
import subprocess
import sys

try:
    import duckdb
except ImportError:
    print("audit_duckdb: no module duckdb: the figures in SQL are left out (scripts/requirements.txt)")
    sys.exit(0)

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Report(html.parser.HTMLParser):
    """Collects of each group its cards and the rows of its table of categories."""

    def __init__(self):
        super().__init__()
        self.groups = {}  # (dimension, title) -> {"cards": {name: text}, "rows": {category: [cells]}}
        self.group, self.cells, self.text, self.term = None, None, None, None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if "data-group" in attrs:
            self.group = {"cards": {}, "rows": {}}
            self.groups[(attrs["data-group"], attrs["data-name"])] = self.group
        elif tag == "tr":
            self.cells = [attrs["data-category"]] if "data-category" in attrs else None
        elif tag in ("td", "dt", "dd"):
            self.text = ""
        elif tag == "small":
            self.text, self.kept = None, self.text

    def handle_endtag(self, tag):
        if tag == "small":
            self.text = self.kept
        elif tag == "td" and self.cells is not None:
            self.cells.append(self.text.strip())
        elif tag == "tr" and self.cells is not None and self.group is not None:
            self.group["rows"][self.cells[0]] = self.cells[1:]
            self.cells = None
        elif tag == "dt":
            self.term = self.text
        elif tag == "dd" and self.group is not None:
            self.group["cards"][self.term] = int(self.text.replace(",", ""))
        if tag in ("td", "dt", "dd"):
            self.text = None

    def handle_data(self, data):
        if self.text is not None:
            self.text += data


def percent(x):
    """A share as the report writes it."""
    p = 100 * x
    if p == 0:
        return "0%"
    if p < 0.01:
        return "<0.01%"
    if p < 1:
        return f"{p:.2f}%"
    if 99.9 < p < 100:
        return ">99.9%"
    text = f"{p:.1f}"
    return (text[:-2] if text.endswith(".0") else text) + "%"


def sql():
    """The statements of docs/audit.md."""
    text = (ROOT / "docs" / "audit.md").read_text(encoding="utf-8")
    return re.search(r"```sql\n(.*?)```", text, re.S).group(1)


class Audit:
    def __init__(self, out, tokens):
        self.faults, self.compared = [], 0
        self.tokens = tokens
        self.report = Report()
        self.report.feed((out / "report.html").read_text(encoding="utf-8"))
        self.db = duckdb.connect()
        for statement in sql().replace("OUT/", str(out) + "/").split(";"):
            if statement.strip():
                self.db.execute(statement)

    def same(self, where, want, got):
        self.compared += 1
        if want != got:
            self.faults.append(f"{where}: the report says {got}, DuckDB {want}")

    def categories(self):
        rows = self.db.execute("SELECT * FROM categories").fetchall()
        names = [d[0] for d in self.db.description]
        totals = {}
        records = [dict(zip(names, r)) for r in rows]
        length, kept = ("tokens", "kept_tokens") if self.tokens else ("chars", "kept_chars")
        for r in records:
            t = totals.setdefault(r["domain"], {"turns": 0, "length": 0})
            t["turns"] += r["turns"]
            t["length"] += r[length]
        seen = set()
        for r in records:
            where = f"{r['domain']}, {r['category']}"
            group = self.report.groups.get(("domain", r["domain"]))
            if group is None or r["category"] not in group["rows"]:
                self.faults.append(f"{where}: not in the report")
                continue
            seen.add((r["domain"], r["category"]))
            t = totals[r["domain"]]
            share = lambda n, of: percent(n / of if of else 0)
            want = [f"{r['turns']:,}", share(r["turns"], t["turns"]), f"{r[length]:,}", share(r[length], t["length"]), percent(r["keep"]),
                    share(r["kept_turns"], r["turns"]), share(r[kept] or 0, r[length])]
            self.same(where, want, [c.replace(" outside", "").strip() for c in group["rows"][r["category"]][:7]])
        for (dimension, name), group in self.report.groups.items():
            for category in group["rows"]:
                if dimension == "domain" and name != "all others" and (name, category) not in seen:
                    self.faults.append(f"{name}, {category}: DuckDB has no such turns")

    def groups(self):
        for row in self.db.execute("SELECT * FROM groups").fetchall():
            names = [d[0] for d in self.db.description]
            r = dict(zip(names, row))
            dimension, name = next(((d, r[d]) for d in ("domain", "source", "agent", "tool") if r[d] is not None), ("whole", ""))
            group = self.report.groups.get((dimension, name))
            if dimension == "whole" and r["turns"] != self.report.groups[("whole", "")]["cards"]["turns"]:
                continue  # the names that are null
            if group is None:
                continue  # not among those with most turns
            for column, card in (("turns", "turns"), ("action_chars", "characters, action"), ("observation_chars", "characters, observation"),
                                 ("action_words", "words, action"), ("observation_words", "words, observation")):
                self.same(f"{dimension} {name}, {card}", r[column], group["cards"][card])


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--turnmill", required=True)
    p.add_argument("--work", required=True, type=pathlib.Path)
    p.add_argument("--data", type=pathlib.Path)
    a = p.parse_args()
    a.work.mkdir(parents=True, exist_ok=True)
    subprocess.run([a.turnmill, "demo", "-o", a.work / "demo"], check=True, capture_output=True)
    corpora = [("demo", a.work / "demo-corpus", []), ("demo-tokens", a.work / "demo-corpus", ["--tokenizer", "demo", "--seq-len", "4096"])]
    if a.data:
        corpora += [("data", a.data, []), ("data-tokens", a.data, ["--tokenizer", "demo"])]
    failed = 0
    for name, corpus, flags in corpora:
        out = a.work / name
        subprocess.run([a.turnmill, "audit", corpus, "-o", out, "--restart", "--max-reject-rate", "1", "--progress", "none", *flags], check=True, capture_output=True)
        audit = Audit(out, bool(flags))
        audit.categories()
        audit.groups()
        for fault in audit.faults[:20]:
            print(f"audit_duckdb: {name}: {fault}")
        failed += len(audit.faults)
        print(f"audit_duckdb: {name}: {audit.compared} figures of the report are DuckDB's" if not audit.faults else f"audit_duckdb: {name}: {len(audit.faults)} differ")
        if audit.compared < 40:
            print(f"audit_duckdb: {name}: {audit.compared} figures compared: this would prove nothing")
            failed += 1
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
