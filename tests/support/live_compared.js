// For each cell of a live page what it had stored and what came, where both are to be the same (conftest.py says why
// HTML need not be): rows of claims without what was measured, pictures whole, and whatever is plain text.
async () => {
  const decoded = (address) => decodeURIComponent(address.slice(address.indexOf(",") + 1));
  const source = async ({ src }) => (src.startsWith("data:") ? decoded(src) : (await fetch(src)).text());
  const words = (element, ...parts) => parts.map((part) => element.querySelector(part).textContent).join();
  const attributes = ({ attributes }) => [...attributes].map(({ name, value }) => `${name}=${value}`).sort().join();
  const size = (image) => ["width", "height"].map((side) => image.getAttribute(side));
  const kinds = {
    claims: [".claim", (claim) => words(claim, ".claim-sentence", ".claim-bound")],
    texts: [".highlight pre", (pre) => pre.textContent.trimEnd()],
    drawings: [".drawing > svg", (svg) => attributes(svg) + svg.innerHTML],
    figures: ["img", async (image) => [image.alt, ...size(image), (await source(image)).trim()].join(" ")],
  };
  const all = [];
  for (const cell of document.querySelectorAll("main .cell")) {
    const outputs = [".cell_output:not(.live-output)", ".live-output"].map((place) => cell.querySelector(place));
    if (!outputs[1]) throw Error(`nothing came of ${cell.textContent.slice(0, 200)}`);
    for (const [kind, [place, read]] of Object.entries(kinds)) {
      const parts = outputs.map((output) => Promise.all(Array.from(output?.querySelectorAll(place) ?? [], read)));
      all.push([kind, ...(await Promise.all(parts))]);
    }
  }
  return all;
}
