/** What is different on a phone: tables become lists, controls large enough for a thumb. */
export const NARROW = String.raw`
@media (max-width: 44rem) {
  main {
    padding: 0.75rem;
    gap: 0.75rem;
  }

  .sign-in {
    margin: 0.75rem;
    padding: 1.25rem;
  }

  header {
    position: static;
    padding: 0.625rem 0.75rem;
  }

  html {
    scroll-padding-top: 0.5rem;
  }

  .figures {
    grid-template-columns: 1fr 1fr;
    gap: 0.5rem;
  }

  button,
  input:not([type='hidden']),
  select,
  header button,
  td form button {
    min-height: 2.75rem;
  }

  /* Too small a font makes a phone zoom in when a field gets the focus. */
  .filter input,
  .filter select,
  .sign-in input {
    font-size: 1rem;
  }

  .filter label,
  .filter .grow {
    flex: 1 1 8rem;
    max-width: none;
  }

  .filter .grow {
    flex-basis: 100%;
  }

  .filter button {
    flex: 1 1 auto;
  }

  table,
  tbody,
  tr,
  th,
  td {
    display: block;
  }

  thead {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
  }

  tr {
    padding: 0.625rem 1rem;
    border-top: 1px solid var(--line);
  }

  tbody th,
  td,
  th:first-child,
  td:first-child,
  th:last-child,
  td:last-child {
    width: auto;
    padding: 0.125rem 0;
    border: 0;
    text-align: left;
  }

  td {
    display: grid;
    grid-template-columns: 5.5rem minmax(0, 1fr);
    gap: 0 0.5rem;
    justify-items: start;
  }

  td > * {
    grid-column: 2;
  }

  td::before {
    content: attr(data-label);
    grid-column: 1;
    grid-row: 1;
    color: var(--muted);
    font-size: 0.8125rem;
  }

  th.wide,
  td.wide {
    width: auto;
  }

  td form {
    margin: 0.375rem 0 0;
  }

  details {
    width: 100%;
  }

  /* What speaks for itself needs no label, and two of it fit on a line. */
  .trail tr,
  .devices tr,
  .health tr {
    display: grid;
    grid-template-columns: minmax(min-content, 1fr) fit-content(60%);
    align-items: start;
    gap: 0.125rem 0.75rem;
  }

  .trail td,
  .health td,
  .devices td {
    display: block;
  }

  .trail td::before,
  .health td::before,
  .devices td:not(:last-child)::before {
    content: none;
  }

  .devices td:last-child::before {
    content: 'SSH ';
  }

  .trail td.number,
  .health td.number,
  .devices td:nth-child(2),
  .devices td:nth-child(4),
  .health td:nth-child(2),
  .trail td:nth-child(4) {
    justify-items: end;
    text-align: right;
  }

  .devices td:last-child,
  .trail td.wide,
  .health td.wide {
    grid-column: 1 / -1;
  }

  .health td.wide {
    grid-row: 2;
    grid-column: 1;
  }

  .health td.number {
    grid-row: 2;
    color: var(--muted);
  }

  .trail .main,
  .health .main {
    white-space: nowrap;
  }

  .trail th {
    order: 3;
    color: var(--muted);
  }

  .trail td.number {
    order: 4;
    color: var(--muted);
  }

  .trail td:nth-child(4) {
    order: 1;
  }

  .trail td.wide {
    order: 2;
  }
}
`;
