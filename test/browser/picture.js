// What the pictures of the page are made of, a line for each shape, in per cent of its picture: equal wherever the fonts
// and the screen differ. A shape that is not inside what is drawn for it is said, too.
(() => {
  const lines = [];
  for (const svg of document.querySelectorAll("svg")) {
    if (svg.ownerSVGElement) continue;
    lines.push(svg.getAttribute("aria-label") ?? "axis");
    const frame = svg.getBoundingClientRect();
    for (const e of svg.querySelectorAll("rect, line, text, svg")) {
      const at = ["x", "x1", "x2", "width"].flatMap((name) => (e.getAttribute(name) ? [`${name}=${e.getAttribute(name)}`] : []));
      const says = e.tagName == "text" ? e.textContent : (e.querySelector("title")?.textContent ?? "");
      lines.push(["  " + e.tagName, e.getAttribute("class"), ...at, says].filter(Boolean).join(" "));
      const box = e.getBoundingClientRect();
      if (box.right > frame.right + 12 || box.left < frame.left - 12) lines.push("    outside of the picture");
    }
  }
  return lines;
})()
