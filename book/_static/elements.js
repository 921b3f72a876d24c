// What the benches of all models make the page with: elements, and numbers and lists in words.

// make("p", { className: "says" }, "Yes.") is an element with these properties and children.
function make(tag, properties = {}, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

function draw(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

// A picture that fills its place, for those who see it: words say the same.
const stretched = (viewBox, attributes, ...children) =>
  draw("svg", { viewBox, preserveAspectRatio: "none", "aria-hidden": "true", ...attributes }, ...children);

const percent = (share) => `${Number((100 * share).toFixed(share < 0.0995 ? 1 : 0))}\u00a0%`;
const quoted = (words) => `“${words}”`;
const listed = (parts) => [parts.slice(0, -1).join(", "), ...parts.slice(-1)].filter(Boolean).join(" and ");

// A link that keeps all as it is and says what became of it in `told`: the address stands in the bar, and is copied.
function linkToShare(words, addressNow, told) {
  const link = make("a", { textContent: words, href: "#" });
  link.onclick = async (event) => {
    event.preventDefault();
    history.replaceState(null, "", addressNow());
    told("It stands in the address bar now.");
    try {
      await navigator.clipboard.writeText(location.href);
      told("Copied; it stands in the address bar, too.");
    } catch {
      // A page from a folder, or a reader who forbids it, has no clipboard.
    }
  };
  return link;
}
