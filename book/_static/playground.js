// A playground is a picture until the reader asks for its model. Then the model's weights come, and three scripts:
// transformer.js, which computes with them, and workbench.js and benches.js, which show what they do.

const arriving = {};

function arrival(script) {
  arriving[script] ??= new Promise((resolve, reject) => {
    const element = document.createElement("script");
    element.src = `${document.documentElement.dataset.content_root}_static/${script}.js`;
    element.onload = resolve;
    element.onerror = () => {
      delete arriving[script]; // it may be asked for again
      reject();
    };
    document.head.append(element);
  });
  return arriving[script];
}

for (const playground of document.querySelectorAll(".playground")) {
  const button = playground.querySelector("button");
  const status = playground.querySelector("[role=status]");
  const bring = async () => {
    button.onclick = null; // once is enough
    status.className = "";
    status.textContent = "The model is on its way.";
    try {
      for (const script of ["transformer", "workbench", "benches", `model-${playground.dataset.model}`]) await arrival(script);
      status.className = "unseen";
      openWorkbench(playground);
    } catch {
      status.className = "";
      status.textContent = "The model could not be loaded. Press the button to try again.";
      button.onclick = bring;
    }
  };
  button.onclick = bring;
}
