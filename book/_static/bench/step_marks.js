// The marks that the drawings of steps are made of, on a sheet as wide as its place: letters, vectors, operators, boxes.
// A vector is a row of bars, up from a line where a number is positive, down where it is negative.

(() => {
  const { written } = stepping;

  const SMALL = 13; // pixels, as in the book's drawings
  const SMALLEST = 12;
  const LETTER = 6.9; // pixels a letter of that size takes, or less
  const NARROW = 520; // pixels: below it names stand above what they name

  const short = (number) => Math.round(10 * number) / 10;

  // What has no room loses letters, and before them the word “place”.
  function shortened(words, room) {
    const most = Math.floor(room / LETTER);
    if (words.length <= most) return words;
    const shorter = words.replace(" at\u00a0place\u00a0", "\u00a0");
    return shorter.length <= most ? shorter : `${shorter.slice(0, Math.max(1, most - 1))}…`;
  }

  class Sheet {
    constructor(width, follow) {
      Object.assign(this, { width, follow, y: 4, marks: [], bands: [] });
      this.isNarrow = width < NARROW;
      this.margin = this.isNarrow ? 0 : Math.min(176, Math.round(width / 4)); // for names, on the left
      this.right = this.isNarrow ? 0 : 64; // for values, on the right
    }

    get svg() {
      const { width, y, bands, marks } = this;
      return draw("svg", { viewBox: `0 0 ${width} ${Math.ceil(y)}`, width, height: Math.ceil(y), "aria-hidden": "true" }, ...bands, ...marks);
    }

    mark(tag, attributes, ...children) {
      const mark = draw(tag, attributes, ...children);
      this.marks.push(mark);
      return mark;
    }

    text(x, y, words, { anchor = "start", role = "ink", size = SMALL, bold } = {}) {
      const attributes = { x, y, "text-anchor": anchor, class: role, "font-size": size };
      if (bold) attributes["font-weight"] = 600;
      return this.mark("text", attributes, words);
    }

    // A remark, in lines no wider than the sheet.
    remark(words, left = 0, right = this.width) {
      const most = Math.floor((right - left) / (LETTER * 0.92));
      let line = "";
      for (const word of [...words.split(" "), null]) {
        if (word !== null && `${line} ${word}`.length <= most) {
          line = line ? `${line} ${word}` : word;
          continue;
        }
        this.text(left, this.y + 13, line, { role: "grey" });
        this.y += 18;
        line = word;
      }
      this.y += 2;
    }

    operator(x, y, sign) {
      this.mark("circle", { cx: x, cy: y, r: 9, class: "operator" });
      this.text(x, y + 4.5, sign, { anchor: "middle" });
    }

    // "W_Q of head 4" has its index lower.
    box(x, y, width, words, role) {
      this.mark("rect", { x, y, width, height: 26, rx: 6, class: `learned ${role}` });
      const [name, index, rest] = words.split(/_(\w+)/);
      const label = this.text(x + width / 2, y + 17.5, name, { anchor: "middle", role });
      if (!index) return;
      label.append(draw("tspan", { dy: 4, "font-size": SMALLEST }, index), draw("tspan", { dy: -4 }, rest));
    }

    // Down to what is made of it.
    arrow(x, y, long = 14) {
      this.mark("path", { d: `M${x} ${y}v${long}m-4 -5l4 5l4 -5`, class: "arrow" });
    }

    // A vector's bars, in a frame. `largest` is the number whose bar fills it. Pressing chooses the number to follow.
    bars(x, y, width, height, vector, { role = "ink", largest, opacity = 1, follow = this.follow, each = "data-number" }) {
      const most = largest || vector.reduce((most, number) => Math.max(most, Math.abs(number)), 1e-9);
      const [step, middle, half] = [width / vector.length, y + height / 2, height / 2 - 1.5];
      const gap = step > 4 ? 0.16 * step : 0;
      const wide = short(step - gap);
      this.mark("rect", { x, y, width, height, rx: 3, class: "frame" });
      const bar = (number, i) => {
        const long = Math.min(half, (half * Math.abs(number)) / most);
        const [left, top] = [x + i * step + gap / 2, number > 0 ? middle - long : middle];
        return `M${short(left)} ${short(top)}h${wide}v${short(long)}h${-wide}z`;
      };
      let d = "";
      for (const [i, number] of vector.entries()) if (i !== follow) d += bar(number, i);
      this.mark("path", { d, class: role, "fill-opacity": 0.55 * opacity });
      if (follow in vector) this.mark("path", { d: bar(vector[follow], follow), class: role, "fill-opacity": opacity });
      this.mark("path", { d: `M${x} ${middle}h${width}`, class: "zero" });
      if (follow in vector) this.ring(x + follow * step, y, step, height);
      this.mark("rect", { x, y, width, height, class: "touch", [each]: vector.length });
    }

    // Around the number that is followed.
    ring(x, y, width, height) {
      const wide = Math.max(5, width);
      this.mark("rect", { x: x - (wide - width) / 2, y: y - 1, width: wide, height: height + 2, rx: 2, class: "ring" });
    }

    // One line of a sum: a sign, a name, a vector, and of it the followed number.
    line(sign, name, vector, about = {}) {
      const { role = "ink", letter = "", note = "", largest, opacity, total = false, follow = this.follow, value, each } = about;
      const { width, margin, right, isNarrow } = this;
      const height = 36;
      const label = letter ? `${letter} · ${name}` : name;
      const said = value ?? (follow in vector ? written(vector[follow]) : "");
      if (isNarrow) {
        if (sign) this.operator(10, this.y + 11, sign);
        const shown = this.text(sign ? 26 : 0, this.y + 16, shortened(label, width - 90), { role, bold: total });
        const fits = (label.length + note.length) * LETTER < width - 90;
        if (note && fits) shown.append(draw("tspan", { class: "grey", dx: 6 }, note));
        this.text(width - 2, this.y + 16, said, { anchor: "end", bold: true });
        this.y += 23;
      } else {
        if (sign) this.operator(10, this.y + height / 2, sign);
        this.text(26, this.y + (note ? 15 : 22), shortened(label, margin - 34), { role, bold: total });
        if (note) this.text(26, this.y + 30, shortened(note, margin - 30), { role: "grey", size: SMALLEST });
        this.text(width - 2, this.y + 22, said, { anchor: "end", bold: true });
      }
      this.bars(margin, this.y, width - margin - right, height, vector, { role, largest, opacity, follow, each });
      this.y += height + (isNarrow ? 8 : 10);
    }

    // Of a short vector all numbers, each below its bar.
    numbers(x, width, vector, follow) {
      const step = width / vector.length;
      for (const [i, number] of vector.entries())
        this.text(x + (i + 0.5) * step, this.y + 11, written(number), { anchor: "middle", size: SMALLEST, bold: i === follow });
      this.y += 20;
      return true;
    }

    // One line of a sum that has one number for all.
    same(sign, words, value) {
      this.operator(10, this.y + 12, sign);
      this.text(26, this.y + 17, words);
      this.text(this.width - 2, this.y + 17, value, { anchor: "end", bold: true });
      this.y += 32;
    }

    // The line of a written sum, above its result.
    rule() {
      this.mark("path", { d: `M0 ${this.y - 2}H${this.width}`, class: "zero" });
      this.y += 4;
    }
  }

  Object.assign(stepping, { Sheet, shortened, SMALLEST });
})();
