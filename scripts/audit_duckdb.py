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
        self.beyond = {}  # table -> {row: [cells]}, of what the mask does not look at; a cell with counts is their dict
        self.table, self.counts = None, None
        self.group, self.cells, self.text, self.term = None, None, None, None

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        if tag == "table":
            self.table = attrs.get("data-beyond")
        if "data-group" in attrs:
            self.group = {"cards": {}, "rows": {}}
            self.groups[(attrs["data-group"], attrs["data-name"])] = self.group
        elif tag == "tr":
            self.cells = next(([attrs[a]] for a in ("data-category", "data-name") if a in attrs), None)
        elif tag in ("td", "dt", "dd"):
            self.text = ""
            self.counts = {k[5:]: int(v) for k, v in attrs.items() if k.startswith("data-") and v.isdigit()}
        elif tag == "small":
            self.text, self.kept = None, self.text

    def handle_endtag(self, tag):
        if tag == "small":
            self.text = self.kept
        elif tag == "td" and self.cells is not None:
            self.cells.append(self.counts or self.text.strip())
        elif tag == "tr" and self.cells is not None and self.table:
            self.beyond.setdefault(self.table, {})[self.cells[0]] = self.cells[1:]
            self.cells = None
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
            if r["observed"] is not None:
                dimension, name = "provenance", "observed" if r["observed"] else "simulated"
            group = self.report.groups.get((dimension, name))
            if dimension == "whole" and r["turns"] != self.report.groups[("whole", "")]["cards"]["turns"]:
                continue  # the names that are null
            if group is None:
                continue  # not among those with most turns
            for column, card in (("turns", "turns"), ("action_chars", "characters, action"), ("observation_chars", "characters, observation"),
                                 ("action_words", "words, action"), ("observation_words", "words, observation")):
                self.same(f"{dimension} {name}, {card}", r[column], group["cards"][card])

    def rows(self, view):
        """The rows of a view by the name that the report gives them."""
        cursor = self.db.execute(f"SELECT * FROM {view}")
        names = [d[0] for d in cursor.description]
        for values in cursor.fetchall():
            r = dict(zip(names, values))
            yield next((f"{d} {r[d]}" for d in ("domain", "tool") if r.get(d) is not None), "the whole"), r

    def beyond(self):
        """What the mask does not look at. A row that the report has under another name, or not at all, has a null or is one of many."""
        seen = {}
        def table(name, row):
            cells = self.report.beyond.get(name, {}).get(row)
            if cells is not None:
                seen.setdefault(name, set()).add(row)
            return cells
        number = lambda n: f"{n:,}"
        for name, r in self.rows("novelties"):
            cells = table("state", name)
            if cells and cells[0] == number(r["turns"]):
                want = [{"alone": r[f"below_{bar}"], "state": r[f"below_{bar}_with_state"]} for bar in (30, 50, 60)]
                self.same(f"state, {name}", want, cells[3:])
            elif cells and name != "the whole":
                self.same(f"state, {name}", number(r["turns"]), cells[0])
        for name, r in self.rows("unseen"):
            cells = table("unseen", name)
            if cells:
                self.same(f"unseen, {name}, {r['position']}", {k: int(r[k]) for k in ("turns", "words", "unseen")}, cells[r["position"]])
        for name, r in self.rows("parts"):
            cells = table("parts", name)
            if cells:
                self.same(f"parts, {name}", [number(r[k]) for k in list(r)[1:]], cells)
        for name, r in self.rows("leaks"):
            cells = table("leaks", name)
            if cells and (name != "the whole" or cells[1] == number(r["turns"])):  # else the tools that are null
                self.same(f"leaks, {name}", [number(r[k]) for k in ("trajectories", "turns", "leaking_trajectories", "leaking_turns")], cells[:4])
        for name, rows in self.report.beyond.items():
            for row in rows:
                if row not in seen.get(name, ()) and not row.endswith(("all others", "no tool named", "not named")):
                    self.faults.append(f"{name}, {row}: DuckDB has no such turns")
        if set(seen) != {"state", "unseen", "parts", "leaks"}:
            self.faults.append(f"of what the mask does not look at only {sorted(seen)} were compared")


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
        audit.beyond()
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
