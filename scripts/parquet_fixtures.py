"""Writes the Parquet files of ingest/parquet/testdata, each with the rows of rows.jsonl, by the writers that people use;
and files of one row of many types below types/.

    python scripts/parquet_fixtures.py ingest/parquet/testdata

Needs pyarrow, datasets, duckdb and polars. The files are committed: tests read them without Python.
"""
import datetime
import decimal
import json
import os
import pathlib
import sys

os.environ["HF_DATASETS_OFFLINE"] = os.environ["HF_HUB_OFFLINE"] = "1"

import datasets
import duckdb
import polars
import pyarrow
import pyarrow.parquet


def compact(value):
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def night(k):
    """A run of a lighthouse keeper, with a call or two a turn; what is not there is left out."""
    messages = [{"role": "system", "content": "You tend a lighthouse."}, {"role": "user", "content": f'Night {k}: see to the lamp, "please".'}]
    for j in range(k % 3 + 1):
        calls = [{"id": f"c{j}", "function": {"name": "gauge", "arguments": compact({"of": "oil", "n": 1.5 * j})}}]
        if j == 1:
            calls.append({"id": "d1", "function": {"name": "log", "arguments": compact({"text": "lamp é☃ " + "~" * k})}})
        message = {"role": "assistant", "tool_calls": calls}
        if j % 2 == 0:
            message["content"] = "I look.\n"
        messages.append(message)
        messages.append({"role": "tool", "content": "" if j == 2 else f"oil at {90 - k}%\t" + "wind " * k, "tool_call_id": f"c{j}"})
        if j == 1:
            messages.append({"role": "tool", "content": "noted", "tool_call_id": "d1"})
    return {"id": f"night-{k}", "messages": messages, "tools": [{"type": "function", "function": {"name": "gauge"}}], "domain": "mcp"}


def ordered(row):
    """The row with its members in the order of the columns, as arrow finds them."""
    order = ["role", "content", "tool_calls", "tool_call_id"]
    return dict(row, messages=[{k: m[k] for k in order if k in m} for m in row["messages"]])


def types(out):
    """One row with a value of each type that has a form of its own."""
    a = pyarrow
    t = datetime.datetime(2024, 2, 29, 1, 2, 3, 450000)
    columns = [
        ("i8", a.int8(), -8), ("u8", a.uint8(), 255), ("i32", a.int32(), -(2**31)), ("u32", a.uint32(), 2**32 - 1), ("i64", a.int64(), -(2**63)),
        ("u64", a.uint64(), 2**64 - 1), ("one", a.float64(), 1.0), ("tenth", a.float64(), 0.1), ("large", a.float64(), 1e22), ("small", a.float64(), 1e-7),
        ("zero", a.float64(), -0.0), ("nan", a.float64(), float("nan")), ("inf", a.float64(), float("-inf")), ("tenth32", a.float32(), 0.1),
        ("tenth16", a.float16(), 0.1), ("yes", a.bool_(), True), ("no", a.bool_(), False), ("price", a.decimal128(20, 3), decimal.Decimal("-12.340")),
        ("cent", a.decimal128(9, 2), decimal.Decimal("0.07")), ("vast", a.decimal256(60, 0), decimal.Decimal(10) ** 50), ("day", a.date32(), t.date()),
        ("local", a.timestamp("us"), t), ("utc", a.timestamp("ms", "UTC"), t), ("fine", a.timestamp("ns"), 1), ("old", a.timestamp("us"), datetime.datetime(1900, 1, 1)),
        ("clock", a.time64("us"), datetime.time(1, 2, 3, 4)), ("clock32", a.time32("ms"), datetime.time(23, 59)), ("nothing", a.null(), None),
        ("raw", a.binary(), b"as \xff\x00 is"), ("fixed", a.binary(2), b"\x00\xfe"), ("words", a.map_(a.string(), a.int32()), [('a"', 1), ("b", None)]),
        ("numbers", a.map_(a.int32(), a.string()), [(1, "x")]), ("nested", a.list_(a.list_(a.int32())), [[1], [], None, [None, 2]]),
        ("picture", a.struct([("bytes", a.binary()), ("path", a.string())]), {"bytes": b"\x89PNG", "path": "p.png"}),
        ("word", a.dictionary(a.int32(), a.string()), "again"), ("bits", a.list_(a.bool_()), [True, False, None]),
    ]
    table = a.table([a.array([v], t) for _, t, v in columns], names=[n for n, _, _ in columns])
    a.parquet.write_table(table, out / "pyarrow.parquet")
    a.parquet.write_table(table, out / "pyarrow-int96.parquet", use_deprecated_int96_timestamps=True, store_decimal_as_integer=True, use_dictionary=False)
    duckdb.sql(f"""copy (select uuid '00000000-0000-0000-0000-0000000000a5' u, interval 1 day i, 7::hugeint h, 'x'::enum('x', 'y') e, 1.5::decimal(4, 1) d,
        timestamptz '2024-01-01 00:00:00+00' t, map {{'a': 1}} m, '{{"a": [1, null]}}'::json j, 'plain'::blob b) to '{out / 'duckdb.parquet'}' (format parquet)""")


def main():
    out = pathlib.Path(sys.argv[1])
    rows = [ordered(night(k)) for k in range(12)]
    twin = out / "rows.jsonl"
    twin.write_text("".join(compact(r) + "\n" for r in rows), encoding="utf-8")
    table = pyarrow.Table.from_pylist(rows)
    write = pyarrow.parquet.write_table
    for codec in ["none", "snappy", "gzip", "zstd", "lz4", "brotli"]:
        write(table, out / f"pyarrow-{codec}.parquet", compression=codec, row_group_size=5)
    write(table, out / "pyarrow-v2.parquet", data_page_version="2.0", version="2.6", data_page_size=200, write_batch_size=2)
    write(table, out / "pyarrow-pages.parquet", data_page_size=200, write_batch_size=2, use_dictionary=False, write_page_checksum=True)
    write(table, out / "pyarrow-item.parquet", use_compliant_nested_type=False)
    write(table, out / "pyarrow-delta.parquet", use_dictionary=False,
          column_encoding={"id": "DELTA_BYTE_ARRAY", "domain": "DELTA_LENGTH_BYTE_ARRAY"})
    strings = [dict(r, messages=compact(r["messages"]), tools=compact(r["tools"])) for r in rows]
    write(pyarrow.Table.from_pylist(strings), out / "strings.parquet")
    datasets.disable_progress_bars()
    datasets.Dataset.from_list(rows).to_parquet(out / "datasets.parquet")
    polars.DataFrame(rows).write_parquet(out / "polars.parquet", row_group_size=5)
    (out / "types").mkdir(exist_ok=True)
    types(out / "types")
    source = f"read_json('{twin}', format = 'newline_delimited'"
    duckdb.sql(f"copy (select * from {source})) to '{out / 'duckdb.parquet'}' (format parquet)")
    duckdb.sql(f"copy (select * from {source}, maximum_depth = 2)) to '{out / 'duckdb-json.parquet'}' (format parquet, parquet_version v2)")


main()
