// A page made live: its cells in order, as in a notebook. A cell that needs those above it has them run first.

import { Answers } from "./answers.mjs";
import { Cell } from "./cell.mjs";
import { Panel } from "./panel.mjs";
import { save } from "./saving.mjs";
import { serverFor } from "./servers.mjs";
import { Session } from "./session.mjs";
import { asTrouble, Trouble } from "./trouble.mjs";

const LONG = 30_000; // milliseconds: who waits longer is asked
const STOPS = 5000; // and a cell that is told to stop has stopped

const counted = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

class Page {
  constructor(chapter) {
    this.chapter = chapter;
    this.panel = new Panel(this);
    this.answers = new Answers(chapter.name, () => this.panel.warn(
      "This browser keeps nothing of what you type: it is forbidden to, or full. Save your answers as a notebook."));
    const boxes = [...document.querySelectorAll("main .cell")];
    const coded = chapter.cells.filter(({ cell_type }) => cell_type === "code");
    this.cells = coded.map((told, place) => new Cell(told, isShown(told) ? boxes.shift() : null, this, place + 1));
    this.answers.watch((name, source) => this.cells.find(({ told }) => told.id === name)?.offer(source));
    this.waiting = [];
    this.showsStored = false;
  }

  // ---- the kernel ----

  async connect() {
    this.panel.say("Connecting.");
    try {
      this.server = await serverFor(this.chapter, (words) => this.panel.say(words));
      this.panel.say(`Starting Python on ${this.server.name}.`);
      const session = new Session(this.server, {
        died: () => this.died(session),
        left: () => this.left(),
        lost: () => this.lost(),
        gone: (trouble) => this.gone(trouble),
        found: () => this.panel.say("The connection is back.", { canStop: Boolean(this.running) }),
      });
      await session.start();
      this.session = session;
      this.panel.say(`Python runs on ${this.server.name}.`);
      this.work();
    } catch (error) {
      this.session = undefined;
      this.panel.trouble(asTrouble(error), { "Try again": () => this.connect() });
    }
  }

  lost() {
    const way = "It is tried again by itself, and what runs there runs on.";
    const lost = new Trouble("The connection to the kernel is lost.", way);
    this.panel.trouble(lost, { "Connect anew": () => this.restart() });
  }

  // No server answers any more: nothing runs on, and nothing comes back by itself.
  gone(trouble) {
    this.session = undefined;
    this.forgetAll();
    this.panel.trouble(trouble, { "Try again": () => this.connect() });
  }

  died(session) {
    if (session !== this.session) return;
    this.session = undefined;
    const last = this.running;
    this.forgetAll();
    const way = "Most often its memory was spent. What you typed is kept.";
    const choices = { "Start it again": () => this.connect() };
    if (last) choices["Start it and run to where it stopped"] = () => this.restartTo(last);
    this.panel.trouble(new Trouble("The kernel stopped, and forgot what it had run.", way), choices);
  }

  left() {
    this.session = undefined;
    this.forgetAll();
    const ended = new Trouble("Python has ended: the code told it to, as `exit()` does.", "What you typed is kept.");
    this.panel.trouble(ended, { "Start it again": () => this.connect() });
  }

  forgetAll() {
    this.drop("");
    for (const cell of this.cells) cell.forget();
  }

  // What waits is not run.
  drop(words) {
    for (const cell of this.waiting) cell.tell(words);
    this.waiting = [];
  }

  async restart() {
    this.forgetAll();
    if (!this.session) return this.connect();
    this.panel.say("Restarting Python.");
    try {
      await this.session.restart();
      this.panel.say("Python was started anew, and has run nothing yet.");
    } catch (error) {
      this.session.end();
      this.session = undefined;
      this.panel.trouble(asTrouble(error), { "Try again": () => this.connect() });
    }
  }

  async restartTo(cell) {
    await this.restart();
    this.run(cell);
  }

  async stop() {
    this.drop("not run: you stopped");
    this.wasStopped = true;
    await this.session?.interrupt().catch(() => {});
    const { running } = this;
    setTimeout(() => {
      if (!running || this.running !== running) return;
      const stays = new Trouble("The cell does not stop.", "Restarting ends it; what you typed is kept.");
      this.panel.trouble(stays, { Restart: () => this.restart() });
    }, STOPS);
  }

  // ---- running ----

  run(...cells) {
    if (this.showsStored) this.show(false); // whoever runs a cell wants to see what comes of it
    for (const cell of cells) cell.tell("waits");
    this.waiting.push(...cells);
    this.work();
  }

  runAndGoOn(cell) {
    this.run(cell);
    const below = this.cells.slice(this.cells.indexOf(cell) + 1);
    below.find(({ isInSight }) => isInSight)?.focus();
  }

  runAll() {
    this.run(...this.cells);
  }

  async work() {
    if (this.isWorking || !this.session || !this.waiting.length) return;
    this.isWorking = true;
    this.wasStopped = false;
    const began = performance.now();
    let ran = 0;
    this.panel.say("Running.", { canStop: true });
    try {
      while (this.waiting.length) ran += await this.reach(this.waiting[0]);
      const seconds = ((performance.now() - began) / 1000).toFixed(1);
      if (this.session) this.panel.say(`Ran ${counted(ran, "cell")} in ${seconds} s.`);
    } catch (trouble) {
      this.drop("not run: a cell before it stopped");
      // Of a kernel that has gone the reader has been told.
      if (this.session) this.panel.trouble(asTrouble(trouble), trouble.choices);
    } finally {
      this.isWorking = false;
    }
  }

  // Runs a cell, and before it those above it that the kernel does not know; gives how many it ran.
  async reach(cell) {
    cell.going(true);
    try {
      return await this.runWithThoseAbove(cell);
    } finally {
      cell.going(false);
    }
  }

  async runWithThoseAbove(cell) {
    const above = this.cells.slice(0, this.cells.indexOf(cell)).filter(({ isStale }) => isStale);
    for (const [done, each] of above.entries()) {
      this.panel.count(`The cells above come first: ${done + 1} of ${above.length}.`);
      if (!(await this.execute(each)) && !each.mayFail) throw stopped(each, true);
    }
    this.waiting.shift();
    this.panel.count(this.waiting.length ? `${counted(this.waiting.length, "cell")} to come.` : "");
    const went = await this.execute(cell);
    if (went && above.length) cell.tell(`ran, after the ${counted(above.length, "cell")} above`);
    if (!went && !cell.mayFail && this.waiting.length) throw stopped(cell);
    return above.length + 1;
  }

  // Runs one cell; whether it went well.
  async execute(cell) {
    const began = performance.now();
    const told = setInterval(() => {
      const seconds = Math.round((performance.now() - began) / 1000);
      cell.tell(`runs, ${seconds} s`);
      if (seconds * 1000 >= LONG) this.panel.long(seconds);
    }, 1000);
    this.running = cell;
    cell.begin();
    cell.tell("runs");
    let error = true;
    try {
      ({ error } = await this.session.run(cell.ran, {
        show: (type, content) => cell.add(type, content),
        answer: ({ prompt }) => this.panel.ask(prompt),
      }));
      cell.tell(error ? `stopped ${this.wasStopped ? "by you" : "at an error"}` : "ran");
    } catch (reason) {
      cell.tell("did not end");
      throw reason;
    } finally {
      clearInterval(told);
      this.running = undefined;
      cell.finish(error);
      if (error) cell.ran = null;
    }
    if (this.wasStopped) throw new Trouble("Stopped.", "Nothing else was run.");
    return !error;
  }

  // ---- outputs, answers ----

  show(stored) {
    this.showsStored = stored;
    document.body.classList.toggle("live-stored", stored);
    this.panel.showStored(stored);
    for (const cell of this.cells) cell.showStored(stored);
  }

  save() {
    save(this.chapter, new Map(this.cells.map(({ told, source }) => [told.id, source])));
  }
}

const isShown = ({ metadata }) => !(metadata.tags ?? []).includes("remove-cell");

// A cell went wrong, and another needed it, or was to follow.
function stopped(cell, isNeeded = false) {
  const trouble = isNeeded
    ? new Trouble("A cell above stopped at an error, so this one was not run.", "Mend that one first.")
    : new Trouble("A cell stopped at an error; those that follow were not run.");
  trouble.choices = { "Show that cell": () => reveal(cell) };
  return trouble;
}

function reveal(cell) {
  const start = cell.field ?? cell.box;
  for (let fold = start?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  start?.scrollIntoView({ block: "center" });
  if (cell.field) cell.focus();
}

new Page(globalThis.chapterToRun).connect();
