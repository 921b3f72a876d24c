// Where every head looks, as squares: a row for each place that asks, a column for each that it looks at.

const TONES = 8; // as many as one can tell apart

// A path for each tone, made of the cells that have it.
function squareOf(weights) {
  const size = Math.round(Math.sqrt(weights.length));
  const tones = Array.from({ length: TONES }, () => "");
  weights.forEach((weight, place) => {
    const tone = Math.min(TONES, Math.round(weight * TONES));
    if (tone) tones[tone - 1] += `M${place % size} ${Math.floor(place / size)}h1v1h-1z`;
  });
  const paths = tones.map((d, tone) => draw("path", { d, "fill-opacity": (tone + 1) / TONES }));
  return stretched(`0 0 ${size} ${size}`, { class: "square", "shape-rendering": "crispEdges" }, ...paths);
}

// `layers` are lists of squares, one for each head; null before anything is known.
function squaresOf(layers) {
  const many = layers?.length > 1;
  return (layers ?? []).flatMap((heads, layer) =>
    heads.map((weights, head) => {
      const words = [many ? `layer ${layer + 1}` : "", heads.length > 1 || !many ? `head ${head + 1}` : ""];
      const name = make("figcaption", { textContent: words.filter(Boolean).join(", ") });
      return make("figure", {}, squareOf(weights), name);
    }),
  );
}
