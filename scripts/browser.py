"""Opens an audit's report in headless Chromium, as a person would, and holds it against real runs.

    python scripts/browser.py --turnmill build/turnmill --work build/browser [--data DIR] [--chromium PROGRAM]

For the embedded corpus of the demo, and for the files below DIR if there is one: no error on the console; no request but
for the file itself; sliders moved by the keyboard give, for every domain, the categories of `turnmill cpt --mask-table`
with the YAML that the page's button gives, bounds that were added or taken away among them, and what that run keeps lies
within the band that the page states; tables that turnmill refuses are refused by the page, for the same rows; the page
reads without a script; links lead somewhere, every count has one, and every category of every group an example. Pictures
for eyes lie in the work directory: desktop, phone, dark, print.
Only the standard library is used: Chromium is spoken to over a pipe.
"""

import argparse
import base64
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")


class Browser:
    """One tab of Chromium, over --remote-debugging-pipe: JSON messages that end with a zero byte."""

    def __init__(self, program, profile):
        to_child, self.out = os.pipe()
        self.inp, from_child = os.pipe()

        def plumb():  # the protocol's two ends are the descriptors 3 and 4
            os.dup2(to_child, 103)
            os.dup2(from_child, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)
            os.set_inheritable(3, True)
            os.set_inheritable(4, True)

        self.child = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions", "--hide-scrollbars",
             "--disable-background-networking", f"--user-data-dir={profile}", "--remote-debugging-pipe", "about:blank"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, preexec_fn=plumb, close_fds=False)
        os.close(to_child)
        os.close(from_child)
        self.buffer, self.number, self.session, self.events = b"", 0, None, []
        target = next(t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")

    def receive(self):
        while b"\0" not in self.buffer:
            part = os.read(self.inp, 1 << 20)
            if not part:
                raise RuntimeError("the browser has gone")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **params):
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        while True:
            got = self.receive()
            if got.get("id") == self.number:
                if "error" in got:
                    raise RuntimeError(f"{method}: {got['error']}")
                return got["result"]
            self.events.append(got)

    def open(self, url):
        self.events = []
        self.call("Page.navigate", url=url)
        while not any(e.get("method") == "Page.loadEventFired" for e in self.events):
            self.events.append(self.receive())

    def js(self, text):
        r = self.call("Runtime.evaluate", expression=text, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in r:
            raise RuntimeError(f"{text}: {r['exceptionDetails']}")
        return r["result"].get("value")

    def key(self, name, code):
        text = {"Enter": {"text": "\r"}, "Space": {"text": " "}}.get(name, {})
        name = {"Space": " "}.get(name, name)
        self.call("Input.dispatchKeyEvent", type="keyDown", key=name, code=name, windowsVirtualKeyCode=code, **text)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=name, code=name, windowsVirtualKeyCode=code)

    def picture(self, path, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        data = self.call("Page.captureScreenshot", format="png")["data"]
        path.write_bytes(base64.b64decode(data))

    def close(self):
        try:
            self.call("Browser.close")
        except (RuntimeError, OSError):
            pass
        self.child.wait(timeout=20)


class Faults(list):
    def want(self, truth, text):
        if not truth:
            self.append(text)


def run(program, *args):
    done = subprocess.run([program, *map(str, args)], capture_output=True, text=True)
    if done.returncode not in (0, 3):
        sys.exit(f"browser: turnmill {' '.join(map(str, args))}: {done.stderr}")


def quiet(browser, url, faults, name):
    """No error on the console, and nothing fetched but the page."""
    for e in browser.events:
        method, params = e.get("method"), e.get("params", {})
        if method == "Runtime.exceptionThrown":
            faults.append(f"{name}: an exception: {params['exceptionDetails'].get('text')} {params['exceptionDetails'].get('exception', {}).get('description')}")
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            faults.append(f"{name}: the console says {params['entry']['text']}")
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning"):
            faults.append(f"{name}: the console says {params['args']}")
        elif method == "Network.requestWillBeSent" and params["request"]["url"].split("#")[0] != url:
            faults.append(f"{name}: a request for {params['request']['url']}")


# Moves on the grid: a slider and how often which arrow is pressed.
MOVES = {
    "novelty": [("w-0-novelty_below", "ArrowRight", 7), ("w-1-novelty_below", "ArrowRight", 4)],
    "refused": [],
    "all kinds": [("w-0-keep", "ArrowRight", 15), ("w-0-overlap_min", "ArrowLeft", 20), ("w-1-overlap_min", "ArrowLeft", 9), ("w-2-ratio_below", "ArrowRight", 2),
                  ("w-3-novelty_min", "ArrowRight", 12), ("w-5-ratio_max", "ArrowRight", 3), ("w-short", "ArrowRight", 2), ("w-other-keep", "ArrowLeft", 30)],
    # Bounds that the table in force has not, and bounds that it has and loses.
    "added": [("w-1-ratio_below", "add", 1), ("w-1-ratio_below", "ArrowLeft", 5), ("w-3-overlap_below", "add", 1), ("w-3-overlap_below", "ArrowLeft", 60),
              ("w-2-short", "Space", 1), ("w-1-keep", "ArrowRight", 40)],
    "removed": [("w-0-novelty_below-remove", "Enter", 1), ("w-4-overlap_min-remove", "Enter", 1), ("w-4-overlap_below", "add", 1), ("w-4-overlap_below", "ArrowLeft", 30)],
    # Two rows that together take all turns of a third, which neither does alone; and bounds that no turn fulfils.
    "refused pair": [("w-0-overlap_min-remove", "Enter", 1), ("w-1-overlap_min-remove", "Enter", 1), ("w-1-novelty_min", "add", 1), ("w-1-novelty_min", "ArrowRight", 30)],
    "refused bounds": [("w-0-overlap_below", "add", 1), ("w-0-overlap_below", "ArrowLeft", 40)],
}
# Whose order is changed as well, by the keyboard.
ORDERS = {"all kinds": "w-4-up", "refused": "w-1-up"}

RESULTS = """(() => { const out = {}; document.querySelectorAll('#what-if-results tr[data-category]').forEach(tr => { out[tr.dataset.category] =
  Object.fromEntries(Object.entries(tr.dataset).filter(([k]) => k !== 'category').map(([k, v]) => [k, Number(v)])); }); return out; })()"""


def press(browser, moves):
    for slider, key, times in moves:
        if key == "add":
            row, name = re.fullmatch(r"(w-\d+-)(\w+)", slider).groups()
            if not browser.js(f"(() => {{ const s = document.getElementById('{row}kind'); s.value = '{name}'; return s.value === '{name}'; }})()"):
                raise RuntimeError(f"{row}: no bound {name} to add")
            slider, key = row + "add", "Enter"
        if not browser.js(f"(() => {{ const e = document.getElementById('{slider}'); if (!e) return false; e.focus(); return document.activeElement === e; }})()"):
            raise RuntimeError(f"no slider {slider} that takes the focus")
        for _ in range(times):
            browser.key(key, {"ArrowLeft": 37, "ArrowRight": 39, "Enter": 13, "Space": 32}[key])
    browser.js("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


def what_if(browser, a, corpus, name, faults):
    """Moves sliders, takes the YAML, runs it, and compares every domain."""
    for title, moves in MOVES.items():
        browser.js("document.getElementById('what-if-reset').click()")
        press(browser, moves)
        if title in ORDERS:
            press(browser, [(ORDERS[title], "Enter", 1)])
        if title == "added":  # what was asked for is what stands there
            faults.want(browser.js("document.getElementById('w-1-ratio_below') && document.getElementById('w-2-short').checked"), f"{name}: a bound or a box that was added is not there")
        browser.js("document.getElementById('what-if-yaml-button').click()")
        yaml = browser.js("document.getElementById('what-if-yaml').value")
        slug = title.replace(" ", "-")
        table, out = a.work / f"{name}-{slug}.yaml", a.work / f"{name}-{slug}"
        table.write_text(yaml, encoding="utf-8")
        warning = browser.js("document.querySelector('.warn').textContent")
        done = subprocess.run([a.turnmill, "cpt", corpus, "-o", out, "--tokenizer", "demo", "--mask-table", table, "--restart", "--progress", "none"], capture_output=True, text=True)
        if done.returncode not in (0, 3):
            faults.want(warning and title.startswith("refused"), f"{name}, {title}: the page warns {warning!r}, and turnmill says {done.stderr}")
            rows = lambda text: set(re.findall(r"row \d+ \(\w+\)", text))
            faults.want(rows(warning) == rows(done.stderr), f"{name}, {title}: the page speaks of {rows(warning)}, and turnmill of {rows(done.stderr)}")
            print(f"browser: {name}: {title}: page and turnmill refuse {', '.join(sorted(rows(warning)))}")
            continue
        faults.want(not title.startswith("refused") and not warning, f"{name}, {title}: the page warns ({warning}) of a table that turnmill takes")
        statistics = json.loads((out / "manifest.json").read_text(encoding="utf-8"))["mask_statistics"]
        domains = browser.js("Array.from(document.querySelectorAll('#what-if-scope option')).map(o => [o.value, o.textContent])")
        compared = 0
        for value, domain in domains:
            browser.js(f"(() => {{ const s = document.getElementById('what-if-scope'); s.value = '{value}'; s.dispatchEvent(new Event('change')); }})()")
            got = browser.js(RESULTS)
            cells = list(statistics.values()) if value == "-1" else [statistics.get(domain, {})]
            for category, r in got.items():
                if category == "all":
                    continue
                want = {k: sum(c.get(category, {}).get(k, 0) for c in cells) for k in ("turns", "kept_turns", "target_tokens", "kept_tokens")}
                where = f"{name}, {title}, {domain}, {category}"
                compared += 1
                faults.want(r["turns"] == want["turns"], f"{where}: {r['turns']} turns in the page, {want['turns']} in the run")
                faults.want(r["length"] == want["target_tokens"], f"{where}: {r['length']} tokens in the page, {want['target_tokens']} in the run")
                for page, kept in (("keptTurns", "kept_turns"), ("keptLength", "kept_tokens")):
                    faults.want(abs(r[page] - want[kept]) <= r[page + "Band"] + 0.5, f"{where}: {want[kept]} {kept} in the run, the page expects {r[page]} ± {r[page + 'Band']}")
        print(f"browser: {name}: {title}: {compared} figures of categories are those of the run with that table")
        faults.want(compared >= 14, f"{name}, {title}: {compared} figures compared: this would prove nothing")


LONELY = """Array.from(document.querySelectorAll('.cards dd, main td.r')).filter(e => !e.closest('#what-if') && /^[1-9][0-9,]*$/.test(e.textContent.trim()) &&
  !e.querySelector('a')).map(e => e.textContent + ' in ' + e.closest('section').id)"""
TOLD = """Array.from(document.querySelectorAll('.example:not(.record)')).filter(e => e.querySelector('.meta strong') &&
  !(/overlap [0-9u]/.test(e.textContent) && /rule: .*(runner-up: |no row of the table)/.test(e.textContent))).map(e => e.id)"""
EMPTY = """Array.from(document.querySelectorAll('article[data-group=domain], details[data-group]')).flatMap(g => Array.from(g.querySelectorAll('tr[data-category]')).filter(tr => {
  const a = tr.querySelector('a'), h = a && document.getElementById(a.hash.slice(1)), e = h && h.nextElementSibling;
  return !e || !(e.matches('.example') && e.textContent.includes(tr.dataset.category) || e.matches('.also')); }).map(tr => g.dataset.name + ' ' + tr.dataset.category))"""


def linked(browser, name, faults):
    """Every count leads to examples, which say what decided; every category of every group has one."""
    for what, text in (("counts without a link", LONELY), ("examples that do not say what decided", TOLD), ("categories without an example", EMPTY)):
        got = browser.js(text)
        faults.want(not got, f"{name}: {len(got)} {what}: {got[:5]}")
    links = browser.js("Array.from(document.links).map(l => l.hash)")
    listed = sum(h == "#no-examples" for h in links)
    print(f"browser: {name}: {len(links)} links, {listed} of them to the commands that list what has no example")
    faults.want(len(links) > 200, f"{name}: {len(links)} links: this would prove nothing")


def look(browser, a, corpus, name, faults):
    out = a.work / name
    run(a.turnmill, "audit", corpus, "-o", out, "--tokenizer", "demo", "--restart", "--max-reject-rate", "1", "--progress", "none")
    url = (out / "report.html").resolve().as_uri()
    browser.open(url)
    for shot, width, height, dark in (("desktop", 1280, 2400, False), ("dark", 1280, 2400, True), ("phone", 390, 2400, False)):
        browser.picture(a.work / f"{name}-{shot}.png", width, height, dark)
    faults.want(browser.js("document.documentElement.scrollWidth <= window.innerWidth"), f"{name}: the page is wider than a phone")
    browser.call("Emulation.clearDeviceMetricsOverride")
    dead = browser.js("Array.from(document.links).filter(l => !document.getElementById(decodeURIComponent(l.hash.slice(1)))).length")
    faults.want(dead == 0, f"{name}: {dead} links lead nowhere")
    linked(browser, name, faults)
    what_if(browser, a, corpus, name, faults)
    for part, width in (("lost", 390), ("lost", 1280), ("ex-records", 1280)):
        browser.js(f"document.getElementById('{part}').scrollIntoView()")
        browser.picture(a.work / f"{name}-{part}-{width}.png", width, 1600)
    browser.call("Emulation.clearDeviceMetricsOverride")
    browser.js("document.getElementById('what-if').scrollIntoView()")
    browser.call("Emulation.setDeviceMetricsOverride", width=1280, height=2000, deviceScaleFactor=1, mobile=False)
    browser.picture(a.work / f"{name}-what-if.png", 1280, 2000)
    browser.js("document.getElementById('examples').scrollIntoView()")
    browser.picture(a.work / f"{name}-examples.png", 1280, 1600)
    pdf = browser.call("Page.printToPDF", printBackground=True)["data"]
    (a.work / f"{name}-print.pdf").write_bytes(base64.b64decode(pdf))
    quiet(browser, url, faults, name)
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(url)
    text = browser.call("DOMSnapshot.captureSnapshot", computedStyles=[])["strings"]
    faults.want(any("needs the script of this page" in s for s in text), f"{name}: without a script the page does not say what is missing")
    quiet(browser, url, faults, name + " without a script")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--turnmill", required=True)
    p.add_argument("--work", required=True, type=pathlib.Path)
    p.add_argument("--data", type=pathlib.Path)
    p.add_argument("--chromium", default=next((c for c in PROGRAMS if shutil.which(c)), None))
    a = p.parse_args()
    if not a.chromium:
        print("browser: no Chromium (Debian's package chromium): the report is not opened")
        return 0
    a.work.mkdir(parents=True, exist_ok=True)
    a.turnmill = str(pathlib.Path(a.turnmill).resolve())
    run(a.turnmill, "demo", "-o", a.work / "demo-rows")
    corpora = [("demo", a.work / "demo-rows-corpus")] + ([("data", a.data)] if a.data else [])
    faults = Faults()
    with tempfile.TemporaryDirectory() as profile:
        browser = Browser(a.chromium, profile)
        try:
            for name, corpus in corpora:
                look(browser, a, corpus, name, faults)
        finally:
            browser.close()
    for fault in faults[:30]:
        print("browser:", fault)
    print(f"browser: {len(faults)} faults; pictures lie in {a.work}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
