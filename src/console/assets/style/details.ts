/** The audit trail’s filter and entries, the configuration, the sign-in page. */
export const DETAILS = String.raw`
/* Audit trail */

.filter {
  display: flex;
  flex-wrap: wrap;
  align-items: end;
  gap: 0.5rem 0.75rem;
  padding: 0.25rem 1rem 0.75rem;
}

.filter label {
  display: grid;
  gap: 0.125rem;
  color: var(--muted);
  font-size: 0.8125rem;
}

.filter input,
.filter select {
  width: 100%;
  color: var(--text);
  font-size: 0.875rem;
}

.filter .grow {
  flex: 1 1 10rem;
  max-width: 24rem;
}

.filter .clear {
  align-self: center;
  padding: 0.5rem 0.25rem 0;
}

.pages {
  display: flex;
  gap: 0.875rem;
  padding: 0.625rem 1rem 0.875rem;
  border-top: 1px solid var(--line);
  color: var(--muted);
}

summary {
  cursor: pointer;
}

summary:hover {
  color: var(--accent);
}

details dl {
  display: grid;
  gap: 0.375rem;
  margin-top: 0.5rem;
  padding: 0.625rem 0.75rem;
  border-radius: 6px;
  background: var(--sunken);
}

dt {
  color: var(--muted);
  font-size: 0.75rem;
}

pre {
  margin: 0;
  max-height: 24rem;
  overflow-y: auto;
}

/* Configuration */

.group {
  border-top: 1px solid var(--line);
}

.group > summary {
  padding: 0.625rem 1rem;
}

.group > summary .sub {
  margin-left: 0.5rem;
}

.group[open] > summary {
  background: var(--sunken);
}

/* Signing in */

.sign-in {
  max-width: 26rem;
  margin-top: 12vh;
  padding: 1.5rem;
  background: var(--card);
  border: 1px solid var(--line);
  border-radius: 10px;
}

.sign-in h1 {
  font-size: 1.25rem;
}

.sign-in form,
.sign-in label {
  display: grid;
  gap: 0.375rem;
}

.sign-in form {
  gap: 0.75rem;
}
`;
