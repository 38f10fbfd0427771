// Typesets the equations, which pymdownx.arithmatex has marked.
document.addEventListener("DOMContentLoaded", () => {
  const delimiters = [
    { left: "\\(", right: "\\)", display: false },
    { left: "\\[", right: "\\]", display: true },
  ];
  for (const element of document.querySelectorAll(".arithmatex"))
    renderMathInElement(element, { delimiters });
});
