// @ts-check
// Asks the service what the form asks, and shows the result.
import {
  announce,
  ask,
  askAbout,
  clear,
  linkOf,
  problemError,
  put,
  questionOf,
  readLines,
  say,
} from './asking.js';
import { button, element, folded, foreign, many, section } from './elements.js';
import { FieldError, Form } from './form.js';
import { Listing } from './listing.js';
import { agentTable, matrix, profileTable, saveCsv, usageTable } from './tables.js';
import {
  timelineList,
  banner,
  countsOf,
  originFacts,
  robotsFacts,
  verdictFacts,
  verdictWord,
} from './verdict.js';

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
    this.head = element('div.summary');
    this.facts = element('div');
    this.preferences = element('div');
    this.usage = folded('Preferences about the use of pages', this.preferences);
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
    const word = verdictWord(verdict);
    announce(word, this.where, word + ' for ' + verdict.agent);
  }
}

/**
 * Buttons that copy the link to the result, and save its verdicts.
 * @param {any[]} [results]
 * @param {string} [purpose]
 */
function shareBar(results, purpose) {
  const copy = button('Copy link', async () => {
    await navigator.clipboard.writeText(location.href);
    copy.textContent = 'Copied';
    setTimeout(() => (copy.textContent = 'Copy link'), 2000);
  });
  return element(
    'div.share',
    // Only secure pages may write to the clipboard.
    isSecureContext && copy,
    results && button('Download as CSV', () => saveCsv(results, purpose)),
  );
}

async function askSite(question) {
  const { url, agent, purpose } = question;
  const query = new URLSearchParams({ url });
  for (const name of agent) query.append('agent', name);
  for (const name of form.compared()) query.append('compare', name);
  if (purpose) query.set('purpose', purpose);
  const host = URL.canParse(url) ? new URL(url).host : url;
  const result = await ask('Asking ' + host + ' …', '/v1/explain?' + query);
  const { state, policy } = result;
  const verdicts = result.verdicts.map((verdict) => ({ ...verdict, state }));
  const detail = new Detail(result, () => originFacts(result), host);
  const sitemaps = policy.sitemaps
    .slice(0, 50)
    .map(({ url: at, line }) => element('li', foreign(at), ' line ' + line));
  put(
    detail.head,
    detail.facts,
    shareBar([{ input: result.url, verdicts }], purpose),
    section(
      'Agents side by side',
      agentTable(verdicts, purpose, (verdict) => detail.pick(verdict, result.url)),
    ),
    ...(detail.listing ? detail.listing.sections() : []),
    folded('Over time', timelineList(result.timeline, result.now, policy.failure)),
    detail.usage,
    sitemaps.length > 0 && folded('Sitemaps', element('ul.sources', sitemaps)),
    result.underProfiles.length > 0 &&
      folded('If a crawler follows other rules', profileTable(result.underProfiles)),
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
  const result = await askAbout('Deciding …', '/v1/explain', body);
  const first = result.results.find(({ verdicts }) => verdicts);
  const detail = new Detail(result, () => [['Read as', result.dialect]], 'pasted robots.txt');
  putMany(result.results, purpose, detail);
  if (first) return;
  detail.listing.pick({});
  form.setFault('urls', 'Expected URLs, or paths that start with /, got none');
}

/** Shows many verdicts, headed by their counts, and the details of one of them. */
function putMany(results, purpose, detail) {
  const verdicts = results.flatMap((each) => each.verdicts || []);
  const counts = countsOf(verdicts);
  const invalid = results.filter((each) => !each.verdicts).length;
  const table = section(
    'Verdicts',
    matrix(results, purpose, ({ verdict, url }) => detail.pick(verdict, url)),
  );
  const share = shareBar(results, purpose);
  const notValid = invalid > 0 && ', ' + invalid.toLocaleString('en') + ' not valid';
  const heading = element(
    'div.banner.plain',
    { 'data-part': 'counts' },
    element('p.big', counts),
    element('p.asked', many(results.length, 'URL'), notValid),
  );
  const isOne = verdicts.length < 2;
  if (!isOne) detail.head.classList.add('picked');
  put(
    ...(isOne ? [] : [element('div.summary', heading), share, table]),
    detail.head,
    detail.facts,
    ...(isOne ? [share, table] : []),
    ...(detail.listing ? detail.listing.sections() : []),
    detail.usage,
  );
  const first = results.find((each) => each.verdicts);
  if (first) detail.pick(first.verdicts[0], first.input);
  if (!isOne) announce(counts, detail.where);
}

async function askList({ urls, agents, purpose }) {
  const asked = agents.length === 0 ? [undefined] : agents;
  const questions = urls.flatMap((url) =>
    asked.map((agent) => JSON.stringify({ url, agent, purpose: purpose || undefined })),
  );
  const init = { method: 'POST', body: questions.join('\n') };
  const lines = await ask('Deciding …', '/v1/check', init, readLines(questions.length));
  const noAgent = lines.find(({ error }) => error && error.code === 'ERR_ROBOTS_INVALID_OPTIONS');
  if (noAgent) throw problemError(noAgent.error.code, noAgent.error.message);
  const results = urls.map((input, index) => {
    const verdicts = lines.slice(index * asked.length, (index + 1) * asked.length);
    const failed = verdicts.find(({ error }) => error);
    return failed ? { input, error: failed.error } : { input, verdicts };
  });
  const first = results.find(({ verdicts }) => verdicts);
  if (!first)
    throw new FieldError('urls', 'Expected absolute URLs, such as https://example.com/page, got none');
  putMany(results, purpose, new Detail({}, listFacts, many(urls.length, 'URL')));
}

/** Facts about one of many verdicts, with a link to everything about its URL. */
function listFacts({ robots, agent }, url) {
  const href = '/?' + new URLSearchParams({ url, agent });
  return [...robotsFacts(robots, Date.now()), ['More', element('a', { href }, 'Everything about this URL')]];
}

const asks = { site: askSite, list: askList, text: askText };
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
  const question = await questionOf(location);
  form.fill(question);
  if (question && history.state === ASKED) {
    await showResult(form.read());
    return;
  }
  say(question ? 'This question came from a link. Press the button to ask it.' : '');
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
