// A chart that is not the one the page came with: compiled here as the build does it (book/_ext/charts.py), with
// controls that have labels, and drawn at once.

import { compile } from "vega-lite";
import { make } from "./outputs.mjs";

let count = 0;

// `chartLook`, whose colours go by names that the page knows, and `chartWidths` come with this script from the build.
globalThis.showChart = (box, spec) => {
  const { spec: vega } = compile({ ...spec, config: globalThis.chartLook });
  const form = make("form", { autocomplete: "off" });
  const name = `live-chart-${(count += 1)}`;
  for (const signal of vega.signals ?? []) {
    if (signal.bind) form.append(control(signal, name));
    delete signal.bind; // Vega would make controls of its own, which have no labels
  }
  const widths = Object.values(globalThis.chartWidths).map((width) => `<svg data-width="${width}"></svg>`);
  const picture = make("div", { className: "chart-picture", role: "img", ariaLabel: spec.description });
  picture.innerHTML = widths.join("");
  const data = make("script", { type: "application/json", textContent: JSON.stringify(vega) });
  const readout = make("p", { className: "unseen", role: "status" });
  const chart = make("div", { className: "chart" }, form, picture, readout, data);
  box.replaceChildren(chart);
  globalThis.liven(chart); // of charts.js
  chart.dispatchEvent(new Event("input"));
};

function control({ name, value, bind }, chart) {
  const label = bind.name ?? name;
  if (bind.input === "range") return slider({ name, value, bind, label, id: `${chart}-${name}` });
  const choice = (option) => make("input", { type: "radio", name, value: option, defaultChecked: option === value });
  const options = (bind.options ?? []).map((option) => make("label", {}, choice(option), ` ${option}`));
  return make("fieldset", {}, make("legend", {}, label), ...options);
}

function slider({ name, value, bind: { min, max, step }, label, id }) {
  const input = make("input", { type: "range", id, name });
  Object.assign(input, { min, max, step, value });
  return make("div", {}, make("label", { htmlFor: id }, label), input, make("span", {}, String(value)));
}
