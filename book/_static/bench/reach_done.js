// All that is changed at the moment, the latest first, each with its own way back.

// A list of { key, words, back }: `back` takes it out of the changes. It is read from the changes themselves, so that
// it is whole however they came about, by a press or by an address.
function changesMade(changes, bench) {
  const { stacks, model } = bench;
  return [
    ...headsOffMade(changes, stacks),
    ...["mask", "positions"].filter((part) => !changes[part]).map((part) => ({
      key: part,
      words: `the ${part} off`,
      back: (changes) => (changes[part] = true),
    })),
    ...[...changes.hidden].map((spot) => {
      const [stack, place] = spot.split(" ");
      const words = `${quoted(bench.labels(stack)[place] ?? "")} hidden (place ${Number(place) + 1})`;
      return { key: `hidden ${spot}`, words, back: (changes) => changes.hidden.delete(spot) };
    }),
    ...carriedMade(changes, bench),
    ...numbersMade(changes, model, stacks, bench),
  ];
}

function headsOffMade({ off }, stacks) {
  return attentionsOf(stacks).flatMap((attention) => {
    const { name, heads } = attention.part;
    const all = Array.from({ length: heads }, (_, head) => `${name} ${head}`);
    const those = all.filter((each) => off.has(each));
    const back = (given) => (changes) => given.forEach((each) => changes.off.delete(each));
    if (heads > 1 && those.length === heads)
      return [{ key: `off ${name}`, words: `${headsInWords(attention)} off`, back: back(all) }];
    return those.map((each) => {
      const words = `${headInWords(attention, Number(each.split(" ")[1]))} off`;
      return { key: `off ${each}`, words, back: back([each]) };
    });
  });
}

// What one head was given at every place counts as one.
function carriedMade({ carried }, bench) {
  const groups = new Map();
  for (const each of carried) {
    const alone = `carried ${each.stack} ${each.name} ${each.head} ${each.together ? "all" : each.place}`;
    groups.set(alone, [...(groups.get(alone) ?? []), each]);
  }
  return [...groups].map(([key, group]) => {
    const [{ stack, name, place, head }] = group;
    const { words } = stationNamed(bench.stacks, stack, name, head);
    const where = group.length > 1 ? "all places" : `${quoted(bench.labels(stack)[place] ?? "")} (place ${place + 1})`;
    return {
      key,
      words: `${words}, carried over at ${where}`,
      back: (changes) => (changes.carried = changes.carried.filter((each) => !group.includes(each))),
    };
  });
}

function stationNamed(stacks, stack, name, head) {
  const one = stacks.find((each) => each.name === stack);
  const all = head === undefined ? stationsOf(one) : headsOf(one);
  return all.find((each) => each.name === name && each.head === head) ?? { words: name };
}

// A row of which every number was set counts as one.
function numbersMade({ numbers }, model, stacks, bench) {
  const matrices = numbers.length ? matricesOf(model, stacks) : [];
  const rows = new Map();
  for (const each of numbers) {
    const key = `${each.name} ${each.row}`;
    rows.set(key, [...(rows.get(key) ?? []), each]);
  }
  const back = (group) => (changes) => (changes.numbers = changes.numbers.filter((each) => !group.includes(each)));
  return [...rows].flatMap(([key, group]) => {
    const [{ name, row }] = group;
    const matrix = matrices.find((each) => each.name === name && row >= each.start && row < each.start + each.count);
    const where = matrix ? `${rowInWords(matrix, row, bench)} of ${matrix.words}` : `row ${row + 1} of ${name}`;
    if (group.length > 2) return [{ key, words: `${where}: ${group.length} numbers set`, back: back(group) }];
    return group.map((each) => {
      const stored = each.column === undefined ? model.weights[name][row] : model.weights[name][row][each.column];
      const column = each.column === undefined ? "" : `, number ${each.column + 1}`;
      const words = `${where}${column}: ${signedNumber(stored, 3)} is now ${signedNumber(each.value, 3)}`;
      return { key: `${key} ${each.column}`, words, back: back([each]) };
    });
  });
}

// A row of a table of words is known by its word, any other by its number.
function rowInWords(matrix, row, bench) {
  const words = matrix.table && wordsOfTable(matrix.table, bench);
  return words ? `the row of ${quoted(words[row])}` : `row ${row - matrix.start + 1}`;
}

// As shown: what stands in a table of what is read, of what is written, or of what can be said.
function wordsOfTable(table, bench) {
  return table === "read" && bench.data.read ? bench.data.read.map(shown) : bench.vocabulary;
}

// The list on the page. A change that is new since it was last drawn goes on top.
class ReachDone {
  constructor(view) {
    Object.assign(this, { view, order: new Map(), count: 0 });
    this.list = make("ul");
    this.all = make("button", { type: "button", textContent: "All as it was", onclick: () => this.takeBackAll() });
    this.none = make("p", { className: "hint", textContent: "Nothing is changed: the model is as it was trained." });
    this.element = make("div", { className: "reach-done", role: "group", ariaLabel: "What is changed" }, this.none, this.list, this.all);
    this.element.tabIndex = -1; // where the focus goes when the last button is gone
  }

  show() {
    const made = changesMade(this.view.changes, this.view.bench);
    const keys = new Set(made.map(({ key }) => key));
    for (const key of this.order.keys()) if (!keys.has(key)) this.order.delete(key);
    for (const { key } of made) if (!this.order.has(key)) this.order.set(key, this.count++);
    made.sort((a, b) => this.order.get(b.key) - this.order.get(a.key));
    this.list.replaceChildren(...made.map((one) => this.item(one)));
    this.all.hidden = !made.length;
    this.none.hidden = made.length > 0;
  }

  item({ words, back }) {
    const undo = () => {
      this.view.change(back, `taken back: ${words}`).then(() => this.refocus());
    };
    const button = make("button", { type: "button", textContent: "Undo", onclick: undo });
    button.setAttribute("aria-label", `Undo: ${words}`);
    return make("li", {}, make("span", { textContent: words }), button);
  }

  // The button that was pressed is gone.
  refocus() {
    (this.list.querySelector("button") ?? this.element).focus();
  }

  takeBackAll() {
    const made = changesMade(this.view.changes, this.view.bench);
    this.view.change((changes) => made.forEach(({ back }) => back(changes)), "all as it was").then(() => this.refocus());
  }
}
