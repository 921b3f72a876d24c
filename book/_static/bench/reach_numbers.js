// A weight set by hand, or a whole row of them.

const MOST_DEVIATIONS = 4; // of the matrix, to either side

class ReachNumbers {
  constructor(view) {
    Object.assign(this, { view, which: 0, row: null, column: 0 });
    const { bench } = view;
    this.matrices = matricesOf(bench.model, bench.stacks);
    this.matrix = reachSelect("the matrix", (which) => this.go({ which, row: this.first(which), column: 0 }));
    this.word = reachSelect("the row", (row) => this.go({ row }));
    this.rowNumber = this.count("row", (row) => this.go({ row }));
    this.columnNumber = this.count("number", (column) => this.go({ column }));
    this.picture = make("div", { className: "reach-row" });
    this.picture.onclick = (event) => this.point(event);
    this.told = make("p", { className: "reach-number" });
    const hint = "Choose a row of weights and one of its numbers, and set that to another. Or change the whole row.";
    const where = make("div", { className: "reach-choice" }, this.matrix, this.word, ...this.labelled(this.rowNumber), ...this.labelled(this.columnNumber));
    const parts = [where, this.picture, this.told, this.setting(), this.wholes()];
    this.element = reachTool(this, "Set a weight by hand", hint, ...parts);
  }

  count(words, change) {
    const input = make("input", { type: "number", min: 1, step: 1, id: `${this.view.bench.id}-reach-${words}` });
    input.words = words;
    input.oninput = () => input.value && change(within(Number(input.value) - 1, Number(input.max)));
    return input;
  }

  labelled(input) {
    input.label = make("label", { htmlFor: input.id, textContent: input.words });
    return [input.label, input];
  }

  // The new value, by hand or by a slider.
  setting() {
    const { id } = this.view.bench;
    this.slider = make("input", { type: "range", id: `${id}-reach-slider`, step: "any", ariaLabel: "the new value" });
    this.value = make("input", { type: "number", id: `${id}-reach-value`, step: "any" });
    this.slider.oninput = () => (this.value.value = Number(this.slider.value).toFixed(3));
    this.slider.onchange = () => this.set(Number(this.slider.value));
    this.value.onchange = () => this.value.value !== "" && this.set(Number(this.value.value));
    const label = make("label", { htmlFor: this.value.id, textContent: "is now" });
    return make("div", { className: "reach-choice" }, label, this.value, this.slider);
  }

  wholes() {
    const ways = [
      ["to zero", () => 0, "set to zero"],
      ["times 2", (number) => 2 * number, "made twice as long"],
      ["turned around", (number) => -number, "turned around"],
      ["as it was", (_, column) => this.view.bench.model.weights[this.chosen.name][this.chosen.row][column], "as it was"],
    ];
    const buttons = ways.map(([textContent, each, words]) =>
      make("button", { type: "button", textContent, onclick: () => this.setAll(each, words) }),
    );
    return make("div", { className: "reach-choice" }, make("span", {}, "The whole row:"), ...buttons);
  }

  get chosen() {
    const matrix = this.matrices[this.which];
    return { ...matrix, row: matrix.start + this.row };
  }

  // Of a table first the row of a word that counts: the last that is read, or the one that is followed.
  first(which) {
    const { input, rivals, data } = this.view.bench;
    const { table } = this.matrices[which];
    if (table === "written" || table === "said") return rivals[0];
    return table ? (input.findLast((id) => id !== data.end) ?? 0) : 0;
  }

  go(some) {
    Object.assign(this, some);
    this.show();
    this.view.bench.say(this.told.textContent);
  }

  // As shown: what stands in a table of what is read, of what is written, or of what can be said.
  words() {
    const { data, vocabulary, pieces } = this.view.bench;
    const { table } = this.matrices[this.which];
    return table === "read" && !pieces ? data.read.map(shown) : table && vocabulary;
  }

  rowInWords() {
    const words = this.words();
    return words ? `the row of ${quoted(words[this.row])}` : `row ${this.row + 1}`;
  }

  inUse({ numbers }) {
    return numbers.length > 0;
  }

  show() {
    const { bench } = this.view;
    this.row ??= this.first(this.which);
    const { name, row, count, columns } = this.chosen;
    const words = this.words();
    fillSelect(this.matrix, this.matrices.map(({ words }, which) => [which, words]), this.which);
    const named = words && [...words.entries()].filter(([row, word]) => row === this.row || word !== "padding");
    if (words) fillSelect(this.word, named, this.row);
    this.word.hidden = !words;
    this.rowNumber.hidden = this.rowNumber.label.hidden = Boolean(words);
    this.put(this.rowNumber, this.row + 1).max = count;
    this.put(this.columnNumber, this.column + 1).max = columns;
    const now = rowNow(bench.model, this.chosen, row, bench.changes.numbers);
    const stored = bench.model.weights[name][row][this.column];
    this.draw(now);
    this.told.textContent = `In ${this.rowInWords()}, number ${this.column + 1} of ${columns} ${this.inWords(stored, now[this.column])}.`;
    const most = MOST_DEVIATIONS * this.deviation();
    Object.assign(this.slider, { min: -most, max: most, value: now[this.column] });
    this.put(this.value, now[this.column].toFixed(3));
  }

  // What is being typed stays.
  put(input, value) {
    if (document.activeElement !== input) input.value = value;
    return input;
  }

  inWords(stored, now) {
    return now === stored ? `is ${withSign(now, 3)}` : `was ${withSign(stored, 3)} and is now ${withSign(now, 3)}`;
  }

  deviation() {
    const matrix = this.matrices[this.which];
    const rows = this.view.bench.model.weights[matrix.name];
    return (matrix.deviation ??= deviationOf(rows.slice(matrix.start, matrix.start + matrix.count)));
  }

  // The row as bars, up from a line or down from it; the chosen one is marked.
  draw(row) {
    const most = Math.max(...row.map(Math.abs)) || 1;
    const bars = [...row].map((number, column) => {
      const attributes = { x: column + 0.1, y: Math.min(0, -number / most), width: 0.8, height: Math.abs(number) / most };
      return draw("rect", column === this.column ? { ...attributes, class: "chosen" } : attributes);
    });
    const mark = draw("rect", { x: this.column, y: -1, width: 1, height: 2, class: "mark" });
    const axis = draw("path", { d: `M0 0H${row.length}`, "vector-effect": "non-scaling-stroke" });
    this.picture.replaceChildren(stretched(`0 -1 ${row.length} 2`, {}, mark, axis, ...bars));
  }

  // For those who point; the number of the column does the same.
  point({ clientX }) {
    const { left, width } = this.picture.getBoundingClientRect();
    this.go({ column: within(((clientX - left) / width) * this.chosen.columns, this.chosen.columns) });
  }

  // Set once more, it is still one change: the later one.
  set(value) {
    if (!Number.isFinite(value)) return undefined;
    const { name, row, words } = this.chosen;
    const { model } = this.view.bench;
    const { column } = this;
    const deed = (changes) => {
      const now = rowNow(model, { name }, row, changes.numbers);
      now[column] = value;
      setRow(model, changes, name, row, now);
    };
    const done = `number ${column + 1} in ${this.rowInWords()} (${words}) set to ${withSign(value, 3)}`;
    return this.view.change(deed, done, `${name},${row},${column}`);
  }

  setAll(each, done) {
    const { name, row, words } = this.chosen;
    const { model } = this.view.bench;
    const deed = (changes) => setRow(model, changes, name, row, rowNow(model, { name }, row, changes.numbers).map(each));
    return this.view.change(deed, `${this.rowInWords()} (${words}) ${done}`);
  }
}
