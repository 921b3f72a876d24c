// One cell of code: its field, its buttons, what it put out, and how it stands.

import { editor, fill } from "./editor.mjs";
import { make, Output, Stored } from "./outputs.mjs";
import { button } from "./panel.mjs";

const SHOWN_AFTER = 500; // milliseconds: what comes sooner replaces the old output at once, with no flicker

// A field is made when it is about to be seen: a page has sixty.
const soon = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) if (isIntersecting) target.cell.open();
  },
  { rootMargin: "600px" },
);

export class Cell {
  // `told` is what the build tells of it, `box` its element, or nothing where the page leaves it out.
  constructor(told, box, page, number) {
    Object.assign(this, { told, box, page, number });
    this.source = page.answers.of(told.id) ?? told.source;
    this.ran = null; // the code that the kernel has run last
    // An answer may be wrong or unfinished: what follows does not wait for it.
    this.isExercise = /^check_\w+\(/m.test(told.source);
    this.mayFail = this.isExercise || (told.metadata.tags ?? []).includes("raises-exception");
    this.stored = new Stored(box?.querySelector(".cell_output"), told);
    if (!box) return;
    this.code = box.querySelector(".cell_input > :not(.source)");
    this.summary = box.querySelector(":scope > details > summary");
    this.stands = this.summary?.textContent;
    if (this.code) this.prepare();
  }

  get label() {
    return this.isExercise ? "Your answer" : `Code, cell ${this.number}`;
  }

  get isEdited() {
    return this.source !== this.told.source;
  }

  get isStale() {
    return this.ran !== this.source;
  }

  // Where the page shows it: in a fold, but for those folds that hide it now.
  get isInSight() {
    return Boolean(this.code && this.box.querySelector(".live-field").checkVisibility());
  }

  prepare() {
    this.field = make("div", { className: "live-field highlight", cell: this });
    this.runButton = button("Run", (event) => this.press(event));
    this.runButton.onkeydown = (event) => {
      if (event.repeat) event.preventDefault(); // a key held down presses once
    };
    this.back = button("Put the book’s code back", () => this.putBack());
    this.state = make("span", { className: "live-state" });
    this.notice = make("p", { className: "live-notice", hidden: true });
    const restart = button("Restart and run to here", () => this.page.restartTo(this));
    restart.className = "live-restart";
    this.tools = make("div", { className: "live-tools" }, this.runButton, this.back, this.state, restart);
    this.code.hidden = true;
    this.code.before(this.field, this.tools, this.notice);
    const shown = this.code.querySelector("pre").cloneNode(true); // until its editor is made
    if (this.isEdited) shown.textContent = this.source;
    // Whoever comes by keyboard is before the screen, and hears what it will be.
    Object.assign(shown, { tabIndex: 0, role: "textbox", ariaMultiLine: "true", ariaLabel: this.label });
    shown.onfocus = () => this.focus();
    this.field.append(shown);
    this.showMark();
    soon.observe(this.field);
    if (this.page.answers.other(this.told.id)) this.offer(this.page.answers.other(this.told.id));
  }

  open() {
    soon.unobserve(this.field);
    if (this.view) return this.view;
    this.field.replaceChildren();
    this.view = editor(this.field, this.source, {
      label: this.label,
      help: "live-keys",
      changed: (source) => this.change(source),
      keys: {
        "Shift-Enter": () => this.page.runAndGoOn(this),
        "Mod-Enter": () => this.page.run(this),
        Escape: () => this.leave(),
      },
    });
    return this.view;
  }

  focus() {
    this.open().focus();
  }

  // Back from the button one does not come into the field again, where Shift+Tab is at work on the code.
  leave() {
    const field = this.view.contentDOM;
    field.tabIndex = -1;
    this.runButton.focus();
    this.runButton.addEventListener("blur", () => (field.tabIndex = 0), { once: true });
  }

  change(source) {
    this.source = source;
    if (this.isEdited) this.page.answers.keep(this.told.id, source);
    else this.page.answers.forget(this.told.id);
    this.showMark();
  }

  putBack() {
    fill(this.open(), this.told.source);
    this.focus();
  }

  // Code that another tab has: shown when it is asked for.
  offer(source) {
    if (source === this.source) return;
    const take = button("Show that one here", () => {
      this.page.answers.settle(this.told.id);
      fill(this.open(), source);
      this.notice.hidden = true;
      this.focus();
    });
    this.notice.replaceChildren("You typed something else here in another tab. ", take);
    this.notice.hidden = false;
  }

  // ---- how it stands ----

  showMark() {
    this.back.hidden = !this.isEdited;
    this.box.classList.toggle("live-yours", this.isEdited);
    if (this.isStale && this.ran !== null) this.tell("changed since it ran");
    else if (this.isEdited && this.ran === null) this.tell("yours, kept in this browser");
    else if (this.ran === null) this.tell("");
  }

  tell(words) {
    if (this.state) this.state.textContent = words;
  }

  // The button that runs it, where whoever pressed it still is, stops it as long as it is run, or waited for.
  press({ detail }) {
    if (!this.isGoing) this.page.run(this);
    else if (detail < 2) this.page.stop(); // the second click of a double one was not meant so
  }

  going(isGoing) {
    this.isGoing = isGoing;
    if (this.code) this.runButton.textContent = isGoing ? "Stop" : "Run";
  }

  // The kernel knows nothing of it any more.
  forget() {
    this.ran = null;
    if (this.code) this.showMark();
  }

  // ---- its output ----

  begin() {
    this.ran = this.source;
    this.fresh = new Output(this.stored);
    this.shownSoon = setTimeout(() => this.replace(), SHOWN_AFTER);
    this.box?.classList.add("live-running");
    this.going(true);
  }

  add(type, content) {
    this.fresh.add(type, content);
  }

  finish(error) {
    this.going(false);
    this.replace();
    this.box?.classList.remove("live-running");
    this.box?.classList.toggle("live-failed", Boolean(error));
    if (!this.box?.matches(".tag_bookkeeping")) return;
    const { length } = this.live.claims;
    const holds = length === 1 ? "✓ 1 check holds" : `✓ ${length} checks hold`;
    this.holds = error ? "A check does not hold" : holds;
    this.showSummary();
    if (error) this.summary.parentElement.open = true;
  }

  // The new output takes the place of the one before it.
  replace() {
    clearTimeout(this.shownSoon);
    if (!this.box || this.live === this.fresh) return;
    const { element } = this.fresh;
    this.live?.show(true); // its chart goes back to where the next one takes it from
    if (this.live) this.live.element.replaceWith(element);
    else if (this.stored.element) this.stored.element.after(element);
    else this.box.append(element);
    this.live = this.fresh;
    this.live.show(this.page.showsStored);
  }

  showStored(stored) {
    this.live?.show(stored);
    this.showSummary();
  }

  showSummary() {
    if (this.holds) this.summary.textContent = this.page.showsStored ? this.stands : this.holds;
  }
}
