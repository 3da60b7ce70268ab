// @ts-check
// Sends the form to the service, and displays the answer.
import { FileView, noteList } from './file.js';
import {
  agentTable,
  banner,
  element,
  facts,
  foreign,
  matrix,
  originFacts,
  profileTable,
  section,
  timelineList,
  usageTable,
  verdictFacts,
  verdictWord,
} from './result.js';

/**
 * The element of index.html with this id.
 * @param {string} id
 * @returns {HTMLElement}
 */
function byId(id) {
  const found = document.getElementById(id);
  if (found === null) throw new Error('Expected an element #' + id + ' in index.html');
  return found;
}

const form = /** @type {HTMLFormElement} */ (byId('question'));
/** @type {any} The form's fields, by their `name`. */
const fields = form.elements;
const status = byId('status');
const result = byId('result');
const fieldsOf = { site: byId('site-fields'), text: byId('text-fields') };
/** @type {AbortController | undefined} */
let asking;

const mode = () => fields.mode.value;
const names = (text) =>
  text
    .split(/[,\n]/)
    .map((each) => each.trim())
    .filter((each) => each !== '');

function showMode() {
  for (const [name, part] of Object.entries(fieldsOf)) part.hidden = name !== mode();
  fields.url.required = mode() === 'site';
}

/** Prefixes a bare host name with `https://`, as browsers do. */
function withScheme(text) {
  return /^[\w-]+(?:\.[\w-]+)+(?:[:/?#]|$)/.test(text) ? 'https://' + text : text;
}

async function ask(path, init) {
  asking?.abort();
  asking = new AbortController();
  status.className = '';
  status.textContent = 'Asking…';
  result.setAttribute('aria-busy', 'true');
  try {
    const response = await fetch(path, { ...init, signal: asking.signal });
    const answer = await response.json();
    if (!response.ok) throw new Error(answer.detail);
    return answer;
  } finally {
    result.removeAttribute('aria-busy');
  }
}

function tell(error) {
  if (error.name === 'AbortError') return;
  status.className = 'error';
  status.textContent = error.message;
  result.hidden = true;
}

/** The parts of the page that depend on the selected verdict: heading, facts, marked lines and usage preferences. */
class Detail {
  constructor(answer, commonFacts) {
    this.view = answer.lines && new FileView(answer);
    this.commonFacts = commonFacts;
    // The answer for a pasted file has the fields of `robots` itself.
    this.robots = answer.robots || answer;
    this.head = element('div', {});
    this.facts = element('div', {});
    this.usage = element('div', {});
  }

  pick(verdict, url) {
    this.head.replaceChildren(banner(verdict, url, this.robots));
    this.facts.replaceChildren(facts([...verdictFacts(verdict), ...this.commonFacts]));
    this.view?.light(verdict);
    this.usage.replaceChildren(
      ...(verdict.usage ? [section('What the site states about use', usageTable(verdict.usage))] : []),
    );
    // The banner shows the verdict; the status line only announces it to screen readers.
    status.className = 'hidden';
    status.textContent = verdictWord(verdict) + ' for ' + verdict.agent;
  }
}

function fileSection({ lines, diagnostics }, { view }) {
  if (!view) return [];
  const many = lines.length.toLocaleString('en') + (lines.length === 1 ? ' line' : ' lines');
  const legend = element(
    'p',
    { class: 'legend' },
    element('span', { class: 'key group' }, 'group that applies'),
    element('span', { class: 'key lit' }, 'line that decides'),
    element('span', { class: 'key second' }, 'runner-up'),
  );
  return [
    section('robots.txt, ' + many, legend, view.node),
    ...(diagnostics.length === 0 ? [] : [section('Notes on this file', noteList(diagnostics, view))]),
  ];
}

function put(...children) {
  result.replaceChildren(...children);
  result.hidden = false;
}

async function askSite() {
  const { url, agent, compare } = fields;
  url.value = withScheme(url.value.trim());
  const query = new URLSearchParams({ url: url.value });
  for (const name of names(agent.value)) query.append('agent', name);
  const link = new URLSearchParams(query);
  for (const name of names(compare.value)) query.append('compare', name);
  history.replaceState(null, '', '/?' + link);
  const answer = await ask('/v1/explain?' + query);
  const { verdicts, state, policy } = answer;
  const all = verdicts.map((verdict) => ({ ...verdict, state }));
  const detail = new Detail(answer, originFacts(answer));
  const sitemaps = policy.sitemaps
    .slice(0, 50)
    .map(({ url: at, line }) => element('li', {}, foreign(at), ' line ' + line));
  put(
    detail.head,
    detail.facts,
    section(
      'Agents side by side',
      agentTable(all, (verdict) => detail.pick(verdict, answer.url)),
    ),
    ...fileSection(answer, detail),
    section('Over time', timelineList(answer.timeline, answer.now)),
    detail.usage,
    ...(sitemaps.length === 0 ? [] : [section('Sitemaps', element('ul', { class: 'sources' }, ...sitemaps))]),
    ...(answer.underProfiles.length === 0
      ? []
      : [section('Under other profiles', profileTable(answer.underProfiles))]),
  );
  detail.pick(all[0], answer.url);
}

async function askText() {
  const { robots, urls, agents } = fields;
  const listed = urls.value
    .split('\n')
    .map((each) => each.trim())
    .filter((each) => each !== '');
  const body = { robots: robots.value, urls: listed.length === 0 ? ['/'] : listed };
  const asked = names(agents.value);
  if (asked.length > 0) body.agents = asked;
  const answer = await ask('/v1/explain', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const first = answer.results.find(({ verdicts }) => verdicts);
  const detail = new Detail(answer, [['Read as', answer.dialect]]);
  put(
    detail.head,
    detail.facts,
    section(
      'Verdicts',
      matrix(answer.results, (verdict, url) => detail.pick(verdict, url)),
    ),
    ...fileSection(answer, detail),
    detail.usage,
  );
  if (first) detail.pick(first.verdicts[0], first.input);
  else {
    detail.view.light({});
    status.textContent = 'Expected URLs, or paths that start with /; none of these is one';
  }
}

form.addEventListener('change', showMode);
form.addEventListener('submit', (event) => {
  event.preventDefault();
  (mode() === 'site' ? askSite() : askText()).catch(tell);
});
document.addEventListener('keydown', (event) => {
  // Submits from the multi-line field too, where Enter alone inserts a line break.
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit();
});

showMode();
const asked = new URLSearchParams(location.search);
if (asked.has('url')) {
  fields.url.value = asked.get('url');
  fields.agent.value = asked.getAll('agent').join(', ');
  form.requestSubmit();
}
