// One word step by step: where we are, one sentence, one drawing, and the arithmetic of one number.

(() => {
  const { Way, StepWords, arithmeticOf, drawingOf, largestFew, largestOf, times, within, written } = stepping;

  const MOST_LISTED_NEURONS = 12;

  class StepsView {

    constructor(bench) {
      Object.assign(this, { bench, kept: new Map() });
      this.element = make("div", { className: "steps" });
      this.element.append(this.turning(), this.map(), ...this.said());
      this.element.onkeydown = (event) => this.key(event);
      this.drawing.onclick = (event) => this.pressed(event);
      new ResizeObserver(() => this.drawn !== this.room && this.redraw()).observe(this.drawing);
    }

    // ---- what stands there ----

    following() {
      const { id } = this.bench;
      const select = (name) => {
        const element = make("select", { id: `${id}-follow-${name}` });
        return (this[name] = element);
      };
      const labelled = (words, element) => make("label", { htmlFor: element.id }, words, element);
      this.word = select("word");
      this.head = select("head");
      this.other = select("other");
      this.number = make("input", { type: "number", min: 1, id: `${id}-follow-number` });
      this.word.onchange = () => {
        const [stack, place] = this.word.value.split(" ");
        this.bench.choose({ stack, place: Number(place) });
        this.tell();
      };
      this.head.onchange = () => this.choose({ head: Number(this.head.value), key: null });
      this.other.onchange = () => this.choose({ head: this.step.head, key: Number(this.other.value) });
      this.number.onchange = () => this.followNumber(Number(this.number.value) - 1);
      this.looking = [labelled("head ", this.head), labelled("and its look at ", this.other)];
      const labels = [labelled("Follow ", this.word), ...this.looking, labelled("number ", this.number)];
      return make("div", { className: "following" }, ...labels);
    }

    map() {
      this.sections = make("ol", { className: "sections-of-way", ariaLabel: "Parts of the way" });
      this.stations = make("ol", { className: "stations", ariaLabel: "Steps of this part" });
      return make("div", { className: "map", role: "group", ariaLabel: "Where we are" }, this.sections, this.stations);
    }

    turning() {
      const button = (textContent, onclick) => make("button", { type: "button", textContent, onclick });
      this.back = button("← Back", () => this.go(this.at - 1));
      this.next = button("Next →", () => this.go(this.at + 1));
      this.over = button("", () => this.go(this.behindLayer));
      return make("div", { className: "turning" }, this.back, this.next, this.over);
    }

    said() {
      this.title = make("p", { className: "step-title" });
      this.sentence = make("p", { className: "step-sentence" });
      this.drawing = make("div", { className: "step-drawing" });
      this.sum = make("p", { className: "step-sum" });
      this.more = make("p", { className: "hint" });
      this.table = make("div", { className: "all-numbers", tabIndex: 0, role: "region", ariaLabel: "All numbers of this step" });
      this.fold = make("details", {}, make("summary", { textContent: "All numbers of this step" }), this.table);
      this.fold.ontoggle = () => this.showNumbers();
      return [this.title, this.sentence, this.drawing, this.sum, this.following(), this.more, this.fold];
    }

    // ---- what is shown ----

    show() {
      const { bench } = this;
      this.way = new Way(bench);
      this.steps = this.way.steps;
      this.at = Math.max(0, this.steps.findIndex(({ id }) => id === bench.choice.step));
      this.step = this.steps[this.at];
      this.follow = this.followed();
      this.words = new StepWords(bench, this.way, this.follow);
      this.showMap();
      this.showFollowing();
      const { step } = this;
      const count = `${this.at + 1} of ${this.steps.length}${this.where && " · "}${this.where} `;
      this.title.replaceChildren(make("b", {}, step.title), ` ${count}`, make("code", {}, step.shapes));
      this.sentence.textContent = this.words.sentence(step);
      const { subject, sum } = arithmeticOf(step, this.words);
      this.sum.replaceChildren(make("span", {}, `${subject}: `), ...powers(sum));
      const { file, anchor, words } = step.chapter;
      this.more.replaceChildren("Why it is so: ", bench.link(file, anchor, words), this.at ? "." : ". The arrow keys lead on and back, too.");
      this.redraw();
      this.showNumbers();
    }

    get room() {
      return Math.min(760, Math.floor(this.drawing.clientWidth)) || 320;
    }

    redraw() {
      if (!this.step) return;
      this.drawn = this.room;
      this.drawing.replaceChildren(drawingOf(this.step, this.words, this.drawn));
    }

    // The reader's number, or else the one that counts most in what is said at the end.
    followed() {
      const { number } = this.bench.choice;
      if (within(number, this.way.width)) return number;
      const ends = this.steps.find(({ kind }) => kind === "logits") ?? this.steps.at(-1);
      const { given, logits, result } = ends.numbers;
      const vector = logits ? times(ends.weights[largestOf(logits)], given) : result;
      return largestOf(vector.map(Math.abs));
    }

    get where() {
      const { layer, part, kind } = this.step;
      if (layer === null) return "";
      return kind === "widen" || kind === "narrow" ? `layer ${layer + 1}, network` : `layer ${layer + 1}, ${this.partName(layer, part)}`;
    }

    partName(layer, number) {
      const { stack } = this.way;
      const part = stack.layers[layer].parts[number];
      return part.kind === "network" ? "network" : lookingWords(stack, part);
    }

    // ---- where we are ----

    // The parts of the way: what goes in, each layer, what comes out.
    get parts() {
      const { layers } = this.way.stack;
      const first = (layer) => this.steps.findIndex((step) => step.layer === layer);
      const places = layers.map((_, layer) => ({ words: `layer ${layer + 1}`, from: first(layer) }));
      const end = this.steps.findLastIndex(({ layer }) => layer !== null) + 1;
      return [{ words: "goes in", from: 0 }, ...places, { words: "comes out", from: end }];
    }

    get behindLayer() {
      return this.parts.find(({ from }) => from > this.at)?.from ?? this.steps.length - 1;
    }

    showMap() {
      const { parts, at, steps } = this;
      const current = parts.findLastIndex(({ from }) => from <= at);
      const [from, to] = [parts[current].from, parts[current + 1]?.from ?? steps.length];
      const key = `${this.way.stack.name} ${steps.length} ${current}`;
      if (key !== this.mapped) this.drawMap(parts, from, to);
      this.mapped = key;
      this.mark(this.sections, (button) => Number(button.value) === from);
      this.mark(this.stations, (button) => Number(button.value) === at && button.ariaLabel);
      this.back.ariaDisabled = at === 0;
      this.next.ariaDisabled = at === steps.length - 1;
      this.over.textContent = this.step.layer === null ? "To layer 1" : `Over layer ${this.step.layer + 1}`;
      this.over.classList.toggle("unneeded", parts.length - 1 === current);
    }

    // Where we are has the focus, if it was in this list.
    mark(list, isCurrent) {
      const inside = list.contains(document.activeElement) || (list === this.stations && this.lost);
      for (const button of list.querySelectorAll("button"))
        if (!isCurrent(button)) button.removeAttribute("aria-current");
        else {
          button.setAttribute("aria-current", "step");
          if (inside) button.focus();
        }
    }

    drawMap(parts, from, to) {
      const { steps } = this;
      this.lost = this.stations.contains(document.activeElement);
      const button = (textContent, place, ariaLabel) => {
        const made = make("button", { type: "button", textContent, value: place, onclick: () => this.go(place) });
        if (ariaLabel) made.ariaLabel = ariaLabel;
        return made;
      };
      this.sections.replaceChildren(...parts.map(({ words, from }) => make("li", {}, button(words, from))));
      const groups = [];
      for (const [i, step] of steps.slice(from, to).entries()) {
        const name = step.layer === null ? (from ? "numbers → word" : "word → numbers") : this.partName(step.layer, step.part);
        if (!i || step.part !== steps[from + i - 1].part)
          groups.push(make("li", {}, button(name, from + i), make("ol", { ariaLabel: name })));
        groups.at(-1).lastChild.append(make("li", {}, button(step.short, from + i, `${step.short}: ${step.title}`)));
      }
      this.stations.replaceChildren(...groups);
    }

    showFollowing() {
      const { bench, way, step } = this;
      const named = (stack) => bench.labels(stack).map((_, place) => this.words.wordAt(stack, place).replace(/[“”]/g, ""));
      const groups = bench.stacks.map(({ name }) => ({
        label: GROUPS[name] ?? name,
        options: named(name).map((word, place) => [`${word}${this.leadsTo(name, place)}`, `${name} ${place}`]),
      }));
      offer(this.word, groups.length > 1 ? groups : groups[0].options, `${way.stack.name} ${way.place}`);
      for (const label of this.looking) label.hidden = step.head === undefined;
      this.number.max = way.width;
      this.number.value = this.follow + 1;
      if (step.head === undefined) return;
      offer(this.head, Array.from({ length: bench.model.heads }, (_, head) => [head + 1, head]), step.head);
      offer(this.other, named(step.memory).map((word, place) => [word, place]), step.key);
    }

    // From the place of a word that was written the next one is.
    leadsTo(stack, place) {
      const asked = this.bench.asked(stack)[place];
      return asked === this.bench.labels(stack)[place] ? "" : ` → ${asked}`;
    }

    // All numbers, for those who want them: a table for each length, a column for each name.
    showNumbers() {
      this.table.replaceChildren();
      if (!this.fold.open || !this.step) return;
      const groups = new Map();
      if (this.step.kind === "narrow") this.table.append(this.neurons());
      for (const [name, tensor] of Object.entries(this.step.numbers)) {
        const words = COLUMNS[name] ?? name;
        const columns = Array.isArray(tensor) && tensor[0]?.length ? tensor.map((vector, i) => [`${words} ${i + 1}`, vector]) : [[words, tensor]];
        for (const [label, column] of columns) {
          if (typeof column === "number") continue;
          if (!groups.has(column.length)) groups.set(column.length, []);
          groups.get(column.length).push([label, column]);
        }
      }
      for (const [length, columns] of groups) this.table.append(numberTable(columns, counted(length)));
    }

    // Those that add most to the followed number, with what each adds.
    neurons() {
      const { weights, numbers } = this.step;
      const adds = times(numbers.active, weights[this.follow]);
      const few = largestFew(adds.map(Math.abs), MOST_LISTED_NEURONS);
      const columns = [["fires", numbers.active], [`adds to number ${this.follow + 1}`, adds]];
      return numberTable(columns.map(([name, column]) => [name, few.map((i) => column[i])]), few.map((i) => `neuron ${i + 1}`));
    }

    // ---- what the reader does ----

    go(to) {
      if (to < 0 || to >= this.steps.length || to === this.at) return;
      const { id, layer, part, head, key } = this.steps[to];
      const chosen = { step: id };
      // Another view may go on from there.
      if (head !== undefined) Object.assign(chosen, { layer, part, head, key }, this.kept.get(this.spot(layer, part)));
      this.bench.choose(chosen);
      this.tell();
    }

    spot(layer, part) {
      return `${this.way.stack.name} ${this.way.place} ${layer} ${part}`;
    }

    // A head or a key, which is remembered for this part of the way.
    choose(some) {
      const { layer, part, id } = this.step;
      this.kept.set(this.spot(layer, part), some);
      this.bench.choose({ layer, part, step: id, ...some });
      this.tell();
    }

    followNumber(number) {
      if (!within(number, this.way.width)) return void (this.number.value = this.follow + 1);
      this.bench.choose({ number });
      this.tell();
    }

    tell() {
      const { subject, sum } = arithmeticOf(this.step, this.words);
      const place = `Step ${this.at + 1} of ${this.steps.length}${this.where && `, ${this.where}`}`;
      this.bench.say(`${place}: ${this.step.title}. ${this.sentence.textContent} ${subject}: ${sum}.`);
    }

    key(event) {
      if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (event.target.closest("input, select, textarea, summary, .all-numbers")) return;
      const last = this.steps.length - 1;
      const to = { ArrowLeft: this.at - 1, ArrowRight: this.at + 1, Home: 0, End: last }[event.key];
      if (to === undefined) return;
      event.preventDefault();
      this.go(to);
    }

    // A bar of a vector is the number to follow from here; a row is the place that is looked at.
    pressed({ target, clientX }) {
      const { number, inHead, key } = target.dataset ?? {};
      if (key !== undefined) return this.choose({ head: this.step.head, key: Number(key) });
      const count = Number(number ?? inHead);
      if (!count) return;
      const { left, width } = target.getBoundingClientRect();
      const place = Math.min(count - 1, Math.max(0, Math.floor(((clientX - left) / width) * count)));
      this.followNumber(count === this.way.width ? place : this.step.narrow * Math.floor(this.follow / this.step.narrow) + place);
    }
  }

  // Names of numbers that say too little by themselves.
  const COLUMNS = { heads: "from head", wide: "it weighs", active: "fires", strengths: "length of what it adds", more: "added in all" };
  const GROUPS = { read: "that is read", written: "that is written" };
  // A list to choose from is made anew only where it has become another one.
  function offer(select, entries, value) {
    const key = JSON.stringify(entries);
    if (select.dataset.offered !== key) {
      const option = ([textContent, value]) => make("option", { textContent, value });
      const entry = (each) => (each.options ? make("optgroup", { label: each.label }, ...each.options.map(option)) : option(each));
      select.replaceChildren(...entries.map(entry));
      select.dataset.offered = key;
    }
    select.value = value;
  }

  // e^(8 − 9) with its exponent raised.
  const powers = (sum) => sum.split(/\^\(([^)]*)\)/).map((part, i) => (i % 2 ? make("sup", {}, part) : part));

  const counted = (length) => Array.from({ length }, (_, i) => `${i + 1}`);

  function numberTable(columns, names) {
    const head = ["", ...columns.map(([name]) => name)].map((words) => make("th", { scope: "col" }, words));
    const rows = names.map((name, i) =>
      make("tr", {}, make("th", { scope: "row" }, name), ...columns.map(([, column]) => make("td", {}, cellOf(column[i])))),
    );
    return make("table", {}, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...rows));
  }

  const cellOf = (value) => (typeof value === "boolean" ? (value ? "seen" : "hidden") : written(value, 3));

  views.steps = StepsView;
})();
