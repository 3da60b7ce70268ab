// @ts-check
// Displays what differs between two files: for which agents, by which rules, and for which URLs.
import { element, folded, foreign, plain, scrolling, section, tableHead } from './elements.js';
import { texts } from './texts.js';
import { mark, ruleText } from './verdict.js';

/** More would stall the page. What is left out is counted. */
const MAX_SECTIONS = 50;
const MAX_ROWS = 200;
const MAX_AGENTS = 20;

const SIGN = { added: '+', removed: '−', turned: '⇄', moved: '↕' };

/** Says in one sentence how much differs. @returns {string} */
export function countOf({ same, differences }) {
  if (same) return texts.same;
  const flips = differences.reduce((sum, { flipCount }) => sum + flipCount, 0);
  const agents = differences.reduce((sum, each) => sum + each.agents.length, 0);
  return texts.differs(agents, flips);
}

/** The whole result. */
export function comparison(result) {
  const { before, after, differences, everybody, agentsLeftOut } = result;
  const remarks = [before, after].map(({ because }) => because).filter((each) => each !== undefined);
  return [
    element(
      'div',
      { class: 'summary' },
      element(
        'div',
        { class: 'banner plain', 'data-part': 'banner' },
        element('p', { class: 'big' }, countOf(result)),
        element('p', { class: 'asked' }, named(before, texts.before), ' → ', named(after, texts.after)),
        ...remarks.map((each) => element('p', { class: 'remark' }, foreign(each))),
        ...(agentsLeftOut === 0 ? [] : [element('p', { class: 'remark' }, texts.leftOut(agentsLeftOut))]),
      ),
    ),
    ...differences.slice(0, MAX_SECTIONS).map(differenceSection),
    ...(differences.length > MAX_SECTIONS
      ? [element('p', { class: 'hint' }, texts.moreSections(differences.length - MAX_SECTIONS))]
      : []),
    ...(everybody.length === 0
      ? []
      : [folded(texts.everybody, table(texts.everybody, [], everybody, recordRow))]),
  ];
}

/** A pasted file by its label, a fetched one by its address. */
function named({ name }, label) {
  return name === 'before' || name === 'after' ? label : foreign(name);
}

function differenceSection({ agents, groupBefore, groupAfter, rules, records, ...urls }) {
  const { flips, flipCount, redecidedCount } = urls;
  const shown = agents
    .slice(0, MAX_AGENTS)
    .flatMap((agent, index) => [index > 0 ? ', ' : '', foreign(agent)]);
  const rest = agents.length > MAX_AGENTS ? texts.andMore(agents.length - MAX_AGENTS) : '';
  const hasMoved = String(groupBefore).toLowerCase() !== String(groupAfter).toLowerCase();
  // Regions with a name each: screen readers list them.
  const whose = ', ' + texts.forAgents + plain(agents.slice(0, MAX_AGENTS).join(', '));
  const title = element('span', {}, texts.forAgents, ...shown, rest);
  return section(
    title,
    ...(hasMoved ? [element('p', {}, groupName(groupBefore), ' → ', groupName(groupAfter))] : []),
    ...(rules.length + records.length === 0
      ? []
      : [
          element('h3', {}, texts.changedLines),
          table(texts.changedLines + whose, [], [...rules, ...records], (each) =>
            each.record ? recordRow(each) : ruleRow(each),
          ),
        ]),
    ...(flipCount === 0
      ? []
      : [
          element('h3', {}, texts.flips(flipCount)),
          table(
            texts.flips(flipCount) + whose,
            [texts.url, texts.before, texts.after],
            flips,
            flipRow,
            flipCount,
          ),
        ]),
    ...(redecidedCount === 0 ? [] : [element('p', { class: 'hint' }, texts.redecided(redecidedCount))]),
  );
}

function groupName(group) {
  return group === undefined ? texts.noGroup : element('span', {}, texts.group + ' ', foreign(group));
}

function table(label, columns, items, row, count = items.length) {
  const left = count - Math.min(items.length, MAX_ROWS);
  return element(
    'div',
    {},
    scrolling(
      label,
      element(
        'table',
        { class: columns.length === 0 ? 'changes' : 'flips' },
        ...(columns.length === 0 ? [] : [tableHead(...columns)]),
        element('tbody', {}, ...items.slice(0, MAX_ROWS).map(row)),
      ),
    ),
    ...(left === 0 ? [] : [element('p', { class: 'hint' }, texts.moreRows(left))]),
  );
}

function kindCell(kind) {
  const sign = element('span', { 'aria-hidden': 'true' }, SIGN[kind] + ' ');
  return element('td', {}, element('span', { class: kind }, sign, texts.changes[kind]));
}

function ruleRow({ kind, before, after }) {
  const was = kind === 'turned' || kind === 'moved' ? [texts.was, ruleText(before)] : [];
  return element('tr', {}, kindCell(kind), element('td', {}, ruleText(after || before), ...was));
}

function recordRow({ kind, record: { key, value, line } }) {
  return element(
    'tr',
    {},
    kindCell(kind),
    element('td', {}, texts.line(line) + ', ', foreign(key + ': ' + value)),
  );
}

function flipRow({ target, before, after }) {
  return element(
    'tr',
    {},
    element('th', { scope: 'row' }, foreign(target)),
    sideCell(before, texts.before),
    sideCell(after, texts.after),
  );
}

function sideCell({ allowed, rule }, label) {
  const kind = allowed ? 'allowed' : 'disallowed';
  const where = rule ? element('span', { class: 'at' }, ' ' + texts.line(rule.line)) : '';
  return element('td', { 'data-label': label }, element('span', {}, mark(kind, texts.words[kind]), where));
}
