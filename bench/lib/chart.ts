import type { Series } from './bench.ts';

const WIDTH = 760;
const LABELS = 250;
const FIGURES = 170;
const ROW = 24;
const HEAD = 34;

/** An SVG with a panel of horizontal bars for each series; the thin line spans the lowest and the highest run. */
export function chart(title: string, all: readonly Series[]): string {
  const parts: string[] = [];
  let y = 8;
  for (const { title: heading, better, figures } of all) {
    parts.push(
      `<text x="0" y="${y + 16}" class="h">${escaped(heading)}</text>`,
      `<text x="${WIDTH}" y="${y + 16}" class="n" text-anchor="end">${better} is better</text>`,
    );
    y += HEAD;
    const scale = (WIDTH - LABELS - FIGURES) / Math.max(...figures.map(({ high }) => high), 1e-9);
    const x = (value: number) => (LABELS + value * scale).toFixed(1);
    for (const { label, unit, median, low, high } of figures) {
      const own = label.startsWith('remote-tool-server') ? 'own' : 'other';
      const middle = y + ROW / 2 - 2;
      parts.push(
        `<text x="${LABELS - 8}" y="${middle + 4}" text-anchor="end">${escaped(label)}</text>`,
        `<rect x="${LABELS}" y="${y}" width="${Math.max(1, median * scale).toFixed(1)}" height="${ROW - 6}" class="${own}"/>`,
        `<path d="M${x(low)} ${middle}H${x(high)}" class="spread"/>`,
        `<text x="${Number(x(high)) + 8}" y="${middle + 4}">${readable(median)} ${escaped(unit)}</text>`,
      );
      y += ROW;
    }
    y += 14;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" role="img" aria-label="${escaped(title)}">
<style>
text{font:13px system-ui,sans-serif;fill:#24292f}.h{font-weight:600}.n{fill:#656d76}
.own{fill:#0969da}.other{fill:#afb8c1}.spread{stroke:#24292f;stroke-width:1.5}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.n{fill:#8d96a0}.own{fill:#4493f8}.other{fill:#484f58}.spread{stroke:#e6edf3}}
</style>
${parts.join('\n')}
</svg>
`;
}

/** A number for people: thousands apart, no more digits than mean something. */
export function readable(value: number): string {
  const digits = Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : Math.abs(value) >= 1 ? 2 : 3;
  return value.toLocaleString('en-US', { maximumFractionDigits: digits });
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
