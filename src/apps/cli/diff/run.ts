import { colourChoice, readFormat, onlineSettings } from '../frame/settings.ts';
import { profiles } from '../../../core/lifecycle/index.ts';
import { isRobotsError, Turn } from '../../../core/base/index.ts';
import { type ParsedArguments, type ExitCode, exitCode } from '../frame/command.ts';
import { jsonLine, paletteFor, quoted, writeWhole } from '../../answers/text/index.ts';
import type { ComparisonAnswer } from '../../answers/schema.ts';
import { type Session, tokensOf, UsageError } from '../../answers/index.ts';
import { interruptible } from '../frame/interruptible.ts';
import { FileComparison } from '../../answers/comparison/index.ts';
import {
  absenceOf,
  readsStdin,
  RobotsLoader,
  rulesInForce,
  type Target,
  targets,
} from '../../answers/input/index.ts';
import { openClient } from '../frame/open-client.ts';
import { renderComparison, type Side } from './render.ts';

/** Compares two files, and prints the changes. */
export async function diffFiles(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const operands = readOperands(given);
  const urls = given.values.get('url') ?? [];
  const settings = onlineSettings(given);
  const { dialect } = profiles[settings.profile];
  return interruptible(session, { readsStdin: readsStdin([...operands, ...urls]) }, async (signal) => {
    await using loader = new RobotsLoader({
      openClient: (maxBodyBytes) => openClient(settings, session, { maxBodyBytes }),
      session,
      signal,
    });
    const sides: Side[] = [];
    for (const operand of operands) {
      const loaded = await loader.load(operand);
      const rules = rulesInForce(loaded, dialect);
      if (rules !== undefined) sides.push({ name: loaded.name, ...rules });
      else session.stderr.write(`canfetch: ${absenceOf(loaded) ?? ''}\n`);
    }
    const [before, after] = sides;
    if (before === undefined || after === undefined) return exitCode.usage;
    const agents = settings.agents.length === 0 ? [] : tokensOf(settings.agents);
    const comparison = await FileComparison.of(before.file, after.file, agents, new Turn(signal));
    for await (const batch of targets(urls, session.stdin)) {
      for (const target of batch) tryTarget(comparison, target);
    }
    signal.throwIfAborted();
    await writeWhole(
      session.stdout,
      readFormat(given) === 'json'
        ? jsonLine<ComparisonAnswer>(comparison.record(before, after))
        : renderComparison(before, after, comparison, paletteFor(session, colourChoice(given))),
    );
    return comparison.same ? exitCode.success : exitCode.negative;
  });
}

function readOperands({ operands }: ParsedArguments): readonly [string, string] {
  const [before, after, another] = operands;
  if (before === undefined || after === undefined) {
    throw new UsageError(`Expected two files or origins, got ${operands.length === 0 ? 'none' : 'one'}`);
  }
  if (another !== undefined) {
    throw new UsageError(`Expected two files or origins, got ${quoted(another)} too; leave one of them out`);
  }
  return [before, after];
}

function tryTarget(comparison: FileComparison, { input, line, tooLong }: Target): void {
  try {
    if (tooLong !== true) {
      comparison.probe(input);
      return;
    }
  } catch (error) {
    if (!isRobotsError(error)) throw error;
  }
  const where = line === undefined ? '' : ` on line ${line}`;
  throw new UsageError(
    `Expected an absolute URL, or a path that starts with "/", got ${quoted(input)}${where}`,
  );
}
