// A tour is a list of links that set a playground. Once one is pressed the tour is on: its step stands on top of the
// playground, with buttons that lead on and back, until the reader wants back what was there before, or stays.

const CHANGES = ["off", "mask", "positions", "hidden", "numbers", "carried", "temperature"];

class Tour {
  constructor(fold) {
    const { model } = fold.dataset;
    this.playground = [...doors.keys()].find(({ dataset }) => dataset.model === model);
    this.items = [...fold.querySelectorAll("ol > li")];
    this.links = this.items.map((item) => item.querySelector("a"));
    fold.addEventListener("click", (event) => {
      const step = this.links.findIndex((link) => link.contains(event.target));
      if (step < 0 || event.ctrlKey || event.metaKey || event.shiftKey) return; // in a tab of its own
      event.preventDefault();
      this.begin(step);
    });
    // Another link of the text has set it: that is no step of this.
    addEventListener("hashchange", () => location.hash.startsWith(`#open=${model}&`) && this.end());
  }

  async begin(step) {
    this.playground.scrollIntoView();
    this.bench = await doors.get(this.playground).open({ asked: true });
    if (!this.bench?.restore) return; // its door has said so
    this.before ??= ofIts(stateOfBench(this.bench));
    this.bar ??= this.made();
    this.playground.prepend(this.bar);
    await this.go(step);
    (this.on.disabled ? this.back : this.on).focus({ preventScroll: true });
  }

  made() {
    const button = (onclick, textContent = "") => make("button", { type: "button", textContent, onclick });
    this.words = make("p", { role: "status" });
    this.back = button(() => this.go(this.step - 1));
    this.on = button(() => this.go(this.step + 1));
    const had = button(() => this.giveBack(), "Back to what I had");
    const stay = button(() => this.leave("The tour is over, and all stays as it is."), "Stay here");
    return make("div", { className: "tour-step", role: "group", ariaLabel: "Guided tour" }, this.words, make("div", {}, this.back, this.on, had, stay));
  }

  async go(step) {
    this.step = step;
    const last = this.links.length;
    this.links.forEach((link, each) => (link.ariaCurrent = each === step ? "step" : null));
    this.turn(this.back, step, "← ", "");
    this.turn(this.on, step + 2, "", " →");
    const words = this.links[step].parentElement.cloneNode(true);
    const link = words.querySelector("a");
    link.replaceWith(...link.childNodes);
    this.words.replaceChildren(make("b", {}, `Step ${step + 1} of ${last}:`), " ", ...words.childNodes);
    const state = stateOf(this.links[step].hash);
    await this.bench.restore(state);
    if (this.step === step) this.bringIntoView(state);
  }

  // At either end the button has nowhere to lead, and whoever pressed it goes on with the other.
  turn(button, step, before, behind) {
    const held = document.activeElement === button;
    button.replaceChildren(before, make("span", {}, "Step "), `${step}`, behind);
    Object.assign(button, { ariaLabel: `Step ${step}`, disabled: !this.links[step - 1] });
    if (held && button.disabled) [this.back, this.on].find((other) => other !== button).focus({ preventScroll: true });
  }

  // What a step is about: what comes of a change, else the step of a way or the lines of a head, which stand further down.
  bringIntoView(state) {
    const changes = CHANGES.some((name) => state[name] !== undefined) || this.bench.trouble.textContent;
    const place = state.step ? ".views" : state.view === "looks" && state.head !== undefined ? ".head-name" : null;
    const about = (place && !changes && this.playground.querySelector(place)) || this.playground;
    about.style.scrollMarginTop = about === this.playground ? "" : `${this.bar.offsetHeight}px`;
    about.scrollIntoView();
  }

  async giveBack() {
    const { bench, before } = this;
    this.leave();
    Object.assign(bench.choice, { step: undefined, number: null }); // what is left out stays as it is
    await bench.restore(before);
    bench.say("All is as it was before the tour.");
  }

  leave(words = "") {
    this.end();
    this.playground.tabIndex = -1; // from here Tab leads into it
    this.playground.focus({ preventScroll: true });
    if (words) this.bench.say(words);
  }

  end() {
    this.bar?.remove();
    this.before = this.step = undefined;
    for (const link of this.links) link.ariaCurrent = null;
  }
}

// What is not set is left out, as it is of an address.
const ofIts = (state) => Object.fromEntries(Object.entries(state).filter(([, value]) => value !== null));

for (const fold of document.querySelectorAll(".tour")) new Tour(fold);
