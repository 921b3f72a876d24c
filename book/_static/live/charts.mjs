// A chart that came out as it is stored stays the one on the page, with what the reader has set. Only another chart
// needs Vega-Lite, which comes then.

const root = document.documentElement;
let comes;

// Fills `box`, unless this is the chart that the page has.
export function chart(box, spec, its) {
  if (its && same(spec, its)) return true;
  box.textContent = spec.description;
  comes ??= Promise.resolve(script("charts.js")).then(() => script("live-charts.js"));
  comes.then(() => globalThis.showChart(box, spec)).catch(() => {
    comes = undefined;
    box.textContent = `The chart could not be drawn. ${spec.description}`;
  });
  return false;
}

function script(file) {
  const address = `${root.dataset.content_root}_static/${file}`;
  if (document.querySelector(`script[src$="_static/${file}"]`)) return undefined;
  return new Promise((resolve, reject) => {
    const element = document.createElement("script");
    document.head.append(Object.assign(element, { src: address, onload: resolve, onerror: reject }));
  });
}

// Objects may list their parts in another order.
function same(one, other) {
  if (Object(one) !== one || Object(other) !== other) return one === other;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => same(one[name], other[name]));
}
