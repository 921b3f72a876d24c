// Parts of the model that are switched off, and words at which nobody may look.

class ReachParts {
  constructor(view) {
    this.view = view;
    this.switches = []; // [button, whether it is on]
    const { stacks } = view.bench;
    const attentions = attentionsOf(stacks);
    const kinds = new Set(attentions.map((each) => lookingWords(each.stack, each)));
    const tables = [...kinds].map((kind) => this.table(kind, attentions.filter((each) => lookingWords(each.stack, each) === kind)));
    const wholes = make("div", { className: "reach-wholes" }, ...["mask", "positions"].map((part) => this.whole(part)));
    const hint = "Press a head to switch it off: what it found is no longer added. Press it again, and it is back.";
    this.element = reachTool(this, "Switch parts off", hint, make("div", { className: "reach-kinds" }, ...tables), wholes);
  }

  table(kind, attentions) {
    const heading = (words) => make("th", { scope: "col" }, words);
    const titles = headsFrom(attentions[0]).map((head) => heading(`${head + 1}`));
    const head = make("tr", {}, heading("head"), ...titles, heading("all"));
    const rows = attentions.map((attention) => this.row(attention));
    return make("table", {}, make("caption", {}, kind), make("thead", {}, head), make("tbody", {}, ...rows));
  }

  row(attention) {
    const { stack, layer } = attention;
    const all = headsFrom(attention).map((head) => `${attention.name} ${head}`);
    const each = all.map((name, head) => this.switch(headWords(stack, { ...attention, head }), [name]));
    const together = this.switch(allHeadsWords(stack, attention), all);
    const cells = [...each, together].map((button) => make("td", {}, button));
    return make("tr", {}, make("th", { scope: "row" }, `layer ${layer + 1}`), ...cells);
  }

  switch(words, heads) {
    const isOn = ({ off }) => !heads.every((head) => off.has(head));
    return this.button(words, isOn, (changes, on) => heads.forEach((head) => changes.off[on ? "delete" : "add"](head)));
  }

  button(words, isOn, set) {
    const press = () => {
      const on = !isOn(this.view.bench.changes);
      this.view.change((changes) => set(changes, on), `${words} ${on ? "on again" : "off"}`);
    };
    const button = make("button", { type: "button", role: "switch", ariaLabel: words, onclick: press });
    this.switches.push([button, isOn]);
    return button;
  }

  whole(part) {
    const told = { mask: "no place sees a later one", positions: "each place knows which it is" };
    const button = this.button(`the ${part}`, (changes) => changes[part], (changes, on) => (changes[part] = on));
    return make("p", {}, button, make("span", {}, make("b", {}, `the ${part}`), ` ${told[part]}`));
  }

  show() {
    for (const [button, isOn] of this.switches) {
      const on = isOn(this.view.bench.changes);
      button.ariaChecked = on;
      button.textContent = on ? "on" : "off";
    }
  }
}

class ReachHiding {
  constructor(view) {
    this.view = view;
    this.lists = make("div");
    const hint = "Press a word: no place may look at it any more, not even its own. Heads that find nothing often rest on the first word: hide that one, and see.";
    this.element = reachTool(this, "Hide a word", hint, this.lists);
  }

  // The buttons stay the same ones as long as the words do, and so does the focus.
  show() {
    const { bench } = this.view;
    const words = JSON.stringify(bench.stacks.map(({ name }) => bench.labels(name)));
    if (words !== this.words) this.lists.replaceChildren(...bench.stacks.map((stack) => this.list(stack)));
    this.words = words;
    for (const button of this.lists.querySelectorAll("button"))
      button.ariaPressed = this.view.bench.changes.hidden.has(button.value);
  }

  list({ name }) {
    const buttons = this.view.bench.labels(name).map((word, place) => {
      const spot = `${name} ${place}`;
      const button = make("button", { type: "button", value: spot, textContent: word });
      button.onclick = () => this.press(name, place, `${quoted(word)} (place ${place + 1})`);
      return make("li", {}, button);
    });
    const title = { read: "what is read", written: "what has been written" }[name] ?? "the text";
    return make("ul", { className: "reach-words", ariaLabel: `Hide a word of ${title}` }, ...buttons);
  }

  // A shorter text may not have that place.
  press(stack, place, words) {
    const { bench } = this.view;
    const spot = `${stack} ${place}`;
    const hide = !bench.changes.hidden.has(spot);
    const deed = ({ hidden }) => {
      if (stack === "written" || place < (bench.input?.length ?? 0)) hidden[hide ? "add" : "delete"](spot);
    };
    this.view.change(deed, `${words} ${hide ? "hidden" : "can be seen again"}`);
  }
}
