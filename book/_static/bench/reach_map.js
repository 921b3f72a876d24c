// The map of what can be carried over: a row for each station of the stream, or for each head, a column for each place.
// Each cell is a button; once all were tried, it has the answer that comes of it.

class ReachMap {
  constructor(carry) {
    Object.assign(this, { carry, cells: [] });
    this.head = make("thead");
    this.body = make("tbody");
    const table = make("table", {}, this.head, this.body);
    this.legend = make("p", { className: "hint" });
    this.element = make("div", {}, make("div", { className: "reach-map" }, table), this.legend);
    this.body.onkeydown = (event) => this.move(event);
  }

  // Drawn anew only when it has become another map: the button that has the focus keeps it.
  draw(map) {
    const key = JSON.stringify(map);
    if (key !== this.key) this.build(map);
    this.key = key;
    for (const cell of this.cells) this.fill(cell);
    const { vocabulary, rivals } = this.carry.view.bench;
    const [one, other] = rivals.map((id) => quoted(vocabulary[id]));
    this.legend.textContent = `A number: logit of ${one} less logit of ${other} with this alone carried over; the darker, the nearer to the second sentence’s. Framed: carried over now. ·\u00a0not tried, =\u00a0the same in both, ≠\u00a0other words before it.`;
  }

  build({ rows, columns, labels, all }) {
    const places = columns.length && all ? [...columns, "all"] : columns;
    Object.assign(this, { labels, cells: [] });
    const headings = places.map((place) => make("th", { scope: "col" }, place === "all" ? "all places" : labels[place]));
    this.head.replaceChildren(make("tr", {}, make("td"), ...headings));
    this.body.replaceChildren(...rows.map((row, y) => this.row(row, y, places)));
    if (this.cells.length) this.cells[0].button.tabIndex = 0;
    this.element.hidden = !columns.length;
  }

  row(row, y, places) {
    const pairs = this.carry.second.pairs(this.carry.kind.stack.name);
    const cells = places.map((place, x) => {
      // Where both are the same, there is nothing to carry.
      if (place !== "all" && !this.carry.differs(row, place, pairs[place])) return make("td", { className: "same" }, "=");
      const button = make("button", { type: "button", tabIndex: -1, onclick: () => this.carry.press(row, place) });
      this.cells.push({ button, row, place, x, y });
      return make("td", {}, button);
    });
    return make("tr", {}, make("th", { scope: "row" }, row.words), ...cells);
  }

  fill({ button, row, place }) {
    const effect = this.carry.effects.of(row, place);
    const words = this.spotInWords(row, place);
    button.ariaPressed = this.carry.isCarried(row, place);
    button.textContent = effect?.short ?? "·";
    button.ariaLabel = effect ? `${words}: ${effect.words}` : words;
    button.style.setProperty("--share", effect?.share ?? 0);
  }

  // On a phone the map is wider than the screen: the cell that carries most is to be seen.
  reveal() {
    const share = ({ row, place }) => this.carry.effects.of(row, place)?.share ?? 0;
    const { button } = this.cells.reduce((most, cell) => (share(cell) > share(most) ? cell : most));
    const map = this.body.closest(".reach-map");
    const behind = button.getBoundingClientRect().right - map.getBoundingClientRect().right;
    if (behind > 0) map.scrollLeft += behind;
  }

  spotInWords(row, place) {
    return `${row.words} ${place === "all" ? "at all places" : `at ${placeWords(this.labels[place], place)}`}`;
  }

  // Tab leads to one cell. From there the arrows lead to the others.
  move(event) {
    const now = this.cells.find(({ button }) => button === event.target);
    const step = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (!now || !step || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const [right, down] = step;
    const ahead = ({ x, y }) => (right ? y === now.y && (x - now.x) * right > 0 : x === now.x && (y - now.y) * down > 0);
    const distance = ({ x, y }) => Math.abs(x - now.x) + Math.abs(y - now.y);
    const [next] = this.cells.filter(ahead).sort((a, b) => distance(a) - distance(b));
    if (!next) return;
    now.button.tabIndex = -1;
    next.button.tabIndex = 0;
    next.button.focus();
  }
}
