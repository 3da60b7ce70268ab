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
