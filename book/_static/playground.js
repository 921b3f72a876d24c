// A playground is a picture until the reader asks for its model. Then files come, which `data-files` names: scripts that
// compute with the model's weights and show what they do, the weights as a script of their own, and perhaps styles.

const stored = {}; // what each script of weights has, by the model's name
const benches = {}; // what opens a model in a playground, by the model's kind
const arriving = {};

function arrival(file) {
  arriving[file] ??= new Promise((resolve, reject) => {
    const address = `${document.documentElement.dataset.content_root}_static/${file}`;
    const element = document.createElement(file.endsWith(".css") ? "link" : "script");
    Object.assign(element, file.endsWith(".css") ? { rel: "stylesheet", href: address } : { src: address });
    element.onload = resolve;
    element.onerror = () => {
      delete arriving[file]; // it may be asked for again
      reject();
    };
    document.head.append(element);
  });
  return arriving[file];
}

for (const playground of document.querySelectorAll(".playground")) {
  const button = playground.querySelector("button");
  const status = playground.querySelector("[role=status]");
  const bring = async () => {
    button.onclick = null; // once is enough
    status.className = "";
    status.textContent = "The model is on its way.";
    const { files, model } = playground.dataset;
    try {
      for (const file of files.split(" ")) await arrival(file);
      benches[stored[model].kind](playground, stored[model]);
      status.className = "unseen";
    } catch {
      // What came damaged is asked for again, too.
      delete arriving[`model-${model}.js`];
      status.className = "";
      status.textContent = "The model could not be loaded. Press the button to try again.";
      button.onclick = bring;
    }
  };
  button.onclick = bring;
}
