// What a reader types stays in this browser, by the chapter and the cell's own name, from the first letter on.

const PREFIX = "answer: ";
const OTHER = "answer of another tab: ";

export class Answers {
  // `complain` is told once, when the browser keeps nothing.
  constructor(chapter, complain) {
    this.chapter = chapter;
    this.complain = complain;
    this.ours = new Map(); // what this tab has last read or written, by the cell's name
  }

  of(cell) {
    const kept = this.read(PREFIX, cell);
    this.ours.set(cell, kept);
    return kept;
  }

  // What another tab has put there since is set aside, not lost.
  keep(cell, source) {
    const there = this.read(PREFIX, cell);
    if (there !== null && there !== this.ours.get(cell) && there !== source) this.write(OTHER, cell, there);
    this.write(PREFIX, cell, source);
    this.ours.set(cell, source);
  }

  forget(cell) {
    this.ours.set(cell, null);
    this.remove(PREFIX, cell);
  }

  // What was typed into the same cell in another tab, or null.
  other(cell) {
    return this.read(OTHER, cell);
  }

  settle(cell) {
    this.remove(OTHER, cell);
  }

  // Calls `changed(cell, source)` when another tab types.
  watch(changed) {
    addEventListener("storage", ({ key, newValue }) => {
      const start = PREFIX + this.chapter + " ";
      if (key?.startsWith(start) && newValue !== null) changed(key.slice(start.length), newValue);
    });
  }

  read(prefix, cell) {
    try {
      return localStorage.getItem(`${prefix}${this.chapter} ${cell}`);
    } catch {
      return null;
    }
  }

  write(prefix, cell, source) {
    try {
      localStorage.setItem(`${prefix}${this.chapter} ${cell}`, source);
    } catch {
      this.complain?.();
      this.complain = undefined;
    }
  }

  remove(prefix, cell) {
    try {
      localStorage.removeItem(`${prefix}${this.chapter} ${cell}`);
    } catch {}
  }
}
