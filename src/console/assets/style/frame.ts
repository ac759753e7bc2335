/** Header, sections, states and controls. */
export const FRAME = String.raw`
/* Frame */

header {
  position: sticky;
  top: 0;
  z-index: 2;
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  justify-content: space-between;
  gap: 0.5rem 1rem;
  padding: 0.625rem max(1rem, calc((100% - 80rem) / 2));
  background: var(--card);
  border-bottom: 1px solid var(--line);
}

.brand,
.tools-right,
.badges {
  display: flex;
  flex-wrap: wrap;
  align-items: center;
  gap: 0.25rem 0.625rem;
}

.badges {
  gap: 0.25rem 0.375rem;
}

main,
footer {
  max-width: 80rem;
  margin: 0 auto;
  padding: 1rem;
}

main {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 1rem;
}

footer {
  padding-top: 0;
  padding-bottom: 2rem;
}

section {
  min-width: 0;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 10px;
  box-shadow: var(--shadow);
}

.heading {
  display: flex;
  flex-wrap: wrap;
  align-items: baseline;
  gap: 0 0.625rem;
  padding: 0.75rem 1rem 0.5rem;
}

.pair {
  display: grid;
  grid-template-columns: minmax(0, 1fr);
  gap: 1rem;
}

@media (min-width: 64rem) {
  .pair {
    grid-template-columns: minmax(0, 7fr) minmax(0, 5fr);
    align-items: start;
  }
}

.empty,
.fault,
.notice {
  padding: 0.25rem 1rem 0.875rem;
  color: var(--muted);
}

.fault {
  color: var(--bad);
}

.notice {
  padding: 0.625rem 1rem;
  border-radius: 8px;
  color: var(--text);
  background: var(--plain-soft);
}

.notice.good {
  color: var(--good);
  background: var(--good-soft);
}

.notice.warn {
  color: var(--warn);
  background: var(--warn-soft);
}

.notice.bad {
  color: var(--bad);
  background: var(--bad-soft);
}

/* States: a word and a colour */

.badge {
  display: inline-block;
  padding: 0.0625rem 0.5rem;
  border-radius: 99px;
  font-size: 0.75rem;
  font-weight: 600;
  line-height: 1.25rem;
  white-space: nowrap;
  color: var(--muted);
  background: var(--plain-soft);
}

.badge.good {
  color: var(--good);
  background: var(--good-soft);
}

.badge.warn {
  color: var(--warn);
  background: var(--warn-soft);
}

.badge.bad {
  color: var(--bad);
  background: var(--bad-soft);
}

.badge.busy {
  color: var(--accent);
  background: var(--accent-soft);
}

.warn-text,
.blocked-text {
  color: var(--warn);
}

.failed-text {
  color: var(--bad);
}

#live-state::before {
  content: '';
  display: inline-block;
  width: 0.5rem;
  height: 0.5rem;
  margin-right: 0.375rem;
  border-radius: 50%;
  background: var(--line-strong);
}

#live-state:empty::before {
  display: none;
}

#live-state[data-tone='good']::before {
  background: var(--good);
}

#live-state[data-tone='bad']::before {
  background: var(--bad);
}

/* Controls */

button,
input,
select {
  font: inherit;
  color: inherit;
}

button,
input:not([type='hidden']),
select {
  min-height: 2.25rem;
  padding: 0.25rem 0.75rem;
  border: 1px solid var(--line-strong);
  border-radius: 6px;
  background: var(--card);
}

button {
  font-weight: 600;
  cursor: pointer;
}

button:hover {
  background: var(--plain-soft);
}

button.primary {
  color: var(--card);
  background: var(--accent);
  border-color: var(--accent);
}

button.danger {
  color: var(--bad);
  border-color: var(--bad);
}

button.danger:hover {
  background: var(--bad-soft);
}

header button {
  min-height: 2rem;
  font-size: 0.8125rem;
}

[hidden] {
  display: none !important;
}
`;
