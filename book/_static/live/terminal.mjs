// What a terminal would show of a text: no colours, and of a line that was written anew the last.

const COLOURS = /\x1b\[[0-9;?]*[A-Za-z]/g;

const FIRST = 900; // lines that are kept, and so many of the last
const LAST = 100;
const LONGEST = 10_000; // letters of a line

export const many = (count, what) => `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;

// What a stream has written so far: of very many lines the first and the last, and of a long one its beginning.
export class Lines {
  constructor() {
    Object.assign(this, { first: [], last: [], count: 0, line: "", cut: 0 });
  }

  add(text) {
    for (const [place, part] of text.split("\n").entries()) {
      if (place) this.end();
      if (part.includes("\r")) this.cut = 0;
      const line = redrawn(this.line + part);
      this.line = line.slice(0, LONGEST);
      this.cut += line.length - this.line.length;
    }
  }

  end() {
    (this.count < FIRST ? this.first : this.last).push(this.shownLine);
    Object.assign(this, { count: this.count + 1, line: "", cut: 0 });
    if (this.last.length > 2 * LAST) this.last.splice(0, LAST);
  }

  get shownLine() {
    return overwritten(this.line) + (this.cut ? `… ${many(this.cut, "letter")} more` : "");
  }

  get left() {
    return Math.max(0, this.count - FIRST - LAST);
  }

  get text() {
    const between = this.left ? [`… ${many(this.left, "line")} more …`] : [];
    return [...this.first, ...between, ...this.last.slice(-LAST), this.shownLine].join("\n");
  }

  get about() {
    return this.left ? `… ${many(this.left, "line")} more: the first ${FIRST} and the last ${LAST} are shown.` : "";
  }
}

// written("1 %\r2 %") is "2 %": what a terminal would show.
export function written(text) {
  const lines = new Lines();
  lines.add(text);
  return lines.text;
}

// Without what was written over, but for the place where the next letter goes.
function redrawn(line) {
  const plain = line.replace(COLOURS, "");
  const start = plain.lastIndexOf("\r");
  return start < 0 ? plain : overwritten(plain.slice(0, start)) + plain.slice(start);
}

// located("SyntaxError", "invalid syntax (595929769.py, line 2)") names the cell, of which the kernel makes a file for
// itself; what Python could not read is always the cell that was run.
export function located(name, words) {
  if (!/(Syntax|Indentation|Tab|Input)Error$/.test(name)) return words;
  return words.replace(/\(\d+\.py, line (\d+)\)$/, "(this cell, line $1)");
}

function overwritten(line) {
  let shown = "";
  for (const part of line.split("\r")) shown = part + shown.slice(part.length);
  return shown;
}
