import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { entryPoints as allEntryPoints } from './support/entry-points.ts';

/** The source is built as the table of `src/README.md` says: its modules, what each may import, and their public files. */
const root = fileURLToPath(new URL('../', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
};

interface Module {
  /** A folder, ending in `/`, or a file, as a path within `src/`. */
  readonly name: string;
  /** The files that modules of other top folders may import, as paths within `src/`. The first one opens the module. */
  readonly publicFiles: readonly string[];
  readonly libraries: readonly string[];
  readonly pure: boolean;
}

interface Import {
  /** A path within `src/`, `node:…`, or the name of a library. */
  readonly target: string;
  readonly typeOnly: boolean;
  /** By `import()` or `require`, so only when the code around it runs. */
  readonly deferred: boolean;
}

const modules = readModules(readFileSync(join(root, 'src/README.md'), 'utf8'));
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'));
const sources = new Map(
  files.map((file) => [file, parse(file, readFileSync(join(root, 'src', file), 'utf8'))]),
);

/** The sources of the package's subpaths, except those that other modules import, too. */
const entryPoints = new Set(
  Object.values(allEntryPoints)
    .map((path) => path.replace(/^src\//, ''))
    .filter((file) => file !== 'index.ts' && file !== 'core/rules/index.ts'),
);

function readModules(readme: string): readonly Module[] {
  const quoted = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  return [...readme.matchAll(/^\| `([^`|]+)` +\| ([^|]+) \| ([^|]*)\| ([^|]*)\|$/gm)].map(
    ([, name = '', purpose = '', publicFiles = '', libraries = '']) => {
      const listed = quoted(publicFiles).map((file) => name + file);
      const opensWithIndex = name.endsWith('/') && existsSync(join(root, 'src', name, 'index.ts'));
      return {
        name,
        publicFiles: !name.endsWith('/') ? [name] : opensWithIndex ? [`${name}index.ts`, ...listed] : listed,
        libraries: quoted(libraries),
        pure: /\bPure\b/.test(purpose),
      };
    },
  );
}

function parse(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

/** The index in the table of the module that has the file; -1 when none has it. */
function moduleOf(file: string): number {
  return modules.findIndex(({ name }) => (name.endsWith('/') ? file.startsWith(name) : file === name));
}

/** `apps`, `extras`, `guards`, `stores` or `core`; of the one loose file its name. */
const topFolderOf = (file: string): string => file.split('/', 1)[0] ?? '';

function resolved(from: string, specifier: string): string {
  // By condition another file of that folder, which no other module imports.
  if (specifier === '#platform') return 'core/fetch/platform/undici.ts';
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  if (/^(?:node|bun):/.test(specifier)) return specifier.replace('bun:', 'node:');
  return specifier.startsWith('@')
    ? specifier.split('/', 2).join('/')
    : (specifier.split('/')[0] ?? specifier);
}

/** Whether nothing of an import or an export is left when the types are gone. */
function isTypeOnly(node: ts.ImportDeclaration | ts.ExportDeclaration): boolean {
  const clause = ts.isImportDeclaration(node) ? node.importClause : node;
  if (clause === undefined) return false;
  if (clause.isTypeOnly) return true;
  if (ts.isImportClause(clause) && clause.name !== undefined) return false;
  const bindings = ts.isImportClause(clause) ? clause.namedBindings : clause.exportClause;
  if (bindings === undefined || ts.isNamespaceImport(bindings) || ts.isNamespaceExport(bindings))
    return false;
  return bindings.elements.length > 0 && bindings.elements.every(({ isTypeOnly: each }) => each);
}

/** `import()`, `require()`, and what `createRequire()` gave. */
function isLoading(call: ts.CallExpression): boolean {
  const { expression } = call;
  return (
    expression.kind === ts.SyntaxKind.ImportKeyword ||
    (ts.isIdentifier(expression) && expression.text === 'require') ||
    (ts.isCallExpression(expression) &&
      ts.isIdentifier(expression.expression) &&
      expression.expression.text === 'createRequire')
  );
}

const importsRead = new WeakMap<ts.SourceFile, readonly Import[]>();

function importsOf(source: ts.SourceFile): readonly Import[] {
  const read = importsRead.get(source) ?? readImports(source);
  importsRead.set(source, read);
  return read;
}

function readImports(source: ts.SourceFile): readonly Import[] {
  const found: Import[] = [];
  const note = (specifier: ts.Node | undefined, typeOnly: boolean, deferred: boolean): void => {
    if (specifier === undefined) return;
    if (!ts.isStringLiteralLike(specifier)) {
      throw new Error(`${source.fileName} loads a module whose name is not written out`);
    }
    found.push({ target: resolved(source.fileName, specifier.text), typeOnly, deferred });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) {
      note(node.moduleSpecifier, isTypeOnly(node), false);
    } else if (ts.isImportTypeNode(node)) {
      note(ts.isLiteralTypeNode(node.argument) ? node.argument.literal : node.argument, true, true);
    } else if (ts.isCallExpression(node) && isLoading(node)) {
      note(node.arguments[0], false, true);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Everything in one file that breaks the rules of the table. */
function faults(source: ts.SourceFile): readonly string[] {
  const file = source.fileName;
  const here = modules[moduleOf(file)];
  if (here === undefined) return [`${file} is in no module of src/README.md`];
  return importsOf(source).flatMap((each) => {
    const fault = each.target.endsWith('.ts') ? fileFault(each, file) : libraryFault(each, here);
    return fault === undefined ? [] : [`${file} imports ${each.target}: ${fault}`];
  });
}

function libraryFault({ target, typeOnly, deferred }: Import, here: Module): string | undefined {
  if (target.startsWith('node:')) return here.pure ? 'a pure module knows no Node' : undefined;
  if (!here.libraries.includes(target)) return `no library of ${here.name}`;
  const optional = manifest.peerDependenciesMeta[target]?.optional === true;
  return optional && !typeOnly && !deferred ? 'an optional peer: load it when it is needed' : undefined;
}

/** What each top folder may import besides itself. */
const BELOW: Readonly<Record<string, readonly string[]>> = {
  'index.ts': ['extras', 'guards', 'core'],
  apps: ['extras', 'guards', 'stores', 'core'],
  extras: ['core'],
  guards: ['core'],
  stores: ['core'],
  core: [],
};

function fileFault({ target, typeOnly }: Import, file: string): string | undefined {
  const here = moduleOf(file);
  const there = moduleOf(target);
  if (there === -1) return 'it is in no module';
  if (there === here) return undefined;
  const [from, to] = [topFolderOf(file), topFolderOf(target)];
  if (from === to ? there < here : BELOW[from]?.includes(to) !== true) {
    return `${modules[there]?.name} is not below ${modules[here]?.name}`;
  }
  const isPublic = modules[there]?.publicFiles.includes(target) === true;
  if ((from !== to || from === 'core') && !isPublic) return 'not a public file of its module';
  const mayImportEntryPoints = from === 'apps' || entryPoints.has(file);
  return entryPoints.has(target) && !typeOnly && !mayImportEntryPoints
    ? 'an entry point, for users only'
    : undefined;
}

/** The files that import each other in a circle, types and what is loaded later included: a list for each circle. */
function circles(imports: ReadonlyMap<string, readonly string[]>): readonly (readonly string[])[] {
  const reachedFrom = (start: string): ReadonlySet<string> => {
    const reached = new Set<string>();
    const waiting = [start];
    for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
      for (const target of imports.get(file) ?? []) {
        if (reached.has(target)) continue;
        reached.add(target);
        waiting.push(target);
      }
    }
    return reached;
  };
  const reached = new Map([...imports.keys()].map((file) => [file, reachedFrom(file)]));
  const inCircles = new Map(
    [...imports.keys()]
      .filter((file) => reached.get(file)?.has(file) === true)
      .map((file) => [
        file,
        [...(reached.get(file) ?? [])].filter((other) => reached.get(other)?.has(file) === true).sort(),
      ]),
  );
  return [...new Map([...inCircles.values()].map((circle) => [circle.join(), circle])).values()];
}

function importsByFile(): Map<string, readonly string[]> {
  return new Map(
    [...sources].map(([file, source]) => [file, importsOf(source).map(({ target }) => target)] as const),
  );
}

/** What a name must not be free in pure code: clocks, chance, and what only some platforms have. */
const IMPURE = new Set(
  `performance process Buffer setTimeout setInterval setImmediate queueMicrotask fetch crypto console require
  globalThis global window document navigator localStorage`.split(/\s+/),
);

/** Where pure code reaches for time, chance or a platform. */
function impurities(source: ts.SourceFile): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const text = node.getText(source);
    const isName =
      ts.isIdentifier(node) &&
      !(ts.isPropertyAccessExpression(node.parent) && node.parent.name === node) &&
      !ts.isPropertyAssignment(node.parent) &&
      !ts.isPropertySignature(node.parent);
    if (isName && IMPURE.has(text)) found.push(text);
    if (ts.isPropertyAccessExpression(node) && /^(Date\.now|Math\.random)$/.test(text)) found.push(text);
    if (ts.isNewExpression(node) && node.expression.getText(source) === 'Date') {
      if ((node.arguments?.length ?? 0) === 0) found.push('new Date()');
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** The members that only the compiler keeps private. A constructor has no other way. */
function privateByKeyword(source: ts.SourceFile): readonly string[] {
  const found: string[] = [];
  const visit = (node: ts.Node): void => {
    const isPrivate = node.kind === ts.SyntaxKind.PrivateKeyword && !ts.isConstructorDeclaration(node.parent);
    if (isPrivate) found.push(node.parent.getText(source));
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

const pureFiles = [...sources.values()].filter(({ fileName }) => modules[moduleOf(fileName)]?.pure);

describe('the modules', () => {
  it('are those of the table, which names nothing that is not there', () => {
    expect(modules.length).toBeGreaterThan(25);
    expect(files.length).toBeGreaterThan(100);
    const drawn = modules.flatMap(({ name, publicFiles }) => [name, ...publicFiles]);
    expect(drawn.filter((path) => !existsSync(join(root, 'src', path)))).toEqual([]);
    expect(files.filter((file) => !file.includes('/'))).toEqual(['index.ts']);
    // What is bundled is a development dependency.
    const known = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.devDependencies };
    const used = new Set(modules.flatMap(({ libraries }) => libraries));
    expect(Object.keys(manifest.dependencies).filter((name) => !used.has(name))).toEqual([]);
    expect([...used].filter((name) => !(name in known))).toEqual([]);
  });

  it('are described by paths that exist, and by names that the code has', () => {
    const map = readFileSync(join(root, 'src/README.md'), 'utf8').replaceAll(/^```.*?^```$/gms, '');
    const names = [...map.matchAll(/`([^`\s]+)`/g)].map(([, name = '']) => name);
    const paths = names.filter((name) => name !== 'ipaddr.js' && /^[\w./-]+(?:\/|\.[jt]s)$/.test(name));
    expect(paths.length).toBeGreaterThan(100);
    const there = ['src', 'test'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => `/${folder}/${path}`,
      ),
    );
    const leads = (path: string): boolean =>
      existsSync(join(root, path)) || there.some((each) => each.endsWith(`/${path.replace(/\/$/, '')}`));
    expect(paths.filter((path) => !leads(path))).toEqual([]);

    const steps = map.slice(map.indexOf('### `check(url)` by its names'), map.indexOf('## Entry points'));
    const named = [...steps.matchAll(/`([^`\s]+)`/g)].map(([, name = '']) => name);
    const texts = named.flatMap((name) => sources.get(name)?.text ?? []);
    expect(texts.length).toBeGreaterThan(10);
    const gone = named
      .filter((name) => /^#?[a-z]\w*(?:\.#?\w+)?$/i.test(name) && !name.endsWith('.ts'))
      .filter((name) =>
        name.split('.').some((part) => !texts.some((text) => new RegExp(`(?<!\\w)${part}\\b`).test(text))),
      );
    expect(gone).toEqual([]);
  });

  it('import downwards only, public files, libraries of their row, and no entry point', () => {
    expect([...sources.values()].flatMap(faults)).toEqual([]);
  });

  it('have no files that import each other in a circle', () => {
    expect(circles(importsByFile())).toEqual([]);
  });

  it('have no public file that no other module imports', () => {
    const used = new Set(
      [...importsByFile()].flatMap(([file, targets]) =>
        targets.filter((target) => moduleOf(target) !== moduleOf(file)),
      ),
    );
    const unused = modules
      .flatMap(({ publicFiles }) => publicFiles.slice(1))
      .filter((file) => !used.has(file) && !entryPoints.has(file));
    expect(unused).toEqual([]);
  });

  it('are pure where the table says so: no Node, no library, no clock, no randomness', () => {
    expect(pureFiles.length).toBeGreaterThan(40);
    const found = pureFiles.flatMap((source) =>
      impurities(source).map((name) => `${source.fileName} uses ${name}`),
    );
    expect(found).toEqual([]);
  });

  it('write private members one way: `#name`', () => {
    const found = [...sources.values()].flatMap((source) =>
      privateByKeyword(source).map((member) => `${source.fileName} has ${member}`),
    );
    expect(found).toEqual([]);
  });

  it('keep lifecycle and rules apart, but for one type', () => {
    const lent = [...sources.values()]
      .filter(({ fileName }) => fileName.startsWith('core/lifecycle/'))
      .flatMap((source) => importsOf(source))
      .filter(({ target }) => target.startsWith('core/rules/'));
    expect(lent).toEqual([{ target: 'core/rules/index.ts', typeOnly: true, deferred: false }]);
  });
});

describe('a wrong import is found:', () => {
  const faultsOf = (file: string, text: string): readonly string[] => faults(parse(file, text));

  it.each([
    [
      'of a module above',
      'core/rules/file.ts',
      "import { stateOf } from '../lifecycle/index.ts';",
      /not below/,
    ],
    [
      'of a top folder above',
      'core/client/options.ts',
      "import { b } from '../../guards/got/got.ts';",
      /not below/,
    ],
    [
      'past an index',
      'guards/got/got.ts',
      "import { d } from '../../core/pacing/pause-length.ts';",
      /not a public file/,
    ],
    ['by export', 'core/fetch/index.ts', "export * from '../cache/index.ts';", /not below/],
    [
      'by import()',
      'core/lifecycle/profile.ts',
      "const load = () => import('../fetch/index.ts');",
      /not below/,
    ],
    [
      'by the type of import()',
      'core/lifecycle/profile.ts',
      "type F = import('../client/index.ts').G;",
      /below/,
    ],
    ['of Node by a pure module', 'core/rules/file.ts', "import { URL } from 'node:url';", /knows no Node/],
    ['of a library', 'core/fetch/body.ts', "import { z } from 'zod';", /no library of/],
    [
      'of an optional peer at once',
      'extras/ftp/ftp.ts',
      "import { Client } from 'basic-ftp';",
      /when it is needed/,
    ],
    [
      'of an entry point',
      'guards/browser/init-script.ts',
      "import { h } from '../got/got.ts';",
      /for users only/,
    ],
    ['from nowhere', 'core/fetch/body.ts', "import { x } from '../helpers.ts';", /in no module/],
    ['in no module', 'helpers.ts', '', /in no module/],
  ])('%s', (_, file, text, fault) => {
    expect(faultsOf(file, text)).toEqual([expect.stringMatching(fault)]);
  });

  it('two files that import each other', () => {
    const imports: (readonly [string, readonly string[]])[] = [
      ['a', ['b']],
      ['b', ['c', 'd']],
      ['c', ['a']],
      ['d', []],
    ];
    expect(circles(new Map(imports))).toEqual([['a', 'b', 'c']]);
    expect(circles(new Map(imports.filter(([file]) => file !== 'c')))).toEqual([]);
  });

  it.each([
    ['guards/got/got.ts', "import type { Decision } from '../../core/decision/index.ts';"],
    ['extras/ftp/ftp.ts', "const load = createRequire(import.meta.url)('basic-ftp');"],
    ['apps/cli/run.ts', "export const load = () => import('../../core/client/index.ts');"],
  ])('but not what %s may import: %s', (file, text) => {
    expect(faultsOf(file, text)).toEqual([]);
  });

  it.each(['Date.now()', 'Math.random()', 'new Date()', 'setTimeout(f, 1)', 'process.env', "fetch('/')"])(
    '%s in a pure module',
    (text) => {
      expect(impurities(parse('core/rules/file.ts', text))).toHaveLength(1);
      expect(impurities(parse('core/lifecycle/freshness.ts', 'new Date(nowMs).fetch'))).toEqual([]);
    },
  );

  it.each(['private field = 1;', 'constructor(private readonly field: number) {}', 'private async go() {}'])(
    'the member `%s`',
    (member) => {
      expect(privateByKeyword(parse('apps/cli/run.ts', `class One { ${member} }`))).toHaveLength(1);
      expect(
        privateByKeyword(parse('apps/cli/run.ts', 'class One { private constructor() {} #go() {} }')),
      ).toEqual([]);
    },
  );
});
