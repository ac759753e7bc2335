/**
 * Runs in a page: the texts whose contrast with what is behind them is below 4.5 to 1 (WCAG 2.2, 1.4.3), as
 * `ratio text`. Backgrounds are plain colours here, the nearest that is not transparent counts.
 */
export const CONTRAST_FAULTS = String.raw`(() => {
  const channels = (color) => color.match(/[\d.]+/g).map(Number);
  const luminance = (color) => {
    const [r, g, b] = channels(color).map((value) => {
      const share = value / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const { backgroundColor } = getComputedStyle(at);
      const [, , , alpha = 1] = channels(backgroundColor);
      if (alpha > 0) return backgroundColor;
    }
    return 'rgb(255, 255, 255)';
  };
  const faults = new Set();
  let seen = 0;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.textContent.trim();
    const element = walker.currentNode.parentElement;
    if (text === '' || ['SCRIPT', 'NOSCRIPT', 'OPTION', 'TITLE', 'title'].includes(element.tagName)) continue;
    seen += 1;
    const [a, b] = [luminance(getComputedStyle(element).color), luminance(behind(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) faults.add(ratio.toFixed(2) + ' ' + text.slice(0, 40));
  }
  if (seen < 100) faults.add('only ' + seen + ' texts were looked at');
  return [...faults];
})()`;
