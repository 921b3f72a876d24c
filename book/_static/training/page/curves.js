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
  constructor({ title, first = 1, share = false, logarithmic = false }) {
    Object.assign(this, { first, share, logarithmic });
    this.svg = stretched("0 0 100 100", { class: "lines" });
    this.top = make("span", { className: "top-end" });
    this.bottom = make("span", { className: "bottom-end" });
    this.marked = make("span");
    this.last = make("span");
    const field = make("div", { className: "field" }, this.svg, this.top, this.bottom);
    const scale = make("div", { className: "scale" }, make("span", { textContent: "step 0" }), this.last);
    const caption = make("figcaption", {}, `${title}; `, this.marked);
    this.element = make("figure", { className: "plot", ariaHidden: "true" }, caption, field, scale);
  }

  // Where a value stands, in hundredths of the height from above.
  height(value) {
    const { low, high } = this;
    const at = this.logarithmic
      ? Math.log(Math.max(value, low) / low) / Math.log(high / low)
      : (value - low) / (high - low);
    return 100 - 100 * Math.min(1.02, Math.max(0, at));
  }

  range(lines, mark) {
    if (this.share) return [0, 1];
    const starts = lines.flatMap(({ points }) => points.slice(0, 1).map(([, value]) => value));
    const values = lines.flatMap(({ points }) => points.map(([, value]) => value));
    const high = 1.1 * Math.max(...(starts.length ? starts : [this.first]), mark.value);
    if (!this.logarithmic) return [0, high];
    const least = Math.min(...values, mark.value || Infinity, high / 10);
    return [Math.max(0.0001, 10 ** Math.floor(Math.log10(least))), high];
  }

  // `lines` are [{ side, points: [[step, value], …] }], and `mark` is { value, words }.
  draw(lines, steps, mark, thin = false) {
    [this.low, this.high] = this.range(lines, mark);
    const inside = !this.logarithmic || mark.value >= this.low;
    const marked = inside ? [draw("path", { class: "limit", d: `M0 ${this.height(mark.value)}H100` })] : [];
    const drawn = lines.map(({ side, points }) => {
      const corners = points.map(([step, value]) => `${((100 * step) / steps).toFixed(2)} ${this.height(value).toFixed(2)}`);
      return draw("path", { class: `lane-${side}${thin ? " thin" : ""}`, d: corners.length ? `M${corners.join("L")}` : "" });
    });
    this.svg.replaceChildren(...marked, ...drawn);
    const say = this.share ? (value) => percent(value) : nats;
    this.top.textContent = say(this.high);
    this.bottom.textContent = this.logarithmic ? say(this.low) : "";
    this.last.textContent = `step ${steps}`;
    this.marked.textContent = mark.words;
  }
}
