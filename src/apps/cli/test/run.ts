import { profiles } from '../../../core/lifecycle/index.ts';
import {
  absenceOf,
  isUrl,
  type LoadedRobots,
  openList,
  readsStdin,
  RobotsLoader,
  rulesInForce,
} from '../../answers/input/index.ts';
import { fileSource, type Session, truncationWarning, UsageError } from '../../answers/index.ts';
import type { TestLine } from '../../answers/schema.ts';
import { fileName, jsonLine, looksSentence, Output, paletteFor } from '../../answers/text/index.ts';
import { originOf } from '../../../core/url/index.ts';
import { type ParsedArguments, type ExitCode, exitCode } from '../frame/command.ts';
import { interruptible } from '../frame/interruptible.ts';
import { openClient } from '../frame/open-client.ts';
import { colourChoice, onlyOperand, readFormat, onlineSettings } from '../frame/settings.ts';
import { readExpectations, type TestedFile, testExpectation } from './expectations.ts';
import { renderFailure, renderSummary, testRecord, testSarif, unreachableSarif } from './render.ts';

/** Compares the verdicts of a robots.txt with expectations, and prints those that are not met. */
export async function testRobots(given: ParsedArguments, session: Session): Promise<ExitCode> {
  const operand = onlyOperand(given, 'a file, an origin, or "-" for standard input');
  const list = given.values.get('expect')?.[0];
  if (list === undefined) {
    throw new UsageError('Expected --expect with the file of expectations, got none; write --expect FILE');
  }
  const format = readFormat(given);
  const settings = onlineSettings(given);
  return interruptible(session, { readsStdin: readsStdin([operand, list]) }, async (signal) => {
    const expectations = await readExpectations(
      await openList(list, 'a file of expectations', session, signal),
      list,
    );
    await using loader = new RobotsLoader({
      openClient: (maxBodyBytes) => openClient(settings, session, { maxBodyBytes }),
      session,
      signal,
    });
    const output = new Output(session.stdout);
    const loaded = await loader.load(operand);
    const rules = rulesInForce(loaded, profiles[settings.profile].dialect);
    if (rules === undefined) {
      const because = absenceOf(loaded) ?? '';
      session.stderr.write(`canfetch: ${because}\n`);
      if (format === 'sarif') {
        await output.write(unreachableSarif(because));
        await output.release();
      }
      return exitCode.undecided;
    }
    warn(loaded, session);
    const file: TestedFile = {
      list,
      name: loaded.name,
      ...(loaded.kind === 'file' && loaded.url !== undefined ? { url: loaded.url } : {}),
      ...(isUrl(operand) ? { origin: originOf(operand) } : {}),
      ...rules,
    };
    const tested = expectations.map((expectation) => testExpectation(expectation, file));
    const failures = tested.filter(({ met }) => !met);
    if (format === 'sarif') await output.write(testSarif(file, failures));
    if (format === 'json')
      for (const each of tested) await output.write(jsonLine<TestLine>(testRecord(file, each)));
    if (format === 'text') {
      const colours = paletteFor(session, colourChoice(given));
      for (const each of failures) await output.write(renderFailure(file, each, colours));
      await output.write(renderSummary(tested.length, failures.length));
    }
    await output.release();
    return failures.length === 0 ? exitCode.success : exitCode.negative;
  });
}

/** Warns of a file that is cut or does not look like a robots.txt: its rules then say less than its owner wrote. */
function warn(loaded: LoadedRobots, session: Session): void {
  if (loaded.kind === 'none') return;
  const { name, body, truncated } = loaded;
  const { suspect } = fileSource(name, body, truncated);
  if (truncated) session.stderr.write(`canfetch: ${truncationWarning(name)}\n`);
  if (suspect !== undefined) {
    session.stderr.write(`canfetch: ${fileName(name)} looks ${looksSentence(suspect)}\n`);
  }
}
