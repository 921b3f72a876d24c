// Trains in a Worker, so that the page never waits; where none can start (a page opened from a file), on the page, in
// slices of a few milliseconds. It must then have the crew's scripts: `ready()` brings them.

class Runner {
  // `hear` is told what crew.js says.
  constructor(address, ready, hear) {
    Object.assign(this, { address, ready, hear, crew: null, worker: null, calls: [] });
  }

  // given = { lanes, every, lengths }; nothing is trained before go() or step().
  start(given) {
    this.stop();
    this.given = given;
    try {
      const worker = new Worker(this.address);
      this.worker = worker;
      // Firefox says later that it may not; whatever was asked until then is asked again.
      worker.onerror = (event) => {
        event.preventDefault();
        if (this.worker === worker && !this.answered) this.here();
      };
      worker.onmessage = ({ data }) => {
        if (this.worker !== worker) return;
        this.answered = true;
        if (data.kind !== "ready") this.hear(data);
      };
      worker.postMessage({ call: "start", ...given });
    } catch {
      this.here();
    }
  }

  async here() {
    const { given } = this;
    this.worker?.terminate();
    this.worker = null;
    await this.ready();
    if (this.given !== given) return; // stopped or begun anew meanwhile
    this.crew = new Crew(given, this.hear, 12);
    for (const call of this.calls) this.crew[call]();
  }

  call(name) {
    this.calls.push(name);
    if (this.worker) this.worker.postMessage({ call: name });
    else this.crew?.[name]();
  }

  go() {
    this.call("go");
  }

  step() {
    this.call("step");
  }

  pause() {
    this.call("pause");
  }

  stop() {
    this.worker?.terminate();
    this.crew?.pause();
    Object.assign(this, { worker: null, crew: null, given: null, answered: false, calls: [] });
  }
}
