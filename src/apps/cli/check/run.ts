import { mapBatches, count } from '../../../core/base/index.ts';
import type { RobotsFile } from '../../../core/rules/index.ts';
import { decideOffline } from '../../answers/decide.ts';
import type { Decide } from '../../answers/decide-online.ts';
import { type Session, UsageError } from '../../answers/session.ts';
import { decisionFields } from '../../answers/fields.ts';
import { targets } from '../../answers/input/targets.ts';
import { type ReportedDecision, verdictKinds, type VerdictName, verdictName } from '../../answers/verdict.ts';
import { assertStdinOnce } from '../../answers/input/load-robots.ts';
import { looksNote, reasonText } from '../../answers/text/sentences.ts';
import { definitions, verdictLine } from '../../answers/text/layout.ts';
import { renderRecord } from '../../answers/text/json.ts';
import { type ExitCode, exitCode, type ParsedArguments } from '../frame/command.ts';
import { type Kind, type ListLayout, writeList } from '../frame/list-report.ts';
import { agentOf, onlineSettings, readFormat } from '../frame/settings.ts';

/** At most 512 URLs are in progress at once. The client limits its fetches; this limits the URLs that wait for them. */
const IN_ORDER = { concurrency: 512, ordered: true };
const STDIN = '-';

/** The file that a decision rests on, if any. */
type FileOf = (decision: ReportedDecision) => RobotsFile | undefined;

/** Decides each URL, in input order. */
export async function checkUrls(given: ParsedArguments, session: Session): Promise<ExitCode> {
  assertOperands(given);
  const form = readFormat(given);
  const settings = onlineSettings(given);
  const file = given.values.get('robots')?.[0];
  const { operands } = given;
  const isLong = operands.length === 1 && operands[0] !== STDIN;
  const options = { form, isSummed: operands.includes(STDIN) && form === 'text' };
  const decideAll = async (decide: Decide, fileOf: FileOf): Promise<ExitCode> => {
    const results = mapBatches(targets(operands, session.stdin), IN_ORDER, decide);
    const code = await writeList(session, isLong ? longLayout(fileOf) : checkLayout, options, results);
    // 0 would mean "allowed" to a script whose list turned out empty.
    if (code === undefined) throw new UsageError('Expected at least one URL in standard input, got none');
    return code;
  };
  if (file === undefined) {
    const [{ openClient }, { decideOnline }, { engineOf }] = await Promise.all([
      import('../frame/open-client.ts'),
      import('../../answers/decide-online.ts'),
      import('../../../core/client/client-engine.ts'),
    ]);
    await using opened = await openClient(settings, session);
    const { client } = opened;
    return await decideAll(
      decideOnline(client, agentOf(settings), session.signal, settings.purpose),
      (decision) => ('origin' in decision ? engineOf(client).fileOf(decision) : undefined),
    );
  }
  if (settings.evidence !== undefined) {
    throw new UsageError(
      'Expected either --evidence or --robots, got both: evidence is of what was fetched; leave one of them out',
    );
  }
  const { decide, rules } = await decideOffline(file, settings, session);
  return decideAll(decide, () => rules);
}

/** @throws UsageError without a URL, and when standard input would be read twice. */
function assertOperands({ operands, values }: ParsedArguments): void {
  if (operands.length === 0) {
    throw new UsageError('Expected at least one URL, or "-" to read them from standard input, got none');
  }
  assertStdinOnce(operands);
  if (operands.includes(STDIN) && values.get('robots')?.[0] === STDIN) {
    throw new UsageError(
      'Expected "-" either for --robots or for the URLs, got both; read one of them from a file',
    );
  }
}

const kinds: Readonly<Record<VerdictName, Kind>> = {
  allowed: { ...verdictKinds.allowed, code: exitCode.success },
  disallowed: { ...verdictKinds.disallowed, code: exitCode.negative, counted: 'disallowed' },
  unwanted: { ...verdictKinds.unwanted, code: exitCode.negative, counted: 'not wanted' },
  undecided: { ...verdictKinds.undecided, code: exitCode.undecided, counted: 'undecided' },
};

/** A line for each URL: the verdict, the URL and the reason. */
const checkLayout: ListLayout<ReportedDecision> = {
  kinds: Object.values(kinds),
  kindOf: (decision) => kinds[verdictName(decision)],
  subjectOf: ({ url }) => url,
  reasonOf: (decision) => `${reasonText(decision)}${looksNote(decision.robots.suspect)}`,
  record: renderRecord,
  total: (decided, invalid) => count(decided + invalid, 'URL'),
};

/** Of a single URL the verdict, and below it the agent, the deciding rule and the robots.txt. */
const longLayout = (fileOf: FileOf): typeof checkLayout => ({
  ...checkLayout,
  long: (decision, colours, width) => {
    const fields = decisionFields(decision, fileOf(decision), Date.now());
    const lines = [verdictLine(decision, colours), ...definitions(fields, width, colours.faint)];
    return `${lines.join('\n')}\n`;
  },
});
