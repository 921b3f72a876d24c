// How two numbers go while two lanes train: lines over the steps, with the line that nobody can pass drawn in.

// Means over so many steps, each at the middle of them.
function meansOf(values, every) {
  const points = [];
  for (let start = 0; start < values.length; start += every) {
    const block = values.slice(start, start + every);
    points.push([start + block.length / 2, block.reduce((sum, value) => sum + value, 0) / block.length]);
  }
  return points;
}

const nats = (value) => (value >= 100 || Number.isInteger(value) ? value.toFixed(0) : value.toFixed(value < 10 ? 3 : 1));

class Plot {
  // A `share` is drawn from 0 to 100 %.
  constructor({ title, first = 1, share = false }) {
    Object.assign(this, { first, share });
    this.svg = stretched("0 0 100 100", { class: "lines" });
    this.top = make("span", { className: "top-end" });
    this.marked = make("span");
    this.last = make("span");
    const bottom = make("span", { className: "bottom-end", textContent: "0" });
    const field = make("div", { className: "field" }, this.svg, this.top, bottom);
    const scale = make("div", { className: "scale" }, make("span", { textContent: "step 0" }), this.last);
    const caption = make("figcaption", {}, `${title}; `, this.marked);
    this.element = make("figure", { className: "plot", ariaHidden: "true" }, caption, field, scale);
  }

  // Where a value stands, in hundredths of the height from above.
  height(value) {
    return 100 - 100 * Math.min(1.02, Math.max(0, value / this.high));
  }

  highest(lines, mark) {
    if (this.share) return 1;
    const starts = lines.flatMap(({ points }) => points.slice(0, 1).map(([, value]) => value));
    return 1.1 * Math.max(...(starts.length ? starts : [this.first]), mark.value);
  }

  // `lines` are [{ side, points: [[step, value], …] }], `mark` is { value, words }, and `dots` are [{ side, value }].
  draw(lines, steps, mark, thin = false, dots = []) {
    this.high = this.highest(lines, mark);
    const limit = draw("path", { class: "limit", d: `M0 ${this.height(mark.value)}H100` });
    const drawn = lines.map(({ side, points }) => {
      const corners = points.map(([step, value]) => `${((100 * step) / steps).toFixed(2)} ${this.height(value).toFixed(2)}`);
      return draw("path", { class: `lane-${side}${thin ? " thin" : ""}`, d: corners.length ? `M${corners.join("L")}` : "" });
    });
    // Those of the second side stand a little before the first's: they may be as high.
    const ends = dots.map(({ side, value }) => {
      const height = Math.min(95, Math.max(5, this.height(value)));
      return draw("path", { class: `dot-${side}`, d: `M${97 - 4 * side} ${height.toFixed(2)}h0.01` });
    });
    this.svg.replaceChildren(limit, ...drawn, ...ends);
    this.top.textContent = (this.share ? percent : nats)(this.high);
    this.last.textContent = `step ${steps}`;
    this.marked.textContent = mark.words;
  }
}
