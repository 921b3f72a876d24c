// Binder builds the book's image if it must, starts a machine, and tells of it in a stream of events.

import { HERE, Trouble } from "./trouble.mjs";

const PHASES = {
  waiting: "Binder has taken the order and waits for a free machine.",
  fetching: "Binder fetches the book.",
  building: "Binder installs the book, which takes some minutes once for each release.",
  pushing: "Binder stores what it has installed.",
  built: "The book is installed; Binder looks for a machine to run it on.",
  launching: "Binder starts the machine.",
};
const SLOW = "This takes long. Leave the page open, and read on meanwhile: it goes on by itself.";

// binder("https://mybinder.org/build/gh/ada/book/v1", say) gives { baseUrl, token } of a Jupyter Server. `say` is told
// each phase in words.
export function binder(address, say, slow = 60_000) {
  return new Promise((resolve, reject) => {
    const stream = new EventSource(address);
    let phase = "";
    const tellSlow = setTimeout(() => say(`${PHASES[phase] ?? "Binder has not answered yet."} ${SLOW}`), slow);
    const settle = (end, value) => {
      clearTimeout(tellSlow);
      stream.close();
      end(value);
    };
    stream.onmessage = ({ data }) => {
      const told = JSON.parse(data);
      if (told.phase === "ready") return settle(resolve, { baseUrl: told.url, token: told.token });
      if (told.phase === "failed") return settle(reject, failed(told.message));
      if (!PHASES[told.phase] || told.phase === phase) return;
      phase = told.phase;
      say(PHASES[phase]);
    };
    // The browser would ask again and again.
    stream.onerror = () => settle(reject, phase ? broken() : silent());
  });
}

const failed = (message = "") =>
  new Trouble(`Binder could not start the book: “${message.trim()}”`, `Try again in a few minutes. ${HERE}`);
const broken = () =>
  new Trouble("The connection to Binder broke off.", "Try again: what Binder has done so far is not lost.");
const silent = () =>
  new Trouble("Binder does not answer: it is down, too busy, or there is no network.", `Try again later. ${HERE}`);
