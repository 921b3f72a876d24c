// What a reader does with an opened model, whichever it is: give it something to read, see what comes of it, follow it
// in one of several views, change it and take that back. The models themselves are in transformer.js and gpt.js, the
// benches of each kind of model, which extend this one, in benches.js, induction_bench.js and gpt_bench.js.

const SLICE = 12; // milliseconds of computing, before the page may answer again: less than 50 on a slow phone
// What a bench can show, by its name in an address. Each is a class in `views`, which has an element and show(). The
// scripts of the first have come with the bench; those of another come when it is asked for.
const TITLES = { looks: "Looks and effects", steps: "Step by step", reach: "Reach in" };
const views = {};

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));
// Until what stands in the page by now is seen.
const painted = () => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));

class Workbench {
  constructor(playground, data, model) {
    Object.assign(this, { playground, data, model, plainModel: twin(model), slim: playground.dataset.form === "slim" });
    this.id = `${playground.dataset.model}-${[...document.querySelectorAll(".playground")].indexOf(playground)}`;
    this.stacks = anatomy(model);
    this.status = playground.querySelector("[role=status]");
    this.deeds = []; // what the reader has changed: { words, deed }, each to be taken back
    this.changes = noChanges(); // all of that together
    const [name, head] = (!this.slim && data.missed) || data.shown; // what is switched off first should be missed
    this.choice = { ...this.whereIs(name), head, place: null, key: null, number: null };
  }

  // ---- what a bench of its own has ----
  //
  // form() are the elements that ask, answer() those that answer, showAnswer() fills them in; `input` is what the model
  // is given, or null where there is nothing to read; labels(stack) and vocabulary name places and outputs.

  tallyAsks = "How often is it right?";
  piece = "word"; // what stands at a place

  // What is to be said of chances where another number beside them says otherwise.
  get chancesAre() {
    return "";
  }

  // The words at the places of a stack when they are looked from: a place that writes has the word that it writes.
  asked(stack) {
    return this.labels(stack);
  }

  // ---- opening ----

  open() {
    this.trouble = make("p", { className: "trouble" });
    const parts = [this.trouble, ...this.form(), ...this.answer()];
    this.changed = make("ul", { className: "deeds", ariaLabel: "What you have changed" });
    this.shown = make("div", { className: "view" });
    parts.push(this.changed);
    if (this.slim) this.view = new views.lines(this, true);
    else parts.push(this.tabs());
    parts.push(this.shown);
    if (!this.slim) parts.push(this.sharing());
    this.playground.replaceChildren(...parts, this.status);
    this.status.textContent = "";
    if (this.view) this.shown.replaceChildren(this.view.element);
    else this.look("looks");
    this.begins();
    return this;
  }

  // Another text: what was followed in the last one is of no use in it.
  readAnew() {
    this.picked = false;
    Object.assign(this.choice, { place: null, key: null });
    return this.run();
  }

  say(words) {
    this.status.textContent = words;
  }

  // A link from any page to a place in a chapter.
  link(file, anchor, words) {
    const root = document.documentElement.dataset.content_root;
    return make("a", { href: `${root}${file}.html${anchor ? `#${anchor}` : ""}` }, words);
  }

  // ---- running the model, in slices ----

  // What was going on ends. All that the reader has changed is put together once, for whoever asks meanwhile.
  begin() {
    this.changes = changesBy(this.deeds);
    return (this.turn = {});
  }

  // As it is, and as it is changed. Whoever types on, or changes more, ends what was going on.
  async run() {
    const turn = this.begin();
    const { input } = this;
    this.given = JSON.stringify(input);
    if (input === null) return this.showNothing();
    if (this.plain?.given !== this.given) {
      const { given } = this;
      const plain = await this.through(this.plainModel, input, turn);
      if (!plain) return;
      this.plain = { given, ...plain };
    }
    this.model.changes = this.changes;
    const run = this.deeds.length ? await this.changedRun(input, turn) : this.plain;
    if (!run || this.turn !== turn) return;
    Object.assign(this, { result: run.result, traces: run.traces, logits: run.logits });
    Object.assign(this, { plainResult: this.plain.result, plainTraces: this.plain.traces, plainLogits: this.plain.logits });
    if (!this.deeds.length) Object.assign(this.model, { traces: run.traces, logits: run.logits });
    this.settle();
    if (this.copied) this.copied.textContent = "";
    this.shown.hidden = false;
    this.showAnswer();
    this.showDeeds();
    await painted(); // to lay out the answer and the view at once would take a phone too long
    if (this.turn !== turn) return;
    if (this.view?.find) {
      this.view.find(); // and so would working out and drawing
      await pause(0);
    }
    if (this.turn === turn) this.show();
  }

  // A change that can't be made, as an address may ask for, is told, and all is as it was.
  async changedRun(input, turn) {
    try {
      return await this.through(this.model, input, turn);
    } catch ({ message }) {
      this.tellTroubles([`That can’t be changed: ${message}`]);
      return void this.undoAll();
    }
  }

  // What the model makes of this input, or nothing where another turn has begun.
  async through(model, input, turn) {
    const running = model.running(input);
    for (;;) {
      await pause(0);
      if (this.turn !== turn) return undefined;
      for (const until = performance.now() + SLICE; performance.now() < until; ) {
        const { done, value } = running.next();
        if (done) return { result: value, traces: model.traces, logits: model.logits };
      }
    }
  }

  // The same for another input and other changes, beside the run that is shown.
  compute(input, changes = noChanges()) {
    return this.through(Object.assign(twin(this.model), { changes }), input, this.turn);
  }

  showNothing() {
    this.shown.hidden = true;
    this.showAnswer();
    this.showDeeds();
  }

  // ---- views ----

  tabs() {
    this.tab = {};
    for (const [name, textContent] of Object.entries(TITLES))
      this.tab[name] = make("button", { type: "button", textContent, onclick: () => this.look(name) });
    return make("div", { className: "views", role: "group", ariaLabel: "Ways to look at it" }, ...Object.values(this.tab));
  }

  async look(name) {
    this.looking = name;
    for (const [each, button] of Object.entries(this.tab)) button.ariaPressed = each === name;
    if (!views[name] && !(await this.arrived(name))) return undefined;
    this.made ??= {};
    this.view = this.made[name] ??= new views[name](this);
    this.shown.replaceChildren(this.view.element);
    if (this.traces) return this.show();
    return this.turn && this.run(); // there was no view to run it for
  }

  // Whether the view's scripts have come, and it is still wanted.
  async arrived(name) {
    this.shown.replaceChildren(make("p", { className: "hint" }, "This view is on its way."));
    try {
      await viewFor(this.playground, name);
    } catch {
      const failed = "This view could not be loaded. Press its button once more.";
      if (this.looking === name) this.shown.replaceChildren(make("p", {}, failed));
      this.say(failed);
      return false;
    }
    return this.looking === name;
  }

  show() {
    if (this.input !== null) this.view?.show();
  }

  // ---- what is followed ----

  choose(some) {
    Object.assign(this.choice, some);
    if (!this.traces) return; // the first run will settle it
    this.settle();
    this.show();
  }

  // A choice is of what there is: another text has fewer places, another layer other parts.
  settle() {
    const { choice, stacks } = this;
    const stack = stacks.find(({ name }) => name === choice.stack) ?? stacks.at(-1);
    choice.stack = stack.name;
    choice.layer = within(choice.layer, stack.layers.length);
    const { parts } = stack.layers[choice.layer];
    if (parts[choice.part]?.kind !== "attention") choice.part = parts.findIndex(({ kind }) => kind === "attention");
    choice.head = within(choice.head, this.model.heads);
    const weights = this.traces[stack.name][parts[choice.part].weights][choice.head];
    choice.place = choice.place === null ? this.telling(stack.name, weights) : within(choice.place, weights.length);
    const row = weights[choice.place];
    choice.key = choice.key === null ? row.indexOf(Math.max(...row)) : within(choice.key, row.length);
    // Until a reader picks one, the view that follows a number takes the one that counts most.
    if (choice.number !== null) choice.number = within(choice.number, this.traces[stack.name][stack.positions][0].length);
    if (!this.picked) this.rivals = this.likelyRivals(choice);
  }

  // Which word to follow first: one that looks far away from its own place, and hardly anywhere else.
  telling(stack, weights) {
    const far = weights.map((row, i) => Math.max(...row) ** 2 * Math.abs(row.indexOf(Math.max(...row)) - i));
    return far.indexOf(Math.max(...far));
  }

  // The likeliest output of the followed place, and the next likely one. A changed run may have more places.
  likelyRivals({ stack, place }, count = 2) {
    const last = Math.min(this.logits.length, this.plainLogits.length) - 1;
    const logits = this.plainLogits[stack === this.stacks.at(-1).name ? Math.min(place, last) : last];
    return likeliest(logits, count);
  }

  pick(rivals) {
    this.picked = true;
    this.rivals = rivals;
    this.show();
  }

  // Where an attention of this name stands.
  whereIs(name) {
    for (const { name: stack, layers } of this.stacks)
      for (const [layer, { parts }] of layers.entries()) {
        const part = parts.findIndex(({ attention }) => attention === name);
        if (part >= 0) return { stack, layer, part };
      }
    throw new Error(`there is no attention ${name}`);
  }

  // ---- changing the model, and taking that back ----

  get done() {
    return this.deeds.map(({ words }) => words);
  }

  // A change that takes an earlier one back leaves neither of them. Of the same `key` there is but one: the last.
  change(deed, words, key) {
    const same = key ? this.deeds.findIndex((each) => each.key === key) : -1;
    if (same >= 0) this.deeds.splice(same, 1);
    const now = inText(changesBy([...this.deeds, { deed }]));
    if (now === inText(changesBy(this.deeds))) return this.run(); // it is so already
    const before = this.deeds.findIndex((_, place) => inText(changesBy(this.deeds.toSpliced(place, 1))) === now);
    if (before >= 0) this.deeds.splice(before, 1);
    else this.deeds.push({ deed, words, key });
    return this.run();
  }

  undo(place = this.deeds.length - 1) {
    this.deeds.splice(place, 1);
    return this.run();
  }

  undoAll() {
    this.deeds = [];
    return this.run();
  }

  showDeeds() {
    const items = this.done.map((words, place) => {
      const back = make("button", { type: "button", textContent: "undo", ariaLabel: `undo: ${words}` });
      back.onclick = async () => {
        await this.undo(place);
        this.focusNear(place);
      };
      return make("li", {}, `${words} `, back);
    });
    if (items.length > 1) {
      const all = make("button", { type: "button", textContent: "All as it was" });
      all.onclick = async () => {
        await this.undoAll();
        this.focusNear(0);
      };
      items.push(make("li", {}, all));
    }
    this.changed.replaceChildren(...(this.slim ? [] : items)); // a slim bench has one switch, which says how it stands
  }

  // The button that was pressed is gone: the next one has the focus, or the first that there is.
  focusNear(place) {
    const buttons = this.changed.querySelectorAll("button");
    (buttons[Math.min(place, buttons.length - 1)] ?? this.playground.querySelector("input, textarea")).focus();
  }

  // ---- to be shared ----

  get ownState() {
    return {};
  }

  restoreOwn() {}

  restore(state) {
    return restoreBench(this, state);
  }

  tellTroubles(troubles) {
    this.trouble.textContent = troubles.join(" ");
    if (troubles.length) this.say(this.trouble.textContent);
  }

  sharing() {
    this.copied = make("span", { className: "hint" });
    const told = (words) => this.say((this.copied.textContent = words));
    const link = linkToShare("link to what is shown", () => addressOf(stateOfBench(this)), told);
    return make("p", { className: "share hint" }, "Keep or share it: ", link, " ", this.copied);
  }
}

const within = (number, count) => Math.max(0, Math.min(count - 1, Math.trunc(number) || 0));

function changesBy(deeds) {
  const changes = noChanges();
  for (const { deed } of deeds) deed(changes);
  return changes;
}

// Two changes are the same when their texts are.
function inText(changes) {
  return JSON.stringify(changes, (_, value) => {
    if (value instanceof Set) return [...value].sort();
    return ArrayBuffer.isView(value) ? vectorInText(value) : value;
  });
}

const vectorTexts = new WeakMap();

// A carried vector stays as it is, and is compared again with each change.
function vectorInText(vector) {
  if (!vectorTexts.has(vector)) vectorTexts.set(vector, vector.join());
  return vectorTexts.get(vector);
}

// A model with the same weights and a run of its own.
function twin(model) {
  const other = Object.assign(Object.create(Object.getPrototypeOf(model)), model);
  return Object.assign(other, { changes: noChanges(), traces: {}, logits: [] });
}
