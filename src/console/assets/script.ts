/**
 * Keeps an open page current: asks every few seconds for the parts that changed and puts them in. Plain JavaScript
 * as text, so that the compiler alone builds the server. Everything can be read, filtered and stopped without it.
 */
export const SCRIPT = String.raw`'use strict';
(() => {
  const EVERY_MS = 3000;
  const LATEST_MS = 30000;
  const state = document.getElementById('live-state');
  const toggle = document.getElementById('live-toggle');
  let paused = false;
  let failures = 0;
  let timer;
  let running;

  const two = (number) => String(number).padStart(2, '0');
  function localTimes(root) {
    const today = new Date().toDateString();
    for (const element of root.querySelectorAll('time[data-clock]')) {
      const at = new Date(element.dateTime);
      const time = two(at.getHours()) + ':' + two(at.getMinutes());
      element.textContent =
        at.toDateString() === today
          ? time + ':' + two(at.getSeconds())
          : two(at.getMonth() + 1) + '-' + two(at.getDate()) + ' ' + time;
      element.title = at.toLocaleString();
    }
  }

  function say(text, tone) {
    if (state.textContent === text) return;
    state.textContent = text;
    state.dataset.tone = tone;
  }

  // What somebody is selecting, has opened or has put the focus on must stay as it is.
  function isSelecting(element) {
    const selection = document.getSelection();
    return selection !== null && !selection.isCollapsed && selection.containsNode(element, true);
  }

  function put({ id, hash, html }) {
    const element = document.querySelector('[data-live="' + id + '"]');
    if (!element || isSelecting(element)) return;
    const open = [...element.querySelectorAll('details[open][id]')].map((details) => details.id);
    const focused = element.contains(document.activeElement) ? document.activeElement : null;
    element.innerHTML = html;
    element.dataset.hash = hash;
    for (const each of open) {
      const details = document.getElementById(each);
      if (details) details.open = true;
    }
    localTimes(element);
    // What can have the focus has an id or is alone with its address: places change when a call comes in.
    if (!focused) return;
    const again = focused.id
      ? document.getElementById(focused.id)
      : [...element.querySelectorAll('a')].find((each) => each.textContent === focused.textContent);
    if (again) again.focus({ preventScroll: true });
  }

  async function refresh() {
    const have = [...document.querySelectorAll('[data-live]')].map(
      ({ dataset }) => dataset.live + '.' + dataset.hash,
    );
    const query = new URLSearchParams(location.search);
    query.set('have', have.join(','));
    const response = await fetch('/console/live?' + query, { signal: AbortSignal.timeout(LATEST_MS) });
    if (response.status === 401) return 'ended';
    if (!response.ok) throw new Error(String(response.status));
    const { parts } = await response.json();
    for (const part of parts) put(part);
    return 'live';
  }

  function plan(ms) {
    clearTimeout(timer);
    timer = setTimeout(tick, ms);
  }

  async function tick() {
    if (paused || document.hidden || running) return;
    running = true;
    let answer;
    try {
      answer = await refresh();
      failures = 0;
    } catch {
      failures += 1;
    }
    running = false;
    if (answer === 'ended') {
      say('Signed out: reload the page', 'bad');
      toggle.hidden = true;
      return;
    }
    if (paused) return;
    if (failures === 0) say('Live', 'good');
    else say('Not connected, trying again', 'bad');
    plan(Math.min(EVERY_MS * 2 ** failures, LATEST_MS));
  }

  toggle.addEventListener('click', () => {
    paused = !paused;
    toggle.textContent = paused ? 'Resume' : 'Pause';
    say(paused ? 'Paused' : 'Live', paused ? 'plain' : 'good');
    if (!paused) plan(0);
  });
  document.addEventListener('visibilitychange', () => {
    if (!document.hidden) plan(0);
  });

  // A reload must not say again what a form came to.
  const address = new URL(location.href);
  if (address.searchParams.has('notice')) {
    address.searchParams.delete('notice');
    history.replaceState(null, '', address);
  }
  document.getElementById('zone').textContent = 'your local time';
  localTimes(document);
  toggle.hidden = false;
  say('Live', 'good');
  plan(EVERY_MS);
})();
`;
