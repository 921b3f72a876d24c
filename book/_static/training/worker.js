// A crew in a Worker: each message is { call: "start", … } or the name of what the crew should do.
importScripts("../die.js", "exact.js", "engine.js", "learner.js", "tasks.js", "lane.js", "crew.js");

let crew = null;

onmessage = ({ data: { call, ...given } }) => {
  if (call === "start") {
    crew?.pause();
    crew = new Crew(given, (said) => postMessage(said), 50);
    postMessage({ kind: "ready" });
  } else crew?.[call]();
};
