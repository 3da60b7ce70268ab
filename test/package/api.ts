import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/**
 * `npm run api`: compares the public types of every entry point, as they are built, with `test/package/api.txt`, and what
 * ES modules can import with what CommonJS can. Exits 1 when they differ. So no public type changes unnoticed. `npm run api -- --write` accepts what is built.
 */
const root = new URL('../../../', import.meta.url);
// The declarations for ES modules only name these.
const dist = fileURLToPath(new URL('dist/cjs/', root));
const modules = fileURLToPath(new URL('dist/', root));
const report = fileURLToPath(new URL('test/package/api.txt', root));

const COLUMNS = 120;

/** The statement, with each list and type that fits into a line in one. */
function inFewLines(statement: string): string {
  const lines: string[] = [];
  const opened: number[] = [];
  for (const line of statement.split('\n')) {
    const start = /^ *[}\])]/.test(line) ? opened.pop() : undefined;
    const [first = '', ...others] = start === undefined ? [line] : [...lines.slice(start), line];
    const joined = [first, ...others.map((each) => each.trim())].join(' ');
    if (start !== undefined && joined.length <= COLUMNS) lines.splice(start, Infinity, joined);
    else lines.push(line);
    if (/[{[(]$/.test(line)) opened.push(lines.length - 1);
  }
  return lines.join('\n');
}

/** The statements of a file of declarations, in one form, without comments, and the names that it exports in few lines. */
function statementsOf(file: string): string[] {
  const source = ts.createSourceFile(file, readFileSync(dist + file, 'utf8'), ts.ScriptTarget.ES2022);
  const printer = ts.createPrinter({ removeComments: true });
  const names: string[] = [];
  const statements: string[] = [];
  for (const statement of source.statements) {
    if (ts.isImportDeclaration(statement)) continue;
    if (!ts.isExportDeclaration(statement)) {
      statements.push(inFewLines(printer.printNode(ts.EmitHint.Unspecified, statement, source)));
    } else if (statement.exportClause !== undefined && ts.isNamedExports(statement.exportClause)) {
      names.push(...statement.exportClause.elements.map(({ name }) => name.text));
    }
  }
  for (const name of names.sort()) {
    const last = statements.at(-1) ?? '';
    const isRoom = last.startsWith('export ') && last.length + name.length <= COLUMNS;
    if (isRoom) statements[statements.length - 1] = `${last}, ${name}`;
    else statements.push(`export ${name}`);
  }
  return statements;
}

const files = readdirSync(dist, { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.d.cts'))
  .sort();
const isChunk = (file: string): boolean => file.startsWith('chunks/');
const section = (name: string, statements: readonly string[]): string =>
  [`// ${name}`, ...[...statements].sort(), ''].join('\n');

const entryPoints = files.filter((file) => !isChunk(file)).map((file) => file.replace('.d.cts', ''));

/** What entry points export, and what of it several of them share, wherever the bundler puts that. */
const built = [
  ...entryPoints.map((name) => section(name, statementsOf(`${name}.d.cts`))),
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

const pairs = entryPoints.map((name) => [`${modules}${name}.d.ts`, `${dist}${name}.d.cts`] as const);
const program = ts.createProgram(pairs.flat(), {
  module: ts.ModuleKind.NodeNext,
  target: ts.ScriptTarget.ES2022,
  types: [],
});

/** The names that a file of declarations exports. */
function exportsOf(file: string): string {
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const symbol = source && checker.getSymbolAtLocation(source);
  const names = symbol === undefined ? [] : checker.getExportsOfModule(symbol).map(({ name }) => name);
  // This is how an ES module tells `require` what `export =` is.
  return names
    .filter((name) => name !== 'module.exports')
    .sort()
    .join(' ');
}

for (const [module, common] of pairs) {
  const [ours, others] = [exportsOf(module), exportsOf(common)];
  if (ours === others && ours !== '') continue;
  console.error(`ERROR: ${module} exports: ${ours}\n${common}: ${others}`);
  process.exitCode = 1;
}
