// What is wrong with the page, as a list of sentences: what can't be read, named or reached. Contrast as WCAG 2.2
// has it (1.4.3, 4.5 to 1; 3 to 1 for large text): https://www.w3.org/TR/WCAG22/#contrast-minimum
(() => {
  const wrong = [];
  const root = document.documentElement;
  if (root.scrollWidth > innerWidth) wrong.push(`the page is ${root.scrollWidth} pixels wide on a screen of ${innerWidth}`);
  if (!root.lang) wrong.push("the page has no language");
  if (!document.title) wrong.push("the page has no title");
  if (document.scripts.length) wrong.push("the page has a script");
  const ids = new Set();
  for (const e of document.querySelectorAll("[id]")) {
    if (ids.has(e.id)) wrong.push(`two have the id ${e.id}`);
    ids.add(e.id);
  }
  for (const a of document.querySelectorAll('a[href^="#"]')) if (!ids.has(a.hash.slice(1))) wrong.push(`a link leads nowhere: ${a.hash}`);
  for (const s of document.querySelectorAll('[role="img"]')) if (!s.getAttribute("aria-label")) wrong.push("a picture has no words");
  let level = 0;
  for (const h of document.querySelectorAll("h1, h2, h3")) {
    const at = Number(h.tagName[1]);
    if (at > level + 1) wrong.push(`a heading leaves a level out: ${h.textContent}`);
    level = at;
  }
  const rgb = (text) => text.match(/[\d.]+/g).map(Number);
  const light = (c) => {
    const [r, g, b] = c.slice(0, 3).map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (e) => {
    for (; e; e = e.parentElement) {
      const c = rgb(getComputedStyle(e).backgroundColor);
      if (c.length < 4 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const seen = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode()); ) {
    const e = n.parentElement;
    if (!n.data.trim() || !e.getClientRects().length) continue;
    const style = getComputedStyle(e);
    const ink = e.namespaceURI.endsWith("svg") ? style.fill : style.color;
    const a = light(rgb(ink)), b = light(behind(e));
    const contrast = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const size = parseFloat(style.fontSize);
    const need = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    const key = ink + behind(e);
    if (contrast < need && !seen.has(key)) {
      seen.add(key);
      wrong.push(`"${n.data.trim().slice(0, 40)}" has a contrast of ${contrast.toFixed(1)}, ${need} is needed`);
    }
    const box = e.getBoundingClientRect();
    if (size < 11) wrong.push(`"${n.data.trim().slice(0, 40)}" is ${size} pixels high`);
    if (box.right > innerWidth + 1) wrong.push(`"${n.data.trim().slice(0, 40)}" leaves the screen`);
  }
  return wrong;
})()
