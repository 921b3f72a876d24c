// A training is the picture of one run until it is opened: by its button, which starts it as well, or by an address
// such as `#train=guests&seed=3&heads=4`, which sets what is changed. playground.js brings the scripts.

const trainings = {}; // what each training's script tells, by its name

class TrainingDoor {
  constructor(box) {
    this.box = box;
    this.button = box.querySelector("button");
    this.status = box.querySelector("[role=status]");
    this.button.onclick = async () => {
      const bench = await this.open();
      if (!bench) return;
      bench.start.focus({ preventScroll: true });
      // The button stood below the picture, and where it stood there may be curves: on a phone a screen away.
      bench.steering.scrollIntoView({ block: "nearest" });
      bench.press();
    };
  }

  open() {
    this.opening ??= this.bring();
    return this.opening;
  }

  async bring() {
    const { box } = this;
    const { name, engine } = box.dataset;
    this.tell("The training is on its way.");
    try {
      await allOf(box.dataset);
      const files = document.documentElement.dataset.content_root;
      const ready = () => allOf({ files: "training-engine.js", hashes: engine });
      this.tell("");
      return openTraining(box, trainings[name], { worker: `${files}_static/training-worker.js`, ready });
    } catch {
      this.tell("The training could not be loaded. Press the button to try again, or load the page anew.");
      this.opening = undefined;
    }
  }

  tell(words) {
    this.status.className = words ? "" : "unseen";
    this.status.textContent = words;
  }
}

const trainingDoors = new Map([...document.querySelectorAll(".training")].map((box) => [box.dataset.name, new TrainingDoor(box)]));

// ---- by an address ----

const noTraining = document.createElement("p");
noTraining.role = "alert";

async function followToTraining() {
  noTraining.remove();
  if (!location.hash.startsWith("#train=")) return;
  const given = [...new URLSearchParams(location.hash.slice(1))];
  const door = trainingDoors.get(given[0][1]);
  const box = (door ?? [...trainingDoors.values()][0]).box;
  for (let fold = box.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (!door) {
    noTraining.textContent = "The address asks for a training that is not on this page.";
    box.before(noTraining);
    return noTraining.scrollIntoView();
  }
  box.scrollIntoView();
  const bench = await door.open();
  bench?.restore(given);
  bench?.start.focus({ preventScroll: true });
}

addEventListener("hashchange", followToTraining);
addEventListener("click", ({ target, defaultPrevented }) => {
  const link = !defaultPrevented && target.closest?.("a[href*='#train=']");
  if (link?.href === location.href) followToTraining();
});
followToTraining();
