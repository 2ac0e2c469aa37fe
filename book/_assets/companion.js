// A page opened from disk may not read other pages, so search results come without excerpts there.
if (window.location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") {
  DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
}

// What the theme leaves to be said to those who hear the page or have no mouse.
document.addEventListener("DOMContentLoaded", () => {
  const sidebar = document.querySelector(".bd-sidebar-primary");
  sidebar?.setAttribute("role", "navigation");
  sidebar?.setAttribute("aria-label", "The book");
  document.querySelectorAll(".bd-sidebar-primary li > details > summary").forEach(summary => {
    summary.setAttribute("aria-label", `Pages below ${summary.closest("li").querySelector("a").textContent.trim()}`);
  });
  // The corner of a table heads nothing.
  document.querySelectorAll(".bd-article th").forEach(head => {
    if (head.textContent.trim() || head.querySelector("img, input")) return;
    const cell = document.createElement("td");
    cell.className = head.className;
    head.replaceWith(cell);
  });
  // What scrolls sideways takes the arrow keys.
  const wide = ".pst-scrollable-table-container, .math, mjx-container[display=true], pre, dt.sig, figure, .image-reference";
  const reach = () => {
    // So does a formula that is longer than its line, once it has a line of its own.
    document.querySelectorAll(".bd-article span.math").forEach(formula => {
      const line = formula.closest("p, li, td, dd, figcaption, section");
      formula.classList.toggle("wide", formula.firstElementChild?.offsetWidth > line.clientWidth);
    });
    document.querySelectorAll(`.bd-article :is(${wide})`).forEach(box => {
      if (box.scrollWidth > box.clientWidth && !box.closest("a, mjx-assistive-mml")) box.tabIndex = 0;
    });
  };
  // Formulas have their width once they are typeset.
  addEventListener("load", () => Promise.resolve(window.MathJax?.startup?.promise).then(reach));
  addEventListener("resize", reach);
});
