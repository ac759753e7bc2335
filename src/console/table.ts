import { html } from 'hono/html';

import type { Markup } from './format.ts';

export interface Column {
  title: string;
  /** `number` is set right and in figures of one width; `wide` takes the room that is left. */
  kind?: 'number' | 'wide';
}

/**
 * A table that becomes a list of cards on a narrow screen. The roles say what it is all the same: browsers drop a
 * table's meaning when its parts are laid out as blocks. The first column names the row.
 * @param name the style sheet's name for its layout on a narrow screen
 * @param caption read out, not shown
 */
export function table(
  name: string,
  caption: string,
  columns: readonly Column[],
  rows: readonly (readonly Markup[])[],
): Markup {
  const kind = (at: number) => columns[at]?.kind ?? '';
  return html`<table role="table" class="${name}">
    <caption class="visually-hidden">
      ${caption}
    </caption>
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map(({ title }, at) => html`<th role="columnheader" scope="col" class="${kind(at)}">${title}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map(
        (cells) =>
          html`<tr role="row">
            ${cells.map((cell, at) =>
              at === 0
                ? html`<th role="rowheader" scope="row" class="${kind(at)}">${cell}</th>`
                : html`<td role="cell" class="${kind(at)}" data-label="${columns[at]?.title ?? ''}">
                    ${cell}
                  </td>`,
            )}
          </tr>`,
      )}
    </tbody>
  </table>`;
}

/** What stands where a table has no rows. */
export function empty(text: string): Markup {
  return html`<p class="empty">${text}</p>`;
}
