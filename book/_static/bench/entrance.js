// What happens to the page as a playground opens (playground.js, which is there from the start, is short).

const SETTLED = 5000; // milliseconds in which what was opened has got its height, on a slow phone too

// On a phone the field, with the focus, would bring up the keyboard over all there is to see.
function enter(playground) {
  const field = playground.querySelector("textarea, input[type=text]");
  if (!field || !matchMedia("(pointer: fine)").matches) {
    [...playground.querySelectorAll("button:enabled")].find((button) => button.offsetParent)?.focus();
    return;
  }
  field.focus();
  field.setSelectionRange(field.value.length, field.value.length);
}

// Where its beginning is out of sight, what is read stands below: it stays where it is while the playground grows.
function keepBelow(playground) {
  if (playground.getBoundingClientRect().top >= 0) return;
  const { style } = document.documentElement;
  let height = playground.offsetHeight;
  const sizes = new ResizeObserver(() => {
    const grown = playground.offsetHeight - height;
    height += grown;
    scrollBy({ top: grown, behavior: "instant" });
  });
  style.overflowAnchor = "none"; // or the browser would do the same once more
  sizes.observe(playground);
  setTimeout(() => {
    sizes.disconnect();
    style.overflowAnchor = "";
  }, SETTLED);
}
