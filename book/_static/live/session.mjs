// One kernel, which is this page's own: started, asked to run code, stopped, started anew.

import { KernelAPI, KernelConnection, ServerConnection } from "@jupyterlab/services";
import { refused } from "./servers.mjs";
import { HERE, Trouble } from "./trouble.mjs";

// Fails where the book, or what it is made with, is not there.
const LOOK = "import attnlab, bookkit, torch";
const OLDEST_PYTHON = [3, 11];

export class Session {
  // `events` has what is called when the kernel `died()`, when the code has ended it and `left()`, when the
  // connection is `lost()` or `found()`, and when the server is `gone(trouble)`.
  constructor(server, events) {
    this.server = server;
    this.events = events;
    const { baseUrl, token } = server;
    // WebSockets carry no header: there the token is part of the address.
    const wsUrl = baseUrl.replace(/^http/, "ws");
    this.authorization = { headers: { Authorization: `token ${token}` } };
    this.settings = ServerConnection.makeSettings({ baseUrl, wsUrl, token, appendToken: true });
    addEventListener("pagehide", ({ persisted }) => persisted || this.end());
  }

  async start() {
    const { folder } = this.server;
    try {
      this.model = await KernelAPI.startNew(folder ? { path: folder } : {}, this.settings);
    } catch (error) {
      throw refused(error, this.server);
    }
    const { model, settings } = this;
    this.connection = new KernelConnection({ model, serverSettings: settings, handleComms: false });
    this.connection.connectionStatusChanged.connect((_, status) => this.onConnection(status));
    await new Promise((resolve, reject) => {
      this.connection.statusChanged.connect((_, status) => this.onStatus(status));
      this.giveUp = reject;
      this.connection.info.then(resolve);
    });
    mustBePython((await this.connection.info).language_info);
    await this.look();
    this.isReady = true;
  }

  async look() {
    const { error } = await this.run(LOOK, { silent: true });
    if (error) throw lacking(error);
  }

  // Runs the code, hands each message of its outputs to `show`, and gives { error } or {} when it has ended.
  async run(code, { show = () => {}, silent = false, answer } = {}) {
    const { connection } = this;
    const future = connection.requestExecute({ code, silent, store_history: !silent, allow_stdin: Boolean(answer) });
    future.onIOPub = ({ header, content }) => show(header.msg_type, content);
    future.onStdin = async ({ header, content }) => {
      if (header.msg_type === "input_request")
        connection.sendInputReply({ status: "ok", value: await answer(content) }, header);
    };
    const { content } = await future.done;
    if (content.payload?.some(({ source, keepkernel }) => source === "ask_exit" && !keepkernel)) {
      this.end();
      this.events.left();
    }
    return content.status === "ok" ? {} : { error: content };
  }

  interrupt() {
    return this.connection.interrupt();
  }

  async restart() {
    this.isRestarting = true;
    try {
      await this.connection.restart();
      await this.look();
    } catch (error) {
      throw refused(error, this.server);
    } finally {
      this.isRestarting = false;
    }
  }

  // Whoever leaves the page needs its kernel no more. What can't be sent any more, the server ends by itself.
  end() {
    this.hasEnded = true;
    this.connection?.dispose();
    if (!this.model) return;
    const options = { method: "DELETE", keepalive: true, ...this.authorization };
    fetch(`${this.server.baseUrl}api/kernels/${this.model.id}`, options).catch(() => {});
  }

  onStatus(status) {
    const died = status === "dead" || (/restarting/.test(status) && !this.isRestarting);
    if (!died || this.hasEnded) return;
    this.end();
    if (this.isReady) this.events.died();
    else this.giveUp(new Trouble("The kernel stopped while it was starting.", "Try again."));
  }

  onConnection(status) {
    if (this.hasEnded || this.isRestarting) return;
    if (!this.isReady) {
      if (status === "disconnected") this.giveUp(refused({}, this.server));
      return;
    }
    if (status === "disconnected") return this.gone(); // it is tried no more
    const isLost = status !== "connected";
    if (isLost && !this.isLost) this.lose();
    if (!isLost && this.isLost) this.events.found();
    this.isLost = isLost;
  }

  // To this machine no network can be down for a moment: a server that does not answer there has ended.
  async lose() {
    this.events.lost();
    if (!this.server.isHere) return;
    await fetch(`${this.server.baseUrl}api/status`, this.authorization).catch(() => this.gone());
  }

  gone() {
    if (this.hasEnded) return;
    this.end();
    this.events.gone(refused({}, this.server));
  }
}

function mustBePython({ name, version }) {
  if (name !== "python") throw new Trouble(`The kernel there runs ${name}, and the book is in Python.`, HERE);
  const [major, minor] = version.split(".").map(Number);
  if (major === OLDEST_PYTHON[0] && minor >= OLDEST_PYTHON[1]) return;
  const needed = `${OLDEST_PYTHON.join(".")} or newer`;
  throw new Trouble(`The kernel there is Python ${version}, and the book needs ${needed}.`, HERE);
}

function lacking({ ename, evalue }) {
  const name = /No module named '([^']*)'/.exec(evalue)?.[1];
  if (name) return new Trouble(`The kernel there lacks what the book needs: it has no ${name}.`, HERE);
  return new Trouble(`The kernel there can’t load the book: ${ename}: ${evalue}`, HERE);
}
