// @ts-check
// Asks the service what the form asks, and shows the result.
import {
  ask,
  askAbout,
  clear,
  linkOf,
  problemError,
  put,
  questionOf,
  readLines,
  say,
  TooLong,
} from './asking.js';
import { comparison, countOf } from './comparison.js';
import { button, element, folded, foreign, section } from './elements.js';
import { FieldError, Form, withScheme } from './form.js';
import { Listing } from './listing.js';
import { csv, saveCsv, agentTable, matrix, profileTable, usageTable } from './tables.js';
import { texts } from './texts.js';
import {
  timelineList,
  banner,
  countsOf,
  originFacts,
  robotsFacts,
  verdictFacts,
  verdictWord,
} from './verdict.js';

for (const [attribute, set] of /** @type {[string, (node: any, text: string) => void][]} */ ([
  ['text', (node, text) => (node.textContent = text)],
  ['placeholder', (node, text) => (node.placeholder = text)],
  ['label', (node, text) => node.setAttribute('aria-label', text)],
])) {
  for (const node of document.querySelectorAll('[data-' + attribute + ']')) {
    set(node, texts[/** @type {HTMLElement} */ (node).dataset[attribute] || '']);
  }
}

const form = new Form();
const showError = (error) => form.showError(error);

/** What depends on the selected verdict: banner, excerpt, facts, marked lines and preferences. */
class Detail {
  constructor(result, otherFacts, where) {
    this.listing = result.lines && new Listing(result);
    // The result for a pasted file has the fields of `robots` itself. For many URLs, each verdict has its own.
    this.context = { ...result, robots: result.robots || result };
    this.otherFacts = otherFacts;
    this.where = where;
    this.head = element('div', { class: 'summary' });
    this.facts = element('div', {});
    this.preferences = element('div', {});
    this.usage = folded(texts.usageTitle, this.preferences);
    this.usage.hidden = true;
  }

  pick(verdict, url) {
    this.head.replaceChildren(
      banner(verdict, url, verdict.robots ? { ...verdict, now: Date.now() } : this.context),
      ...(this.listing ? [this.listing.excerpt] : []),
    );
    this.facts.replaceChildren(verdictFacts(verdict, this.otherFacts(verdict, url)));
    this.usage.hidden = !verdict.usage;
    this.preferences.replaceChildren(...(verdict.usage ? [usageTable(verdict.usage)] : []));
    this.listing?.pick(verdict);
    document.title = texts.title(verdictWord(verdict), this.where);
    // The banner shows the verdict; the status line only announces it to screen readers.
    say(texts.verdictFor(verdictWord(verdict), verdict.agent), 'hidden');
  }
}

/**
 * Buttons that copy the link to the result, and save its verdicts.
 * @param {any[]} [results]
 * @param {string} [purpose]
 */
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
    ...(results ? [button(texts.csv, () => saveCsv(csv(results, purpose)))] : []),
  );
}

async function askSite(question) {
  const { url, agent, purpose } = question;
  const query = new URLSearchParams({ url });
  for (const name of agent) query.append('agent', name);
  for (const name of form.compared()) query.append('compare', name);
  if (purpose) query.set('purpose', purpose);
  const host = URL.canParse(url) ? new URL(url).host : url;
  const result = await ask(texts.asking(host), '/v1/explain?' + query);
  const { state, policy } = result;
  const verdicts = result.verdicts.map((verdict) => ({ ...verdict, state }));
  const detail = new Detail(result, () => originFacts(result), host);
  const sitemaps = policy.sitemaps
    .slice(0, 50)
    .map(({ url: at, line }) => element('li', {}, foreign(at), ' ' + texts.line(line)));
  put(
    detail.head,
    detail.facts,
    shareBar([{ input: result.url, verdicts }], purpose),
    section(
      texts.agentsTitle,
      agentTable(verdicts, purpose, (verdict) => detail.pick(verdict, result.url)),
    ),
    ...(detail.listing ? detail.listing.sections() : []),
    folded(texts.timelineTitle, timelineList(result.timeline, result.now, policy.failure)),
    detail.usage,
    ...(sitemaps.length === 0
      ? []
      : [folded(texts.sitemapsTitle, element('ul', { class: 'sources' }, ...sitemaps))]),
    ...(result.underProfiles.length === 0
      ? []
      : [folded(texts.profilesTitle, profileTable(result.underProfiles))]),
  );
  detail.pick(verdicts[0], result.url);
}

async function askText({ robots, urls, agents, purpose }) {
  const body = {
    robots,
    urls: urls.length === 0 ? ['/'] : urls,
    ...(agents.length === 0 ? {} : { agents }),
    ...(purpose ? { purpose } : {}),
  };
  const result = await askAbout(texts.deciding, '/v1/explain', body);
  const first = result.results.find(({ verdicts }) => verdicts);
  const detail = new Detail(result, () => [[texts.readAs, result.dialect]], texts.pasted);
  putMany(result.results, purpose, detail);
  if (first) return;
  detail.listing.pick({});
  form.setFault('urls', texts.noUrl);
}

/** Shows many verdicts, headed by their counts, and the details of one of them. */
function putMany(results, purpose, detail) {
  const verdicts = results.flatMap((each) => each.verdicts || []);
  const counts = countsOf(verdicts);
  const invalid = results.filter((each) => !each.verdicts).length;
  const table = section(
    texts.verdictsTitle,
    matrix(results, purpose, ({ verdict, url }) => detail.pick(verdict, url)),
  );
  const share = shareBar(results, purpose);
  const heading = element(
    'div',
    { class: 'banner plain', 'data-part': 'counts' },
    element('p', { class: 'big' }, counts),
    element('p', { class: 'asked' }, texts.manyUrls(results.length, invalid)),
  );
  const isOne = verdicts.length < 2;
  if (!isOne) detail.head.classList.add('picked');
  put(
    ...(isOne ? [] : [element('div', { class: 'summary' }, heading), share, table]),
    detail.head,
    detail.facts,
    ...(isOne ? [share, table] : []),
    ...(detail.listing ? detail.listing.sections() : []),
    detail.usage,
  );
  const first = results.find((each) => each.verdicts);
  if (first) detail.pick(first.verdicts[0], first.input);
  if (isOne) return;
  document.title = texts.title(counts, detail.where);
  say(counts, 'hidden');
}

async function askList({ urls, agents, purpose }) {
  const asked = agents.length === 0 ? [undefined] : agents;
  const questions = urls.flatMap((url) =>
    asked.map((agent) => JSON.stringify({ url, agent, purpose: purpose || undefined })),
  );
  const init = { method: 'POST', body: questions.join('\n') };
  const lines = await ask(texts.deciding, '/v1/check', init, readLines(questions.length));
  const noAgent = lines.find(({ error }) => error && error.code === 'ERR_ROBOTS_INVALID_OPTIONS');
  if (noAgent) throw problemError(noAgent.error.code, noAgent.error.message);
  const results = urls.map((input, index) => {
    const verdicts = lines.slice(index * asked.length, (index + 1) * asked.length);
    const failed = verdicts.find(({ error }) => error);
    return failed ? { input, error: failed.error } : { input, verdicts };
  });
  const first = results.find(({ verdicts }) => verdicts);
  if (!first) throw new FieldError('urls', texts.noSiteUrl);
  putMany(results, purpose, new Detail({}, listFacts, texts.manyUrls(urls.length)));
}

/** Facts about one of many verdicts, with a link to everything about its URL. */
function listFacts({ robots, agent }, url) {
  const href = '/?' + new URLSearchParams({ url, agent });
  return [...robotsFacts(robots, Date.now()), [texts.more, element('a', { href }, texts.explain)]];
}

async function askDiff({ before, after }) {
  // The address of a site stands for the file that it serves.
  const given = (text) => {
    const origin = withScheme(text.trim());
    return /^(?:https?|ftp):\/\/\S+$/i.test(origin) ? { origin } : text;
  };
  const result = await askAbout(texts.comparing, '/v1/diff', { before: given(before), after: given(after) });
  const [head, ...sections] = comparison(result);
  put(head, shareBar(), ...sections);
  document.title = texts.title(countOf(result), texts.modeDiff);
  say(countOf(result), 'hidden');
}

const asks = { site: askSite, list: askList, text: askText, diff: askDiff };
const showResult = (question) => asks[question.mode](question).catch(showError);

async function submit() {
  const question = form.read();
  const link = await linkOf(question);
  const isNew = link !== location.pathname + location.search + location.hash;
  history[isNew ? 'pushState' : 'replaceState'](ASKED, '', link);
  await showResult(question);
}

/** The state of history entries whose question the visitor has asked. */
const ASKED = 'asked';

/**
 * Shows the question in the address, and its result. A link from another site waits for the button, because a question
 * can need requests to a site that the visitor did not choose.
 */
async function follow() {
  clear();
  const question = await questionOf(location).catch((error) => {
    throw new Error(error instanceof TooLong ? texts.longLink : texts.badLink);
  });
  form.fill(question);
  if (question && history.state === ASKED) {
    await showResult(form.read());
    return;
  }
  say(question ? texts.waits : '');
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
