// A playground is a picture until its model is opened: by its button, by an address (see bench/state.js), or, once the
// reader has done anything, as it is scrolled to; not the slim one, which is in view from the first, nor what was
// recorded of a large model, which is much to fetch. Then files come, which `data-files` names: styles and scripts that
// compute with the model's weights and show what they do, and the weights as a script of their own.

const stored = {}; // what each script of weights has, by the model's name
const benches = {}; // what opens a model in a playground, by the model's kind

const ACTS = ["pointerdown", "pointermove", "wheel", "touchstart", "keydown", "scroll"];
const LOOKED_AT = 300; // milliseconds in view, and it opens
const FAILED = "The model could not be loaded. Press the button to try again, or load the page anew.";

// ---- what comes ----

const arriving = {};
const failed = {}; // how often each file came in vain
const served = location.protocol.startsWith("http");

// A damaged file is not run, and asked for again by another address: a browser may have kept it. What stands in a
// folder can't be compared with its hash; there a script that fails is one that came damaged.
function arrival(file, hash) {
  arriving[file] ??= new Promise((resolve, reject) => {
    const element = made(file, hash, file.endsWith(".css") ? "stylesheet" : "");
    const settle = (end) => {
      removeEventListener("error", broken);
      end();
    };
    const fail = () => {
      delete arriving[file];
      failed[file] = (failed[file] ?? 0) + 1;
      settle(reject);
    };
    const broken = ({ filename }) => (!filename || filename.includes(file)) && fail();
    addEventListener("error", broken);
    element.onload = () => settle(resolve);
    element.onerror = fail;
    document.head.append(element);
  });
  return arriving[file];
}

function made(file, hash, rel) {
  const again = failed[file] ? `?${failed[file]}` : "";
  const address = `${document.documentElement.dataset.content_root}_static/${file}${again}`;
  const element = document.createElement(rel ? "link" : "script");
  if (served) element.integrity = `sha256-${hash}`;
  return Object.assign(element, rel ? { rel, href: address } : { src: address });
}

// They run one after the other, as each needs those before it; they come all at once.
async function allOf({ files, hashes }) {
  const each = files.split(" ").map((file, place) => [file, hashes.split(" ")[place]]);
  for (const [file, hash] of each) {
    if (!served || arriving[file] || failed[file]) continue;
    const link = made(file, hash, "preload");
    link.as = file.endsWith(".css") ? "style" : "script";
    document.head.append(link);
  }
  for (const [file, hash] of each) await arrival(file, hash);
}

// The scripts of a view that a reader asks for in an opened playground.
function viewFor({ dataset }, name) {
  const files = dataset.views.split(" ");
  return allOf({ files: `${name}.js`, hashes: dataset.viewHashes.split(" ")[files.indexOf(`${name}.js`)] });
}

// ---- one playground ----

class Door {
  constructor(playground) {
    this.playground = playground;
    this.button = playground.querySelector("button");
    this.status = playground.querySelector("[role=status]");
    this.button.onclick = () => this.open({ asked: true, enter: true });
  }

  // Who `asked` is told how it goes; who would `enter` gets the focus. The bench, or nothing where it did not come.
  open({ asked = false, enter = false } = {}) {
    this.asked ||= asked;
    this.enter ||= enter;
    if (this.asked && !this.bench) this.tell("The model is on its way.");
    this.opening ??= this.bring();
    return this.opening;
  }

  async bring() {
    const { playground } = this;
    const { model } = playground.dataset;
    const closed = [...playground.childNodes];
    try {
      await allOf(playground.dataset);
      if (!this.asked) keepBelow(playground);
      playground.inert = true; // no bench takes the focus by itself
      this.bench = benches[stored[model].kind](playground, stored[model]) ?? {};
      playground.inert = false;
      this.status.className = "unseen";
      if (this.enter) enter(playground);
    } catch {
      playground.inert = false;
      if (!served) delete arriving[`model-${model}.js`]; // the one that may be run twice
      playground.replaceChildren(...closed);
      this.tell(this.asked ? FAILED : "");
      this.opening = undefined;
      this.asked = this.enter = false;
    }
    return this.bench;
  }

  tell(words) {
    this.status.className = words ? "" : "unseen";
    this.status.textContent = words;
  }

  // Whoever is at the button is left to press it.
  get isHeld() {
    return this.button.matches(":hover") || this.playground.contains(document.activeElement);
  }
}

const doors = new Map([...document.querySelectorAll(".playground")].map((each) => [each, new Door(each)]));

// ---- as it is scrolled to ----

const waiting = new Map();

function wait(playground) {
  const door = doors.get(playground);
  waiting.set(playground, setTimeout(() => (door.isHeld ? wait(playground) : door.open()), LOOKED_AT));
}

// Half of it is in view, or it fills half of the screen.
const watch = new IntersectionObserver(
  (seen) => {
    for (const { target, intersectionRect, boundingClientRect } of seen) {
      clearTimeout(waiting.get(target));
      if (intersectionRect.height * 2 >= Math.min(boundingClientRect.height, innerHeight)) wait(target);
    }
  },
  { threshold: Array.from({ length: 21 }, (_, step) => step / 20) },
);

function begin({ type, movementX, movementY }) {
  if (type === "pointermove" && !movementX && !movementY) return; // the page came to lie below the pointer
  for (const act of ACTS) removeEventListener(act, begin);
  for (const playground of doors.keys()) if (playground.dataset.form === "full") watch.observe(playground);
}

if (!navigator.connection?.saveData) for (const act of ACTS) addEventListener(act, begin, { passive: true });

// ---- by an address ----

const trouble = document.createElement("p");
trouble.role = "alert";

async function follow(byLink) {
  const fragment = location.hash;
  const model = /^#open=([\w-]*)/.exec(fragment)?.[1];
  trouble.remove();
  if (model === undefined || !doors.size) return;
  const playground = [...doors.keys()].find(({ dataset }) => dataset.model === model);
  if (!playground) {
    const [first] = doors.keys();
    trouble.textContent = "The address asks for a model that is not on this page.";
    first.before(trouble);
    return trouble.scrollIntoView();
  }
  for (let fold = playground.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  playground.scrollIntoView();
  const bench = await doors.get(playground).open({ asked: true });
  bench?.restore?.(stateOf(fragment));
  if (!byLink) return;
  playground.tabIndex = -1; // from here Tab leads into it
  playground.focus({ preventScroll: true });
}

addEventListener("hashchange", () => follow(true));
// The same link once more changes no address.
addEventListener("click", ({ target, defaultPrevented }) => {
  const link = target.closest?.("a[href*='#open=']");
  if (link?.href === location.href && !defaultPrevented) follow(true); // one of a tour is followed there
});
follow(false);
