import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/**
 * `npm run api`: compares the public types of every entrance, as they are built, with `test/package/api.txt`, and exits
 * 1 when they differ. So no public type changes unnoticed. `npm run api -- --write` accepts what is built.
 */
const root = new URL('../../../', import.meta.url);
// The declarations beside ES modules only name these.
const dist = fileURLToPath(new URL('dist/cjs/', root));
const report = fileURLToPath(new URL('test/package/api.txt', root));

/** The statements of a file of declarations, in one form, without comments. */
function statementsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(dist + file, 'utf8'), ts.ScriptTarget.ES2022);
  const printer = ts.createPrinter({ removeComments: true });
  return source.statements.flatMap((statement) => {
    if (ts.isImportDeclaration(statement)) return [];
    if (!ts.isExportDeclaration(statement)) {
      return [printer.printNode(ts.EmitHint.Unspecified, statement, source)];
    }
    const { exportClause } = statement;
    if (exportClause === undefined || !ts.isNamedExports(exportClause)) return [];
    return exportClause.elements.map(({ name }) => `export ${name.text};`);
  });
}

const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.d.cts'))
  .sort();
const isChunk = (file: string): boolean => file.startsWith('chunks/');
const section = (name: string, statements: readonly string[]): string =>
  [`// ${name}`, ...[...statements].sort(), ''].join('\n');

/** What entrances export, and what of it several of them share, wherever the bundler puts that. */
const built = [
  ...files
    .filter((file) => !isChunk(file))
    .map((file) => section(file.replace('.d.cts', ''), statementsOf(file))),
  section(
    'shared',
    files
      .filter(isChunk)
      .flatMap(statementsOf)
      .filter((statement) => !statement.startsWith('export ')),
  ),
].join('\n');

if (process.argv.includes('--write')) writeFileSync(report, built);
else {
  const accepted = readFileSync(report, 'utf8');
  const without = (text: string, other: string): string[] => {
    const lines = new Set(other.split('\n'));
    return text.split('\n').filter((line) => !lines.has(line));
  };
  if (built !== accepted) {
    console.error(
      'ERROR: public types differ from test/package/api.txt. If that is wanted: npm run api -- --write',
    );
    for (const line of without(accepted, built)) console.error(`- ${line}`);
    for (const line of without(built, accepted)) console.error(`+ ${line}`);
    process.exitCode = 1;
  }
}
