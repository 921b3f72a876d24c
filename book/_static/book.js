// What a page does beyond being read. Nothing here is needed to read it.

// Colours: as the system says, or light, or dark. The layout's first script has set what the reader chose before.
const root = document.documentElement;
const modes = ["auto", "light", "dark"];
const themeButton = document.querySelector(".theme");

function showTheme(theme) {
  const next = modes[(modes.indexOf(theme) + 1) % modes.length];
  root.dataset.theme = theme;
  themeButton.textContent = { auto: "◐", light: "○", dark: "●" }[theme];
  themeButton.ariaLabel = `Colours: ${theme}. Change to ${next}`;
  themeButton.title = themeButton.ariaLabel;
  themeButton.onclick = () => {
    keep("theme", next);
    showTheme(next);
  };
}

// A browser may forbid storing; then a choice lasts as long as the page. (predict.js keeps predictions so, too.)
function keep(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {}
}

function kept(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

themeButton.hidden = false;
showTheme(root.dataset.theme);

// A button on each piece of code copies it.
for (const code of document.querySelectorAll(".highlight:not(.cell_output *)")) {
  const button = document.createElement("button");
  button.className = "copy";
  button.textContent = "Copy";
  button.onclick = async () => {
    await navigator.clipboard.writeText(code.querySelector("pre").textContent);
    button.textContent = "Copied";
    setTimeout(() => (button.textContent = "Copy"), 1500);
  };
  // Only a page that came by https, or from this machine, may write to the clipboard.
  if (navigator.clipboard) code.append(button);
}

// What scrolls sideways must be reachable from the keyboard, and nothing else: each stop costs a Tab.
const wide = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
const WIDE = "pre, .pst-scrollable-table-container, div.math, .output.text_html";
for (const element of document.querySelectorAll(WIDE)) wide.observe(element);

// Beside the text, the section that is being read.
const entries = new Map();
for (const link of document.querySelectorAll(".sections a[href^='#']")) {
  const section = document.getElementById(link.hash.slice(1));
  if (section) entries.set(section, link);
}
const reading = new IntersectionObserver(
  (seen) => {
    for (const { target, isIntersecting } of seen) entries.get(target).toggleAttribute("data-reading", isIntersecting);
  },
  { rootMargin: "-20% 0px -75% 0px" },
);
for (const section of entries.keys()) reading.observe(section);

// Where there is no room beside the text, the sections stand below their chapter in the contents, which shows that one.
function showPlace(contents, current) {
  const sections = document.querySelector(".sections ul ul");
  const beside = sections?.parentElement;
  const noRoom = matchMedia("(max-width: 78rem)");
  const show = () => {
    if (sections) (noRoom.matches ? current.parentElement : beside).append(sections);
    contents.scrollTop = current.offsetTop - contents.clientHeight / 4;
  };
  show();
  noRoom.onchange = contents.ontoggle = show;
  sections?.addEventListener("click", () => contents.matches(":popover-open") && contents.hidePopover());
}
const currentPage = document.querySelector("#contents a.current");
if (currentPage) showPlace(currentPage.closest("nav"), currentPage);

// A chapter opens as a lesson; one button opens all that proves it, here and in the chapters to come.
const LAYERS = ":is(.tag_headline, .tag_measurement, .tag_bookkeeping) > details";
const layers = document.querySelectorAll(LAYERS);
if (layers.length) {
  const button = document.createElement("button");
  const show = (open) => {
    button.ariaPressed = open;
    for (const layer of layers) layer.open = open;
  };
  button.className = "layers";
  button.textContent = "Show all code and checks";
  button.onclick = () => {
    const open = button.ariaPressed !== "true";
    keep("layers", open ? "open" : "");
    show(open);
    // All of this page; in the chapters to come a guess is asked for again.
    if (open) for (const part of document.querySelectorAll("details.cover")) part.open = true;
  };
  if (kept("layers")) show(true);
  else button.ariaPressed = false;
  document.querySelector("main h1 + p").after(button);
}

// `make live` opens the book by an address with its server's key, which all pages need and nobody should see.
const key = /^#live=(\w+)$/.exec(location.hash)?.[1];
if (key) {
  keep("live-token", key);
  history.replaceState(null, "", location.pathname);
}

// A chapter's code runs in its page once this is pressed: nothing of it (live/) comes before.
const [chapter, weight] = root.dataset.live?.split(" ") ?? [];
if (chapter) {
  const button = document.createElement("button");
  button.className = "layers live";
  button.textContent = `Run this page · loads ${weight}`;
  if (!kept("live-token")) button.textContent += "; Binder takes minutes";
  const files = [`live-${chapter}.js`, "live.js", "live.css"].map((file) => `${root.dataset.content_root}_static/${file}`);
  const press = () => {
    button.onclick = null;
    button.textContent = "Loading";
    for (const file of files) {
      const isStyle = file.endsWith("css");
      const part = document.createElement(isStyle ? "link" : "script");
      Object.assign(part, isStyle ? { rel: "stylesheet", href: file } : { src: file, async: false });
      part.onerror = () => Object.assign(button, { onclick: press, textContent: "It did not load: try again" });
      document.head.append(part);
    }
  };
  button.onclick = press;
  document.querySelector("main h1 + p").after(button, " ");
  try {
    const typed = Object.keys(localStorage).filter((name) => name.startsWith(`answer: ${chapter} `)).length; // answers.mjs
    const note = document.createElement("p");
    note.className = "live";
    note.textContent = `Your code in ${typed} cell${typed > 1 ? "s" : ""} is kept in this browser.`;
    if (typed) button.before(note);
  } catch {}
}

// A link may lead into a fold, or to a section that moved: its paragraph links to the page where it is now.
function unfold() {
  let target;
  try {
    target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  } catch {} // a percent sign that escapes nothing
  for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
  if (target?.matches(".moved")) location.replace(target.parentElement.querySelector("a").href + location.hash);
}
addEventListener("hashchange", unfold);
unfold();

// Paper can't unfold an answer. What proves the lesson stays folded there.
addEventListener("beforeprint", () => {
  for (const details of document.querySelectorAll(`main details:not([open]):not(${LAYERS}, .source)`)) {
    details.open = true;
    addEventListener("afterprint", () => (details.open = false), { once: true });
  }
});
