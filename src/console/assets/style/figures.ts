/** Figures, charts and tables. */
export const FIGURES = String.raw`
/* Figures */

.figures {
  display: grid;
  grid-template-columns: repeat(auto-fit, minmax(9.5rem, 1fr));
  gap: 0.75rem;
}

.figure {
  display: grid;
  gap: 0.125rem;
  height: 100%;
  padding: 0.75rem 1rem;
  color: inherit;
  text-decoration: none;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 10px;
  box-shadow: var(--shadow);
}

.figure:hover {
  border-color: var(--line-strong);
}

.figure .title,
.figure .note {
  color: var(--muted);
  font-size: 0.8125rem;
}

.figure .value {
  font-size: 1.375rem;
  font-weight: 650;
  line-height: 1.75rem;
  letter-spacing: -0.01em;
}

.figure.bad .value {
  color: var(--bad);
}

.figure.warn .value {
  color: var(--warn);
}

.figure.busy .value {
  color: var(--accent);
}

/* Charts */

.tools {
  display: grid;
  grid-template-columns: repeat(auto-fill, minmax(min(100%, 19rem), 1fr));
  gap: 0 1.5rem;
  padding: 0 1rem;
}

.tool {
  display: grid;
  gap: 0.25rem;
  align-content: start;
  padding: 0.75rem 0 0.875rem;
  border-top: 1px solid var(--line);
}

.row {
  display: flex;
  flex-wrap: wrap;
  align-items: baseline;
  justify-content: space-between;
  gap: 0 0.75rem;
}

.count {
  font-weight: 600;
}

.chart {
  display: block;
  width: 100%;
  height: 2.25rem;
}

.chart .base {
  fill: var(--line);
}

.chart .ok {
  fill: var(--bar-ok);
}

.chart .blocked {
  fill: var(--bar-blocked);
}

.chart .error {
  fill: var(--bar-error);
}

.chart .spread {
  fill: var(--spread);
}

.chart .median {
  fill: var(--median);
}

/* Tables */

table {
  width: 100%;
  border-collapse: collapse;
}

th,
td {
  padding: 0.5rem 0.75rem;
  border-top: 1px solid var(--line);
  text-align: left;
  vertical-align: top;
  font-weight: 400;
}

th:first-child,
td:first-child {
  padding-left: 1rem;
}

th:last-child,
td:last-child {
  padding-right: 1rem;
}

thead th {
  padding-top: 0.375rem;
  padding-bottom: 0.375rem;
  border-top: 0;
  color: var(--muted);
  font-size: 0.75rem;
  font-weight: 600;
  white-space: nowrap;
}

tbody th time,
td.number,
th.number {
  white-space: nowrap;
}

.number {
  text-align: right;
}

th.wide,
td.wide {
  width: 45%;
}

/* A long address of version 6 may still break where there is no other way. */
.address {
  overflow-wrap: normal;
}

.sub time,
.whole,
.badge {
  white-space: nowrap;
}

.command,
pre {
  white-space: pre-wrap;
}

td form {
  display: inline-block;
  margin-left: 0.375rem;
}

td form button {
  min-height: 1.75rem;
  padding: 0 0.625rem;
  font-size: 0.8125rem;
}
`;
