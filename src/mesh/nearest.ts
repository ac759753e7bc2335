const MOST = 3;

/**
 * The names most like `asked`, nearest first, at most three: one contains the other, or at most a third of the
 * letters differ. Letters' case is ignored.
 */
export function nearest(asked: string, names: readonly string[]): string[] {
  const wanted = asked.toLowerCase();
  const most = Math.max(1, Math.floor(wanted.length / 3));
  const ranked: { name: string; distance: number }[] = [];
  for (const name of new Set(names)) {
    const folded = name.toLowerCase();
    const close =
      wanted.length > 2 && folded.length > 2 && (folded.includes(wanted) || wanted.includes(folded));
    const tooFar = Math.abs(folded.length - wanted.length) > most;
    // Containment counts as one difference, so that a plain typing mistake may still come first.
    const distance = close ? 1 : tooFar ? Infinity : editDistance(wanted, folded);
    if (close || distance <= most) ranked.push({ name, distance });
  }
  ranked.sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name, 'en', { numeric: true }));
  return ranked.slice(0, MOST).map(({ name }) => name);
}

/** How many letters to insert, delete or replace; two neighbours that changed places count as one. */
function editDistance(a: string, b: string): number {
  let before: number[] = [];
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : Infinity;
      row.push(Math.min(replaced, swapped, (previous[j] ?? 0) + 1, (row[j - 1] ?? 0) + 1));
    }
    [before, previous] = [previous, row];
  }
  return previous[b.length] ?? 0;
}
