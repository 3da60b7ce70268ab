// @ts-check
// Displays moments, and what happens to an origin over time.
import { element } from './elements.js';
import { texts } from './texts.js';

/** A moment as seen from `now`: `in 5 min`, `3 s ago`. */
export function away(at, now) {
  const ms = Math.abs(at - now);
  /** @type {[number, string][]} */
  const units = [
    [86400000, 'd'],
    [3600000, 'h'],
    [60000, 'min'],
    [1000, 's'],
  ];
  const [size, name] = units.find(([each]) => ms >= each * 1.5) || units[3];
  const length = Math.round(ms / size) + ' ' + name;
  if (ms < 1500) return texts.rightNow;
  return at > now ? texts.inTime(length) : texts.ago(length);
}

/** A moment in UTC, as ISO 8601; `undefined` when no date can show it. */
function isoTime(at) {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

/** A moment in UTC as text: `2026-11-21 13:37:40Z`. */
export function clock(at) {
  const iso = isoTime(at);
  return iso === undefined ? '' : iso.slice(0, 19).replace('T', ' ') + 'Z';
}

/** Lists past events, and future ones that follow if nothing else happens. */
export function timelineList(events, now, failure = undefined) {
  const past = events.filter(({ at }) => at <= now);
  const future = events.filter(({ at }) => at > now);
  return element(
    'ol',
    { class: 'timeline' },
    ...past.map((event) => item(event, now, failure)),
    element('li', { class: 'now' }, element('span', { class: 'what' }, texts.now)),
    ...future.map((event) => item(event, now, failure)),
  );
}

/** The words for a detail of the service. */
function detailText({ event, detail }, failure) {
  if (event === 'phase') return texts.phases[detail];
  if (!failure || !event.endsWith('-failure')) return detail;
  const why = texts.failure(failure);
  if (event === 'last-failure') return why + texts.inARow(failure.attempts);
  return failure.attempts === 1 ? why : undefined;
}

function item(shown, now, failure) {
  const { at, event } = shown;
  const said = detailText(shown, failure);
  return element(
    'li',
    { class: (at > now ? 'ahead ' : '') + event },
    element(
      'span',
      { class: 'what' },
      texts.events[event],
      said ? element('span', { class: 'detail' }, ' ' + said) : '',
    ),
    element('time', { datetime: isoTime(at) }, away(at, now), element('span', { class: 'at' }, clock(at))),
  );
}
