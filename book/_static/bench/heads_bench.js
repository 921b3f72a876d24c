// The bench of a model too large to run in a page: what was measured of it on a few texts (explored.py) is looked at
// here. Layers, heads and places count from 0 in the code and in addresses, from 1 in words.

const BITS = 1000; // as they are stored
const FULL = 255; // a weight of 1
// Ways to colour the heads, by their names in an address: what is said of one, and how the ways are listed.
const HEAD_SCORES = {
  removal: "what comes of its removal",
  first: "its weight on the first piece",
  previous: "its weight on the piece before",
  copy: "its weight behind the earlier copy",
};
const OVER = { first: "all pieces but the first", previous: "all pieces but the first", copy: "pieces that stood before" };

const written = (piece) => piece.replace(/·/g, " ").replace(/↵/g, "\n");
const meanOf = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;

// Of each place the one behind the earlier copy of its piece, or -1: of several that behind which most stood alike.
function behindCopies(pieces) {
  const alike = (i, j) => (j >= 0 && pieces[i] === pieces[j] ? 1 + alike(i - 1, j - 1) : 0);
  return pieces.map((_, i) => {
    const runs = Array.from({ length: i }, (_, j) => alike(i, j));
    const most = Math.max(0, ...runs);
    return most ? runs.lastIndexOf(most) + 1 : -1;
  });
}

// Tab leads to the button that is chosen among these. From there the arrows choose others.
function chosenByArrows(element, columns, choose) {
  element.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns }[event.key];
    if (!step || event.altKey || event.ctrlKey || event.metaKey) return;
    const buttons = [...element.querySelectorAll("button")];
    const next = buttons.indexOf(event.target) + step;
    event.preventDefault();
    if (!buttons[next]) return;
    choose(next);
    [...element.querySelectorAll("button")][next].focus();
  };
}

function press(button, isPressed) {
  button.ariaPressed = isPressed;
  button.tabIndex = isPressed ? 0 : -1;
}

class HeadsBench {
  constructor(playground, data) {
    Object.assign(this, { playground, data, status: playground.querySelector("[role=status]"), score: "removal" });
    this.packed = data.texts.map(({ weights }) => Uint8Array.from(atob(weights), (letter) => letter.charCodeAt(0)));
  }

  open() {
    const say = (words) => (this.told.textContent = this.status.textContent = words);
    this.told = make("span", { className: "hint" });
    this.trouble = make("p", { className: "trouble" });
    this.offers = this.data.texts.map(({ name }, text) =>
      make("button", { type: "button", textContent: name, onclick: () => this.choose({ text }) }),
    );
    const offers = make("div", { className: "offers", role: "group", ariaLabel: "Texts" }, ...this.offers);
    this.text = make("p", { className: "heads-text", translate: false });
    this.sentence = make("p", { className: "heads-sentence" });
    const link = linkToShare("link to what is shown", () => addressOf(this.state), say);
    const share = make("p", { className: "share hint" }, "Keep or share it: ", link, " ", this.told);
    const both = make("div", { className: "heads" }, this.map(), this.panel());
    const begins = make("div", { className: "begins" }, offers);
    const parts = [this.trouble, begins, this.text, this.sentence, this.colouring(), both];
    this.playground.replaceChildren(...parts, this.lens(), share, this.status);
    this.status.textContent = "";
    this.choose({ text: 0 });
    return this;
  }

  // ---- what is shown ----

  get measured() {
    return this.data.texts[this.choice.text];
  }

  get state() {
    const { text, ...choice } = this.choice;
    return { open: this.playground.dataset.model, text: this.measured.name, view: this.score, ...choice };
  }

  // By an address.
  restore(given) {
    const { layers, heads, texts } = this.data;
    const text = texts.findIndex(({ name }) => name === given.text);
    const places = texts[Math.max(text, 0)].pieces.length;
    const stacks = { text: { layers, heads, parts: 1, places } };
    const { state, troubles } = checked(given, { views: Object.keys(HEAD_SCORES), stacks });
    if (text < 0 && given.text !== undefined) troubles.push(`There is no text ${quoted(state.text)} here.`);
    this.score = state.view ?? "removal";
    const { layer = 0, head = 0, place = places - 1 } = state;
    this.choose({ text: Math.max(text, 0), ...("layer" in state || "head" in state ? { layer, head } : {}), place });
    this.trouble.textContent = troubles.join(" ");
  }

  // Another text begins with the head without which its answer loses most, and with its last piece.
  choose(some) {
    const { heads } = this.data;
    this.trouble.textContent = this.told.textContent = "";
    if (some.text !== undefined && some.text !== this.choice?.text) {
      const { pieces, removals } = this.data.texts[some.text];
      const bits = removals.map(([each]) => each);
      const worst = bits.indexOf(Math.min(...bits));
      this.choice = { text: some.text, layer: Math.floor(worst / heads), head: worst % heads, place: pieces.length - 1 };
      this.drawn = undefined;
    }
    Object.assign(this.choice, some);
    this.show();
  }

  show() {
    const { choice, measured, data } = this;
    this.offers.forEach((button, text) => (button.ariaPressed = text === choice.text));
    const [[answer]] = measured.next;
    const before = written(measured.pieces.join(""));
    this.text.replaceChildren(before, make("strong", {}, written(answer)));
    this.colour();
    const chosen = choice.layer * data.heads + choice.head;
    this.squares.forEach((button, place) => press(button, place === chosen));
    this.showLooks();
    this.showNext(measured.removals[chosen]);
    this.status.textContent = this.sentence.textContent = this.inWords(measured.removals[chosen]);
  }

  get headInWords() {
    return `Head ${this.choice.head} of block ${this.choice.layer}`;
  }

  inWords([bits]) {
    const { pieces, next } = this.measured;
    const row = this.weights(this.choice.layer * this.data.heads + this.choice.head)[this.choice.place];
    const most = Math.max(...row);
    const [[answer, chance]] = next;
    const [was, is] = [chance, chance * 2 ** (bits / BITS)].map(chanceWords);
    const becomes = was === is ? `stays at ${is}` : `goes from ${was} to ${is}`;
    const [from, at] = [this.choice.place, row.indexOf(most)].map((place) => quoted(pieces[place]));
    return `${this.headInWords}: from ${from} it looks most at ${at}, ${percent(most)}. Without it ${quoted(answer)} ${becomes}.`;
  }

  // A row for each piece that looks; behind it there is nothing to look at.
  weights(head) {
    const { length } = this.measured.pieces;
    const start = (head * length * (length + 1)) / 2;
    const packed = this.packed[this.choice.text];
    const at = (i, j) => (j > i ? 0 : packed[start + (i * (i + 1)) / 2 + j] / FULL);
    return Array.from({ length }, (_, i) => Float32Array.from({ length }, (_, j) => at(i, j)));
  }

  // ---- the map: a row for each block, a square for each head, and what the model would say behind it ----
  // Both are counted from 0, as in the chapter's code.

  map() {
    const { layers, heads } = this.data;
    this.squares = [];
    this.says = [];
    const columns = Array.from({ length: heads }, (_, head) => make("th", { scope: "col" }, `${head}`));
    this.ranked = make("th", { scope: "col", className: "rank" });
    const says = make("th", { scope: "col" }, "so far");
    const titles = make("tr", {}, make("th", { scope: "col" }, "block"), ...columns, says, this.ranked);
    const rows = Array.from({ length: layers + 1 }, (_, behind) => this.row(behind, behind - 1));
    const body = make("tbody", {}, ...rows);
    chosenByArrows(body, heads, (next) => this.choose({ layer: Math.floor(next / heads), head: next % heads }));
    return make("table", { className: "heads-map", ariaLabel: "Heads" }, make("thead", {}, titles), body);
  }

  row(behind, layer) {
    const squares = Array.from({ length: behind ? this.data.heads : 0 }, (_, head) =>
      make("button", { type: "button", onclick: () => this.choose({ layer, head }) }),
    );
    this.squares.push(...squares);
    const cells = squares.map((button) => make("td", {}, button));
    if (!behind) cells.push(make("td", { colSpan: this.data.heads, className: "hint" }, "before the first"));
    const says = [make("td", { translate: false }), make("td", { className: "rank" })];
    this.says.push(says);
    return make("tr", {}, make("th", { scope: "row" }, behind ? `${layer}` : ""), ...cells, ...says);
  }

  colouring() {
    this.by = make("select", { onchange: () => this.choose({}, (this.score = this.by.value)) });
    for (const [value, words] of Object.entries(HEAD_SCORES)) this.by.append(make("option", { value }, words));
    this.legend = make("p", { className: "hint" });
    return make("div", { className: "view" }, make("label", {}, "A head’s colour: ", this.by), this.legend);
  }

  // Of each head a number; nothing where no piece stands twice.
  scores() {
    const { pieces, removals } = this.measured;
    if (this.score === "removal") return removals.map(([bits]) => bits / BITS);
    const targets = { first: pieces.map((_, i) => i && 0), previous: pieces.map((_, i) => i - 1), copy: behindCopies(pieces) };
    const from = targets[this.score].map((key, place) => [place, key]).filter(([place, key]) => place && key >= 0);
    return removals.map((_, head) => {
      const rows = this.weights(head);
      return meanOf(from.map(([place, key]) => rows[place][key]));
    });
  }

  // Only when the text or the way has become another.
  colour() {
    const { measured, data } = this;
    const copied = behindCopies(measured.pieces).some((key) => key >= 0);
    this.by.options[3].disabled = !copied;
    if (this.score === "copy" && !copied) this.score = "removal";
    this.by.value = this.score;
    if (this.drawn === this.score) return;
    this.drawn = this.score;
    const [answer] = measured.next[0];
    const isRemoval = this.score === "removal";
    const scores = this.scores();
    const most = Math.max(...scores.map(Math.abs));
    const told = (score) => (isRemoval ? `${withSign(score, 1)} bits` : percent(score));
    this.squares.forEach((button, place) => {
      const score = scores[place];
      // By the root: a tenth of the largest can still be seen.
      button.style.setProperty("--share", isRemoval ? Math.sqrt(Math.abs(score) / most) : score);
      button.className = isRemoval ? (score > 0 ? "gains" : "") : "weight";
      button.ariaLabel = `block ${Math.floor(place / data.heads)}, head ${place % data.heads}: ${told(score)}`;
    });
    const top = scores.findIndex((score) => Math.abs(score) === most);
    const where = `head ${top % data.heads} of block ${Math.floor(top / data.heads)}, ${told(scores[top])}`;
    const removed = `purple where ${quoted(answer)} loses without the head, green where it gains; one bit less is half the chance`;
    const kinds = isRemoval ? removed : `a mean over ${OVER[this.score]}`;
    const signs = "So far: what the model would say if it ended there. A · is a space, ↵ a new line.";
    this.legend.textContent = `The fuller, the more: ${kinds}. Most: ${where}. ${signs}`;
    this.showLens(answer);
  }

  // ---- the head that is chosen ----

  panel() {
    this.looks = make("div", { className: "heads-looks" });
    chosenByArrows(this.looks, 1, (place) => this.choose({ place }));
    this.lookTitle = make("p", { className: "hint" });
    this.nextTitle = make("caption");
    this.nextRows = make("tbody");
    const titles = ["piece", "", "with it", "without"].map((words) => make(words ? "th" : "td", words ? { scope: "col" } : {}, words));
    const head = make("thead", {}, make("tr", {}, ...titles));
    const table = make("table", { className: "next" }, this.nextTitle, head, this.nextRows);
    return make("div", { className: "heads-panel" }, this.lookTitle, this.looks, table);
  }

  showLooks() {
    const { choice, measured, data } = this;
    const { pieces } = measured;
    const rows = this.weights(choice.layer * data.heads + choice.head);
    const buttons = pieces.map((piece, place) => {
      const button = make("button", { type: "button", translate: false, ariaLabel: placeWords(piece, place) }, piece);
      button.onclick = () => {
        this.choose({ place });
        this.looks.querySelectorAll("button")[place].focus();
      };
      press(button, place === choice.place);
      return button;
    });
    const picture = smallPicture(rows);
    picture.append(draw("rect", { y: choice.place, width: pieces.length, height: 1, class: "chosen" }));
    const found = [...rows[choice.place]].map((weight, key) => {
      const words = make("span", { className: "unseen" }, `${pieces[key]} `);
      const cell = make("li", {}, words, key > choice.place ? "" : percent(weight));
      cell.style.setProperty("--share", weight);
      return cell;
    });
    const list = make("ol", { ariaLabel: `Where ${pieces[choice.place]} looks` }, ...found);
    this.looks.replaceChildren(make("div", {}, ...buttons), picture, list);
    this.looks.style.setProperty("--places", pieces.length);
    const each = "A row for each piece that looks, a column for each that it may look at";
    this.lookTitle.textContent = `${this.headInWords}. ${each}; on the right, how much ${quoted(pieces[choice.place])} looks at each.`;
  }

  showNext(bits) {
    this.nextTitle.textContent = `What comes next, with and without ${this.headInWords.toLowerCase()}`;
    const { next } = this.measured;
    const chances = next.map(([, chance], place) => [chance, chance * 2 ** (bits[place] / BITS)]);
    const most = Math.max(...chances.flat());
    const rows = next.map(([piece], place) => {
      const [bar, dot] = [make("i"), make("b")];
      const [chance, without] = chances[place];
      bar.style.width = `${(100 * without) / most}%`;
      dot.style.left = `${(100 * chance) / most}%`;
      const cells = [chance, without].map((each) => make("td", {}, chanceWords(each)));
      return make("tr", {}, make("th", { scope: "row", translate: false }, piece), make("td", { className: "bar" }, bar, dot), ...cells);
    });
    this.nextRows.replaceChildren(...rows);
  }

  // ---- the lens ----

  lens() {
    this.lensRows = make("tbody");
    const title = "The lens in full: what the model would say if it ended behind a block";
    return make("details", {}, make("summary", {}, title), make("table", { className: "heads-lens" }, this.lensRows));
  }

  showLens(answer) {
    const { lens, ranks } = this.measured;
    const told = ([piece, chance]) => `${piece} ${chanceWords(chance)}`;
    this.ranked.textContent = `${answer}’s rank`;
    this.says.forEach(([says, rank], behind) => {
      says.textContent = told(lens[behind][0]);
      rank.textContent = ranks[behind].toLocaleString("en");
    });
    const rows = lens.map((likely, behind) => {
      const where = make("th", { scope: "row" }, behind ? `block ${behind - 1}` : "before");
      return make("tr", {}, where, ...likely.map((each) => make("td", { translate: false }, told(each))));
    });
    this.lensRows.replaceChildren(...rows);
  }
}

benches.Heads = (playground, data) => new HeadsBench(playground, data).open();
