// @ts-check
// Asks the service what the form asks, and displays the answer.
import { csv, saveCsv } from './csv.js';
import { button, byId, element, foreign, section } from './elements.js';
import { Form } from './form.js';
import { linkOf, questionOf, TooLong } from './link.js';
import { Listing } from './listing.js';
import { agentTable, matrix, profileTable, usageTable } from './tables.js';
import { texts } from './texts.js';
import { timelineList } from './timeline.js';
import { banner, originFacts, verdictFacts, verdictWord } from './verdict.js';

for (const [attribute, set] of /** @type {[string, (node: any, text: string) => void][]} */ ([
  ['text', (node, text) => (node.textContent = text)],
  ['placeholder', (node, text) => (node.placeholder = text)],
  ['label', (node, text) => node.setAttribute('aria-label', text)],
])) {
  for (const node of document.querySelectorAll('[data-' + attribute + ']')) {
    set(node, texts[/** @type {HTMLElement} */ (node).dataset[attribute] || '']);
  }
}

const form = new Form(showError);
const status = byId('status');
const progress = byId('progress');
const result = byId('result');
/** @type {AbortController | undefined} */
let asking;

function say(text, kind = '') {
  status.className = kind;
  status.textContent = text;
}

function showError(error) {
  if (error.name === 'AbortError') return;
  say(error.message, 'error');
  result.hidden = true;
}

/** Hides the answer before this one, and shows how long the new one takes. */
async function ask(text, path, init) {
  asking?.abort();
  const mine = new AbortController();
  asking = mine;
  result.hidden = true;
  result.replaceChildren();
  document.title = texts.plainTitle;
  say(text);
  const startedAt = performance.now();
  // Hidden from screen readers, which would read every second.
  const elapsed = element('span', { 'aria-hidden': 'true' });
  const tick = () =>
    (elapsed.textContent = texts.elapsed(Math.round((performance.now() - startedAt) / 1000)));
  const timer = setInterval(tick, 1000);
  const cancel = button(texts.cancel, () => {
    mine.abort();
    say(texts.cancelled);
  });
  progress.replaceChildren(elapsed, cancel);
  tick();
  try {
    const response = await fetch(path, { ...init, signal: mine.signal });
    const answer = await response.json().catch((error) => {
      if (error.name === 'AbortError') throw error;
      throw new Error(texts.noAnswer(response.status));
    });
    if (!response.ok) throw new Error(answer.detail);
    mine.signal.throwIfAborted();
    return answer;
  } finally {
    clearInterval(timer);
    if (asking === mine) progress.replaceChildren();
  }
}

/** The parts of the page that depend on the selected verdict: banner, excerpt, facts, marked lines and preferences. */
class Detail {
  constructor(answer, otherFacts, where) {
    this.listing = answer.lines && new Listing(answer);
    // The answer for a pasted file has the fields of `robots` itself.
    this.context = { ...answer, robots: answer.robots || answer };
    this.otherFacts = otherFacts;
    this.where = where;
    this.head = element('div', { class: 'answer' });
    this.facts = element('div', {});
    this.usage = element('div', {});
  }

  pick(verdict, url) {
    this.head.replaceChildren(
      banner(verdict, url, this.context),
      ...(this.listing ? [this.listing.excerpt] : []),
    );
    this.facts.replaceChildren(verdictFacts(verdict, this.otherFacts));
    this.usage.replaceChildren(
      ...(verdict.usage ? [section(texts.usageTitle, usageTable(verdict.usage))] : []),
    );
    this.listing?.pick(verdict);
    document.title = texts.title(verdictWord(verdict), this.where);
    // The banner shows the verdict; the status line only announces it to screen readers.
    say(texts.verdictFor(verdictWord(verdict), verdict.agent), 'hidden');
  }
}

/** Buttons to share the answer. */
function shareBar(results, purpose) {
  const copy = button(texts.copyLink, async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      copy.textContent = texts.copied;
      setTimeout(() => (copy.textContent = texts.copyLink), 2000);
    } catch {
      // Only secure pages may write to the clipboard: the link is shown instead, ready to be copied.
      const field = element('input', { type: 'text', readonly: '', 'aria-label': texts.link });
      field.value = location.href;
      copy.replaceWith(field);
      field.select();
    }
  });
  return element(
    'div',
    { class: 'share' },
    copy,
    button(texts.csv, () => saveCsv(csv(results, purpose))),
  );
}

function put(...children) {
  result.replaceChildren(...children);
  result.hidden = false;
}

async function askSite(question) {
  const { url, agent, purpose } = question;
  const query = new URLSearchParams({ url });
  for (const name of agent) query.append('agent', name);
  for (const name of form.compared()) query.append('compare', name);
  if (purpose) query.set('purpose', purpose);
  const host = URL.canParse(url) ? new URL(url).host : url;
  const answer = await ask(texts.asking(host), '/v1/explain?' + query);
  const { state, policy } = answer;
  const verdicts = answer.verdicts.map((verdict) => ({ ...verdict, state }));
  const detail = new Detail(answer, originFacts(answer), host);
  const sitemaps = policy.sitemaps
    .slice(0, 50)
    .map(({ url: at, line }) => element('li', {}, foreign(at), ' ' + texts.line(line)));
  put(
    detail.head,
    detail.facts,
    shareBar([{ input: answer.url, verdicts }], purpose),
    section(
      texts.agentsTitle,
      agentTable(verdicts, purpose, (verdict) => detail.pick(verdict, answer.url)),
    ),
    ...(detail.listing ? detail.listing.sections() : []),
    section(texts.timelineTitle, timelineList(answer.timeline, answer.now)),
    detail.usage,
    ...(sitemaps.length === 0
      ? []
      : [section(texts.sitemapsTitle, element('ul', { class: 'sources' }, ...sitemaps))]),
    ...(answer.underProfiles.length === 0
      ? []
      : [section(texts.profilesTitle, profileTable(answer.underProfiles))]),
  );
  detail.pick(verdicts[0], answer.url);
}

async function askText({ robots, urls, agents, purpose }) {
  const body = {
    robots,
    urls: urls.length === 0 ? ['/'] : urls,
    ...(agents.length === 0 ? {} : { agents }),
    ...(purpose ? { purpose } : {}),
  };
  const answer = await ask(texts.deciding, '/v1/explain', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const first = answer.results.find(({ verdicts }) => verdicts);
  const detail = new Detail(answer, [[texts.readAs, answer.dialect]], texts.pasted);
  put(
    detail.head,
    detail.facts,
    shareBar(answer.results, purpose),
    section(
      texts.verdictsTitle,
      matrix(answer.results, purpose, ({ verdict, url }) => detail.pick(verdict, url)),
    ),
    ...detail.listing.sections(),
    detail.usage,
  );
  if (first) detail.pick(first.verdicts[0], first.input);
  else {
    detail.listing.pick({});
    say(texts.noUrl, 'error');
  }
}

const answer = (question) =>
  (question.mode === 'site' ? askSite(question) : askText(question)).catch(showError);

async function submit() {
  const question = form.read();
  const link = await linkOf(question);
  const isNew = link !== location.pathname + location.search + location.hash;
  history[isNew ? 'pushState' : 'replaceState'](ASKED, '', link);
  await answer(question);
}

/** The state of the entries of the history whose question the visitor has asked. */
const ASKED = 'asked';

/**
 * Shows the question that the address holds, and its answer. A link of somebody else waits for the button: the answer can
 * need requests to a site that the visitor did not choose.
 */
async function follow() {
  asking?.abort();
  const question = await questionOf(location).catch((error) => {
    throw new Error(error instanceof TooLong ? texts.longLink : texts.badLink);
  });
  form.fill(question);
  if (question && history.state === ASKED) {
    await answer(form.read());
    return;
  }
  say(question ? texts.waits : '');
  document.title = texts.plainTitle;
  result.hidden = true;
  result.replaceChildren();
}

form.node.addEventListener('submit', (event) => {
  event.preventDefault();
  submit().catch(showError);
});
document.addEventListener('keydown', (event) => {
  // Submits from a multi-line field too, where Enter alone inserts a line break.
  if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.node.requestSubmit();
});
if (document.documentElement.dataset.broughtBy === 'visitor') history.replaceState(ASKED, '');
addEventListener('popstate', () => void follow().catch(showError));
follow().catch(showError);
