// A course's JupyterHub, at the address that a teacher has set in _config.yml. A page of another site has no cookie
// of the hub's, so its reader gives it a token of their own, once; it stays in this browser.

import { Trouble } from "./trouble.mjs";

const KEPT = "hub-token: ";
const ASK = "Try again later, or ask whoever runs it.";
const WAIT = 1000; // milliseconds between two looks whether the reader's server has started

// hub("https://hub.school.edu/", say) gives { baseUrl, token }.
export async function hub(address, say) {
  const token = read(address);
  if (!token) throw mustAsk(address);
  const ask = (path, method = "GET") =>
    fetch(`${address}hub/api/${path}`, { method, headers: { Authorization: `token ${token}` } }).catch(() => {
      throw new Trouble(`Your course’s JupyterHub, ${address}, does not answer this page.`, ASK);
    });
  say("Asking your course’s JupyterHub.");
  const answer = await ask("user");
  if (!answer.ok) {
    keep(address, "");
    throw mustAsk(address);
  }
  let user = await answer.json();
  if (!isReady(user)) await ask(`users/${encodeURIComponent(user.name)}/server`, "POST");
  while (!isReady(user)) {
    say("Your server at the course’s JupyterHub is starting.");
    await new Promise((resume) => setTimeout(resume, WAIT));
    user = await (await ask("user")).json();
    if (!isReady(user) && !user.pending && !user.servers?.[""]?.pending)
      throw new Trouble("Your course’s JupyterHub could not start your server.", ASK);
  }
  return { baseUrl: new URL(user.servers?.[""]?.url ?? user.server, address).href, token };
}

const isReady = ({ server, servers }) => (servers?.[""] ? servers[""].ready : Boolean(server));

function mustAsk(address) {
  const way = "Get a token from its page, and put it here once:";
  return new Trouble("Your course’s JupyterHub has to know you.", way, {
    link: { text: "the hub’s page for tokens", address: `${address}hub/token` },
    ask: { label: "Token", answered: (token) => keep(address, token.trim()) },
  });
}

let held = {}; // for browsers that keep nothing

function read(address) {
  try {
    return localStorage.getItem(KEPT + address) ?? held[address];
  } catch {
    return held[address];
  }
}

function keep(address, token) {
  held[address] = token;
  try {
    localStorage.setItem(KEPT + address, token);
  } catch {}
}
