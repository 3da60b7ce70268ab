// @ts-check
// Displays what differs between two files: for which agents, by which rules, and for which URLs.
import { element, folded, foreign, many, plain, section, table } from './elements.js';
import { ruleText, verdictMark } from './verdict.js';

/** More would stall the page. What is left out is counted. */
const MAX_SECTIONS = 50;
const MAX_ROWS = 200;
const MAX_AGENTS = 20;

const SIGN = { added: '+ ', removed: '− ', turned: '⇄ ', moved: '↕ ' };

/** Says in one sentence how much differs. @returns {string} */
export function countOf({ same, differences }) {
  if (same) return 'No difference for any agent';
  const flips = differences.reduce((sum, { flipCount }) => sum + flipCount, 0);
  const agents = differences.reduce((sum, each) => sum + each.agents.length, 0);
  return 'Differs for ' + many(agents, 'agent') + (flips === 0 ? '' : ', ' + many(flips, 'URL'));
}

/** The whole result. */
export function comparison(result) {
  const { before, after, differences, everybody, agentsLeftOut } = result;
  const remarks = [before.because, after.because].filter((each) => each !== undefined).map(foreign);
  if (agentsLeftOut > 0)
    remarks.push(many(agentsLeftOut, 'agent') + ' not compared: too many agents or changes.');
  const title = 'For every agent: sitemaps and other lines';
  const left = differences.length - MAX_SECTIONS;
  return [
    element(
      'div.summary',
      element(
        'div.banner.plain',
        { 'data-part': 'banner' },
        element('p.big', countOf(result)),
        element('p.asked', named(before, 'Old robots.txt'), ' → ', named(after, 'New robots.txt')),
        remarks.map((each) => element('p.remark', each)),
      ),
    ),
    ...differences.slice(0, MAX_SECTIONS).map(differenceSection),
    left > 0 && element('p.hint', 'And ' + left.toLocaleString('en') + ' more sets of agents.'),
    everybody.length > 0 && folded(title, changes(title, everybody)),
  ];
}

/** A pasted file by its label, a fetched one by its address. */
function named({ name }, label) {
  return name === 'before' || name === 'after' ? label : foreign(name);
}

function differenceSection({ agents, groupBefore, groupAfter, rules, records, ...urls }) {
  const { flips, flipCount, redecidedCount } = urls;
  const shown = agents.slice(0, MAX_AGENTS);
  const names = shown.flatMap((agent, index) => [index > 0 && ', ', foreign(agent)]);
  const rest = agents.length - MAX_AGENTS;
  const hasMoved = String(groupBefore).toLowerCase() !== String(groupAfter).toLowerCase();
  // Regions with a name each: screen readers list them.
  const whose = ', For ' + plain(shown.join(', '));
  const flipTitle = many(flipCount, 'URL is', 'URLs are') + ' decided differently, for example';
  return section(
    element('span', 'For ', names, rest > 0 && ' and ' + rest.toLocaleString('en') + ' more'),
    hasMoved && element('p', groupName(groupBefore), ' → ', groupName(groupAfter)),
    rules.length + records.length > 0 && [
      element('h3', 'Lines that changed'),
      changes('Lines that changed' + whose, [...rules, ...records]),
    ],
    flipCount > 0 && [
      element('h3', flipTitle),
      table(
        'table.flips',
        flipTitle + whose,
        ['URL', 'Old robots.txt', 'New robots.txt'],
        flips.slice(0, MAX_ROWS).map(flipRow),
      ),
      ...rowsLeft(flipCount - Math.min(flips.length, MAX_ROWS)),
    ],
    redecidedCount > 0 && element('p.hint', many(redecidedCount, 'URL') + ': same verdict, by another line'),
  );
}

function groupName(group) {
  return group === undefined ? 'no group' : element('span', 'Group ', foreign(group));
}

function rowsLeft(count) {
  return count > 0 ? [element('p.hint', 'And ' + count.toLocaleString('en') + ' more.')] : [];
}

/** Table of changed lines, which are rules or other records. */
function changes(label, items) {
  const rows = items.slice(0, MAX_ROWS).map(({ kind, before, after, record }) => {
    const sign = element('span', { 'aria-hidden': 'true' }, SIGN[kind]);
    return element(
      'tr',
      element('td', element('span.' + kind, sign, kind === 'turned' ? 'reversed' : kind)),
      record
        ? element('td', 'line ' + record.line + ', ', foreign(record.key + ': ' + record.value))
        : element(
            'td',
            ruleText(after || before),
            (kind === 'turned' || kind === 'moved') && [' · before: ', ruleText(before)],
          ),
    );
  });
  return element('div', table('table.changes', label, [], rows), rowsLeft(items.length - rows.length));
}

function flipRow({ target, before, after }) {
  return element(
    'tr',
    element('th', { scope: 'row' }, foreign(target)),
    sideCell(before, 'Old robots.txt'),
    sideCell(after, 'New robots.txt'),
  );
}

function sideCell({ allowed, rule }, label) {
  const where = rule && element('span.at', ' line ' + rule.line);
  return element('td', { 'data-label': label }, element('span', verdictMark({ allowed }), where));
}
