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
// Some browsers see to that by themselves, and would do it a second time.
function keepBelow(playground) {
  if (playground.getBoundingClientRect().top >= 0) return;
  const { style } = document.body;
  const below = () => playground.getBoundingClientRect().bottom;
  let [bottom, scrolled] = [below(), scrollY];
  const moved = () => {
    bottom -= scrollY - scrolled;
    scrolled = scrollY;
  };
  const sizes = new ResizeObserver(() => {
    moved();
    scrollBy({ top: below() - bottom, behavior: "instant" });
    scrolled = scrollY;
  });
  style.overflowAnchor = "none";
  sizes.observe(playground);
  addEventListener("scroll", moved);
  setTimeout(() => {
    style.overflowAnchor = "";
    sizes.disconnect();
    removeEventListener("scroll", moved);
  }, SETTLED);
}
