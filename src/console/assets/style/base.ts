/** Colours by the reader’s own setting, type, and what every part uses. */
export const BASE = String.raw`
:root {
  color-scheme: light dark;
  --page: #f4f5f7;
  --card: #ffffff;
  --sunken: #f7f8fa;
  --line: #dde1e7;
  --line-strong: #8b95a5;
  --text: #18202c;
  --muted: #566071;
  --accent: #1f5fcc;
  --accent-soft: #e3ecfb;
  --good: #14683a;
  --good-soft: #dff3e7;
  --warn: #7d4d00;
  --warn-soft: #fcefd3;
  --bad: #b3202c;
  --bad-soft: #fce4e5;
  --plain-soft: #eceff3;
  --bar-ok: #4a82dd;
  --bar-blocked: #d9962a;
  --bar-error: #d6444f;
  --spread: #d3d9e2;
  --median: #8793a6;
  --shadow: 0 1px 2px rgb(20 30 50 / 6%);
}

@media (prefers-color-scheme: dark) {
  :root {
    --page: #0e1217;
    --card: #161b23;
    --sunken: #11161d;
    --line: #29313d;
    --line-strong: #697587;
    --text: #e5e9f0;
    --muted: #9ba6b6;
    --accent: #7fb0ff;
    --accent-soft: #1b2b45;
    --good: #6fd49b;
    --good-soft: #14301f;
    --warn: #eebb62;
    --warn-soft: #35280f;
    --bad: #ff8f95;
    --bad-soft: #3d181c;
    --plain-soft: #232b36;
    --bar-ok: #4f8df0;
    --bar-blocked: #dc9f38;
    --bar-error: #e8636c;
    --spread: #323c4a;
    --median: #78869a;
    --shadow: none;
  }
}

*,
*::before,
*::after {
  box-sizing: border-box;
}

html {
  scroll-behavior: smooth;
  scroll-padding-top: 4.5rem;
  -webkit-text-size-adjust: 100%;
}

@media (prefers-reduced-motion: reduce) {
  html {
    scroll-behavior: auto;
  }
}

body {
  margin: 0;
  background: var(--page);
  color: var(--text);
  font: 0.875rem/1.45 system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif;
  font-variant-numeric: tabular-nums;
  overflow-wrap: anywhere;
}

h1,
h2,
h3,
p,
ul,
dl,
dd {
  margin: 0;
  padding: 0;
}

ul {
  list-style: none;
}

h1 {
  font-size: 1rem;
  font-weight: 650;
}

h2 {
  font-size: 1rem;
  font-weight: 650;
}

h3 {
  font-size: 0.875rem;
  font-weight: 600;
}

a {
  color: var(--accent);
}

code,
pre {
  font: 0.8125rem/1.5 ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}

:focus-visible {
  outline: 2px solid var(--accent);
  outline-offset: 2px;
  border-radius: 4px;
}

.visually-hidden {
  position: absolute;
  width: 1px;
  height: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}

.skip {
  position: absolute;
  left: 1rem;
  top: -4rem;
  z-index: 3;
  padding: 0.5rem 0.75rem;
  background: var(--card);
  border-radius: 6px;
}

.skip:focus {
  top: 0.5rem;
}

.sub {
  color: var(--muted);
  font-size: 0.8125rem;
}

td .sub,
th .sub {
  display: block;
}

.main {
  font-weight: 600;
}
`;
