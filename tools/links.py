"""Ask every page on the web that the book links to whether it is still there: `python tools/links.py`.

Links in the text count, addresses in code don't. A site is asked one thing at a time, several sites at once.
A page that refuses a program, as many publishers' do, is counted but fails nothing: people can open it.
"""

import json
import re
import sys
import time
import urllib.request
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from http.client import HTTPException
from pathlib import Path
from urllib.error import HTTPError
from urllib.parse import quote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SITES_AT_ONCE = 8
TIME_LIMIT = 20  # seconds for one answer
PAUSES = (2, 8)  # seconds before the second try, and before the third
HEADERS = {"User-Agent": "Mozilla/5.0 (compatible; attention-measured; link check)"}
THERE, REFUSED, DEAD = "there", "refused a program", "dead"

ADDRESS = re.compile(r"https?://[^\s<>\"'`{}\[\]|\\^]+")
# A reference page makes links of these fields of references.bib too.
IDENTIFIER = re.compile(r"^\s*(doi|eprint)\s*=\s*[{\"](.*?)[}\"]")
RESOLVERS = {"doi": "https://doi.org/", "eprint": "https://arxiv.org/abs/"}
FENCE = re.compile(r"\s*(`{3,}|~{3,}|:{3,})\s*(.*)")
CODE = ("{code", "{eval-rst}", "{raw}")


def addresses(text: str) -> list[str]:
    """`addresses("see (https://a.org/x_(y)).")` is ["https://a.org/x_(y)"]."""
    found = []
    for address in ADDRESS.findall(text):
        address = address.rstrip(".,;:!?*")
        # A closing bracket is the sentence's, unless the address opened it.
        while address.endswith(")") and address.count(")") > address.count("("):
            address = address[:-1].rstrip(".,;:!?*")
        found.append(address)
    return found


def prose(lines: list[str]) -> Iterator[tuple[int, str]]:
    """`list(prose(["a", "```", "x", "```", "b"]))` is [(1, "a"), (5, "b")]; a directive holds prose."""
    fences: list[tuple[str, bool]] = []  # those open here, each with whether it holds code
    for number, line in enumerate(lines, 1):
        fence = FENCE.fullmatch(line)
        in_code = bool(fences) and fences[-1][1]
        if fence and fences and fence[1].startswith(fences[-1][0]) and not fence[2]:
            fences.pop()
        elif fence and not in_code:
            fences.append((fence[1], not fence[2].startswith("{") or fence[2].startswith(CODE)))
        elif not in_code:
            yield number, re.sub("`[^`]*`", "", line)


def passages(path: Path) -> Iterator[tuple[str, str]]:
    """The lines of a file that may hold links, each with its place in the file."""
    text = path.read_text("utf-8")
    if path.suffix == ".ipynb":
        for cell, content in enumerate(json.loads(text)["cells"], 1):
            if content["cell_type"] == "markdown":
                for number, line in prose("".join(content["source"]).splitlines()):
                    yield f"cell {cell}, line {number}", line
    elif path.suffix == ".bib":
        for number, line in enumerate(text.splitlines(), 1):
            field = IDENTIFIER.match(line)
            yield f"line {number}", RESOLVERS[field[1]] + field[2] if field else line
    else:
        for number, line in prose(text.splitlines()):
            yield f"line {number}", line


def find(root: Path) -> dict[str, list[str]]:
    """Every address, and where it stands: {"https://a.org": ["README.md, line 3"]}."""
    places: dict[str, list[str]] = defaultdict(list)
    book = root / "book"
    for pattern in (root.glob("*.md"), book.glob("*.md"), book.glob("*.ipynb"), book.glob("*.bib")):
        for path in sorted(pattern):
            for place, line in passages(path):
                for address in addresses(line):
                    places[address].append(f"{path.relative_to(root)}, {place}")
    return places


def get(address: str) -> None:
    """Raises HTTPError for an answer that isn't the page, another OSError or HTTPException for none."""
    plain = quote(address, safe="%/:=&?~#+!$,;'@()*")  # a letter like é goes over the wire as %C3%A9
    urllib.request.urlopen(urllib.request.Request(plain, headers=HEADERS), timeout=TIME_LIMIT).close()


def answers(address: str) -> bool:
    """Whether the site says anything at all, if only that it has no such page."""
    try:
        get(address)
    except HTTPError:
        return True
    except (OSError, HTTPException):
        return False
    return True


def ask(address: str) -> tuple[str, str]:
    """`ask("https://a.org/gone")` is (DEAD, "404 Not Found"). What may pass by itself gets two more tries."""
    for pause in (*PAUSES, None):
        try:
            get(address)
            return THERE, ""
        except HTTPError as error:
            verdict = REFUSED if error.code in (401, 403, 429) else DEAD, f"{error.code} {error.reason}"
            if error.code != 429 and error.code < 500:
                return verdict
        except (OSError, HTTPException) as error:
            verdict = DEAD, str(getattr(error, "reason", error))
        if pause is not None:
            time.sleep(pause)
    return verdict


def main(root: Path = ROOT) -> int:
    places = find(root)
    sites: dict[str, list[str]] = defaultdict(list)
    for address in places:
        sites[urlsplit(address).netloc].append(address)
    print(f"links: {len(places)} addresses on {len(sites)} sites", flush=True)
    some = list(sites)[:3]
    if sites and not any(answers(sites[site][0]) for site in some):
        print(f"links: there is no network: no answer from {', '.join(some)}", file=sys.stderr)
        return 2
    counts: Counter[str] = Counter()
    with ThreadPoolExecutor(SITES_AT_ONCE) as pool:
        for results in pool.map(lambda site: [(address, *ask(address)) for address in sites[site]], sites):
            for address, verdict, reason in results:
                counts[verdict] += 1
                if verdict == DEAD:
                    for place in places[address]:
                        print(f"{place}: {address}: {reason}", flush=True)
    print("links: " + ", ".join(f"{counts[verdict]} {verdict}" for verdict in (THERE, REFUSED, DEAD)))
    return 1 if counts[DEAD] else 0


if __name__ == "__main__":
    sys.exit(main())
