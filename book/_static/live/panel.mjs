// What stands at the head of a live page, and the strip below the top bar that says how its kernel does.

import { make } from "./outputs.mjs";

const command = /Mac|iP/.test(navigator.platform) ? "⌘" : "Ctrl";
const WHAT = "All code on this page can be changed and run where it stands. What you type is kept in this browser.";
const KEYS = `In a field, Shift+Enter runs the code and goes on to the next, ${command}+Enter runs it and stays. Tab
  indents, and Escape leads out of the field to “Run”, which is “Stop” while the code runs.`;

export const button = (words, onclick) => make("button", { type: "button", textContent: words, onclick });

export class Panel {
  constructor(page) {
    this.all = button("Run all", () => page.runAll());
    this.stored = button("", () => page.show(!page.showsStored));
    this.showStored(false);
    this.panel = make("section", { className: "live-panel", ariaLabel: "Run this page" },
      make("p", {}, WHAT), make("p", { id: "live-keys" }, KEYS),
      make("p", { className: "live-buttons" }, this.all, button("Restart", () => page.restart()), this.stored,
        button("Save as a notebook, without outputs", () => page.save())));
    this.words = make("span", { role: "status" });
    this.counts = make("span", { className: "live-count" });
    this.stop = button("Stop", () => page.stop());
    this.ways = make("span", { className: "live-ways" });
    this.alert = make("p", { role: "alert" });
    this.strip = make("div", { className: "live-strip" },
      make("p", {}, this.words, " ", this.counts), this.alert, this.ways, this.stop);
    const pressed = document.querySelectorAll(".live"); // the button, and what was said beside it
    [...pressed].at(-1).after(this.panel, this.strip);
    for (const part of pressed) part.remove();
    this.all.focus();
  }

  showStored(stored) {
    this.stored.textContent = stored ? "Show what came here" : "Show the book’s outputs";
  }

  // ---- how it goes ----

  // Something goes on, or has ended well: said, and whatever was wrong is over.
  say(words, { canStop = false } = {}) {
    this.words.textContent = words;
    this.counts.textContent = this.alert.textContent = "";
    this.ways.replaceChildren();
    this.stop.hidden = !canStop;
  }

  // How far it is, for the eye alone: to hear each number is too much.
  count(words) {
    this.counts.textContent = words;
  }

  // It takes long, which may be as it should.
  long(seconds) {
    this.count(`Still running after ${seconds} s.`);
    this.alert.textContent ||= "A training may take minutes; a loop without an end never stops by itself.";
  }

  // `choices` names what can be done: { "Try again": () => … }.
  trouble({ message, way }, choices = {}) {
    this.say("");
    this.alert.replaceChildren(message, way && ` ${way}`);
    this.ways.append(...Object.entries(choices).map(([words, act]) => button(words, act)));
  }

  // What stays true as long as the page does.
  warn(words) {
    this.panel.append(make("p", { role: "alert" }, words));
  }

  // The code asks its reader for a line: a promise of it.
  ask(prompt) {
    return new Promise((resolve) => {
      const form = field(prompt || "The code asks for a line", (value) => {
        form.remove();
        resolve(value);
      });
      this.ways.append(form);
      form.elements.line.focus();
    });
  }
}

function field(words, answered) {
  const input = make("input", { name: "line", autocomplete: "off" });
  const form = make("form", {}, make("label", {}, words, " ", input), " ", make("button", {}, "Send"));
  form.onsubmit = (event) => {
    event.preventDefault();
    answered(input.value);
  };
  return form;
}
