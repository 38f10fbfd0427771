// Typesets the equations, which pymdownx.arithmatex has marked.
document.addEventListener("DOMContentLoaded", () => {
  const delimiters = [
    { left: "\\(", right: "\\)", display: false },
    { left: "\\[", right: "\\]", display: true },
  ];
  for (const element of document.querySelectorAll(".arithmatex"))
    renderMathInElement(element, { delimiters });
  fitEquations();
  document.fonts.ready.then(fitEquations);
  window.addEventListener("resize", fitEquations);
});

// Equations that are wider than the page get a smaller font, down to 60 %; wider ones can be moved.
function fitEquations() {
  for (const equation of document.querySelectorAll(".katex-display")) {
    equation.style.fontSize = "";
    const ratio = equation.clientWidth / equation.scrollWidth;
    if (ratio < 1) equation.style.fontSize = `${Math.max(0.6, 0.99 * ratio)}em`;
  }
}
