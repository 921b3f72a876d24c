// Which Jupyter Server runs the code: this machine's, where `make live` serves the page; else Binder.

import { binder } from "./binder.mjs";
import { HERE, Trouble } from "./trouble.mjs";

const OLDEST = 2; // Jupyter Server's version: what is older was never tried

// serverFor(chapter, say) gives { baseUrl, token, folder, name }.
export async function serverFor(chapter, say) {
  const here = document.querySelector("meta[name=live]");
  if (here) return thisMachine(here.content);
  const server = { name: "Binder", ...(await binder(chapter.binder, say)) };
  await mustBeNew(server);
  return { ...server, folder: chapter.folder };
}

function thisMachine(path) {
  const token = kept("live-token"); // of book.js, which put it there
  if (!token) throw new Trouble("This page does not have the key to `make live`.", OPEN_ITS_ADDRESS);
  return { baseUrl: new URL(path, location.origin).href, token, folder: "", name: "this machine", isHere: true };
}

const OPEN_ITS_ADDRESS = "Open the address that `make live` printed when it started, then press again.";

async function mustBeNew({ baseUrl, token, name }) {
  const answer = await fetch(`${baseUrl}api`, { headers: { Authorization: `token ${token}` } }).catch(() => null);
  if (!answer) throw new Trouble(`The server of ${name} does not answer.`, "Try again.");
  const { version = "" } = await answer.json().catch(() => ({}));
  if (parseInt(version) >= OLDEST) return;
  const its = version ? `It is Jupyter Server ${version}, and this page needs ${OLDEST} or newer.` : "";
  throw new Trouble(`The server of ${name} is too old, or no Jupyter Server. ${its}`.trim(), HERE);
}

// What came of a request that the server refused, or never answered.
export function refused(error, { isHere, name }) {
  const status = error.response?.status;
  if (status === undefined && isHere)
    return new Trouble("`make live` does not answer.", `Start it again. ${OPEN_ITS_ADDRESS}`);
  if (status === undefined) return new Trouble(`The server of ${name} does not answer.`, "Try again.");
  if ((status === 401 || status === 403) && isHere)
    return new Trouble("`make live` was started anew since this page was opened.", OPEN_ITS_ADDRESS);
  if (status === 401 || status === 403)
    return new Trouble(`The server of ${name} no longer lets this page in.`, "Try again.");
  return status === 503 ? new Trouble(`${error.message}.`) : error;
}
