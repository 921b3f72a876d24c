// A chart is a picture until the reader moves one of its controls; from then on Vega draws it at each move.

const narrow = matchMedia("(max-width: 40rem)");
let loading;

function loadVega() {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${document.documentElement.dataset.content_root}_static/vega.js`;
    script.onload = resolve;
    script.onerror = reject;
    document.head.append(script);
  });
  return loading;
}

// Put the living chart in the place of the pictures, at the same width.
async function start(chart) {
  await loadVega();
  const picture = chart.querySelector(".chart-picture");
  const widths = [...picture.children].map((svg) => Number(svg.dataset.width));
  const spec = JSON.parse(chart.querySelector("script").textContent);
  const dataflow = vega.parse(spec, null, { ast: true });
  const view = new vega.View(dataflow, { expr: vega.expressionInterpreter, renderer: "svg" });
  const fit = () => view.width(narrow.matches ? Math.min(...widths) : Math.max(...widths));
  narrow.addEventListener("change", () => fit().runAsync());
  fit().initialize(picture);
  // The chart's numbers can be read from the console and from tests.
  chart.view = view;
  return { view, spec };
}

// Let its controls move a chart, once it is on the page.
function liven(chart) {
  const readout = chart.querySelector("[role=status]");
  let started;

  chart.addEventListener("input", async ({ target }) => {
    if (target.type === "range") target.nextElementSibling.textContent = target.value;
    try {
      started ??= start(chart);
      const { view, spec } = await started;
      for (const [name, value] of new FormData(chart.querySelector("form"))) {
        const { value: initial } = spec.signals.find((signal) => signal.name === name);
        view.signal(name, typeof initial === "number" ? Number(value) : value);
      }
      await view.runAsync();
      const summary = spec.marks.find((mark) => mark.name === "readout_marks");
      if (summary) readout.textContent = view.data(summary.from.data)[0].readout.join(", ");
    } catch {
      readout.className = "";
      readout.textContent = "The chart could not be started; reload the page to try again.";
    }
  });
}

for (const chart of document.querySelectorAll(".chart")) liven(chart);
