import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { entrances as sourcesOfEntrances } from './support/entrances.ts';

/**
 * The house stands as `src/README.md` draws it: its table names the rooms, roof first, their doors, and the libraries
 * each may use.
 */
const root = fileURLToPath(new URL('../', import.meta.url));
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly peerDependencies: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta: Readonly<Record<string, { readonly optional?: boolean }>>;
};

interface Room {
  /** A folder, ending in `/`, or a file, as a path within `src/`. */
  readonly name: string;
  /** The files that other rooms may import, as paths within `src/`. */
  readonly doors: readonly string[];
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

const rooms = readRooms(readFileSync(join(root, 'src/README.md'), 'utf8'));
const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  .map((file) => file.replaceAll('\\', '/'))
  .filter((file) => file.endsWith('.ts'));
const sources = new Map(
  files.map((file) => [file, parse(file, readFileSync(join(root, 'src', file), 'utf8'))]),
);

/** What subpaths of the package are made of, but for the door and the rules, which the inside uses too. */
const entrances = new Set(
  Object.values(sourcesOfEntrances)
    .map((path) => path.replace(/^src\//, ''))
    .filter((file) => file !== 'index.ts' && file !== 'core/rules/index.ts'),
);

/** Rooms that no other room imports have no `index.ts`: what they open with. */
const openings = new Map([
  ['apps/cli/', 'main.ts'],
  ['extras/robots-parser/', 'robots-parser.ts'],
]);

function readRooms(readme: string): readonly Room[] {
  const quoted = (cell: string): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  return [...readme.matchAll(/^\| `([^`|]+)` +\| ([^|]+) \| ([^|]*)\| ([^|]*)\|$/gm)].map(
    ([, name = '', purpose = '', doors = '', libraries = '']) => ({
      name,
      doors: name.endsWith('/') ? ['index.ts', ...quoted(doors)].map((door) => name + door) : [name],
      libraries: quoted(libraries),
      pure: /\bPure\b/.test(purpose),
    }),
  );
}

function parse(file: string, text: string): ts.SourceFile {
  return ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
}

/** The room of a file, by its place in the table; -1 when it is in none. */
function roomOf(file: string): number {
  return rooms.findIndex(({ name }) => (name.endsWith('/') ? file.startsWith(name) : file === name));
}

function resolved(from: string, specifier: string): string {
  // By condition another file of that folder, which no other room imports.
  if (specifier === '#platform') return 'core/fetch/platform/undici.ts';
  if (specifier.startsWith('.')) return posix.join(posix.dirname(from), specifier);
  if (specifier.startsWith('node:')) return specifier;
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

function importsOf(source: ts.SourceFile): readonly Import[] {
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

/** Everything that breaks the rules of the house in one file. */
function faults(source: ts.SourceFile): readonly string[] {
  const file = source.fileName;
  const here = roomOf(file);
  const room = rooms[here];
  if (room === undefined) return [`${file} is in no room of src/README.md`];
  return importsOf(source).flatMap(({ target, typeOnly, deferred }) => {
    const fault = faultOf(target, typeOnly, deferred, file, here, room);
    return fault === undefined ? [] : [`${file} imports ${target}: ${fault}`];
  });
}

function faultOf(
  target: string,
  typeOnly: boolean,
  deferred: boolean,
  file: string,
  here: number,
  room: Room,
): string | undefined {
  if (target.startsWith('node:')) return room.pure ? 'a pure room knows no Node' : undefined;
  if (!target.endsWith('.ts')) {
    if (!room.libraries.includes(target)) return `no library of ${room.name}`;
    const optional = manifest.peerDependenciesMeta[target]?.optional === true;
    return optional && !typeOnly && !deferred ? 'not everybody has it: load it when it is needed' : undefined;
  }
  const there = roomOf(target);
  if (there === -1) return 'it is in no room';
  if (there < here) return `${rooms[there]?.name} is above ${room.name}`;
  const mayUseEntrances = file.startsWith('apps/cli/') || entrances.has(file);
  if (entrances.has(target) && mayUseEntrances) return undefined;
  if (entrances.has(target) && !typeOnly) return 'an entrance, for users only';
  if (there !== here && rooms[there]?.doors.includes(target) !== true)
    return 'not a file of its room that others may import';
  return undefined;
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

const pureFiles = [...sources.values()].filter(({ fileName }) => rooms[roomOf(fileName)]?.pure);

describe('the rooms', () => {
  it('is drawn in src/README.md, and the drawing names nothing that is not there', () => {
    expect(rooms.length).toBeGreaterThan(8);
    expect(files.length).toBeGreaterThan(100);
    const drawn = rooms
      .flatMap(({ name, doors }) => [name, ...doors])
      .filter((path) => !(path.endsWith('/index.ts') && openings.has(path.slice(0, -'index.ts'.length))));
    expect(drawn.filter((path) => !existsSync(join(root, 'src', path)))).toEqual([]);
    expect(files.filter((file) => !file.includes('/'))).toEqual(['index.ts']);
    const known = { ...manifest.dependencies, ...manifest.peerDependencies };
    const used = new Set(rooms.flatMap(({ libraries }) => libraries));
    expect(Object.keys(manifest.dependencies).filter((name) => !used.has(name))).toEqual([]);
    expect([...used].filter((name) => !(name in known))).toEqual([]);
  });

  it('have a map whose paths lead somewhere, and a road whose names are those of the code', () => {
    const map = readFileSync(join(root, 'src/README.md'), 'utf8').replaceAll(/^```.*?^```$/gms, '');
    const names = [...map.matchAll(/`([^`\s]+)`/g)].map(([, name = '']) => name);
    const paths = names.filter((name) => /^[\w./-]+(?:\/|\.[jt]s)$/.test(name));
    expect(paths.length).toBeGreaterThan(100);
    const there = ['src', 'test'].flatMap((folder) =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(
        (path) => `/${folder}/${path}`,
      ),
    );
    const leads = (path: string): boolean =>
      existsSync(join(root, path)) || there.some((each) => each.endsWith(`/${path.replace(/\/$/, '')}`));
    expect(paths.filter((path) => !leads(path))).toEqual([]);

    const road = map.slice(map.indexOf('### The main road'), map.indexOf('## Entrances'));
    const told = [...road.matchAll(/`([^`\s]+)`/g)].map(([, name = '']) => name);
    const texts = told.flatMap((name) => sources.get(name)?.text ?? []);
    expect(texts.length).toBeGreaterThan(10);
    const gone = told
      .filter((name) => /^#?[a-z]\w*(?:\.#?\w+)?$/i.test(name) && !name.endsWith('.ts'))
      .filter((name) =>
        name.split('.').some((part) => !texts.some((text) => new RegExp(`(?<!\\w)${part}\\b`).test(text))),
      );
    expect(gone).toEqual([]);
  });

  it('has imports that go downwards only, through doors, to the libraries of the room, and to no entrance', () => {
    expect([...sources.values()].flatMap(faults)).toEqual([]);
  });

  it('has no files that import each other in a circle', () => {
    expect(circles(importsByFile())).toEqual([]);
  });

  it('has doors that are used by other rooms', () => {
    const used = new Set(
      [...importsByFile()].flatMap(([file, targets]) =>
        targets.filter((target) => roomOf(target) !== roomOf(file)),
      ),
    );
    // `canfetch/testing` is for users, and so is the whole package.
    const doors = rooms
      .flatMap((room) => room.doors)
      .filter((door) => !/^(?:index|cli|compat|testing)/.test(door));
    expect(doors.filter((door) => !used.has(door))).toEqual([]);
  });

  it('has pure cores: no Node, no library, no clock, no chance', () => {
    expect(pureFiles.length).toBeGreaterThan(40);
    const found = pureFiles.flatMap((source) =>
      impurities(source).map((name) => `${source.fileName} uses ${name}`),
    );
    expect(found).toEqual([]);
  });

  it('has private members that are written one way: `#name`', () => {
    const found = [...sources.values()].flatMap((source) =>
      privateByKeyword(source).map((member) => `${source.fileName} has ${member}`),
    );
    expect(found).toEqual([]);
  });

  it('has one type that the rules lend to what is beside them, and no more', () => {
    const lent = [...sources.values()]
      .filter(({ fileName }) => fileName.startsWith('core/lifecycle/'))
      .flatMap((source) => importsOf(source))
      .filter(({ target }) => target.startsWith('core/rules/'));
    expect(lent).toEqual([{ target: 'core/rules/index.ts', typeOnly: true, deferred: false }]);
  });

  it.each(rooms.map(({ name }) => name).filter((name) => name.endsWith('/')))(
    '%s opens with what it is for, and what it must not import',
    (place) => {
      const opening = openings.get(place) ?? 'index.ts';
      const text = readFileSync(join(root, 'src', place, opening), 'utf8').replace(/^#!.*\n/, '');
      const comment = /^\/\*\*(.*?)\*\//s.exec(text)?.[1] ?? '';
      expect(comment).toMatch(/\bimports?\b/);
    },
  );
});

describe('a wrong import is found:', () => {
  const faultsOf = (file: string, text: string): readonly string[] => faults(parse(file, text));

  it.each([
    [
      'of a room above',
      'core/rules/parse.ts',
      "import { stateOf } from '../lifecycle/index.ts';",
      /is above/,
    ],
    [
      'of a type above',
      'core/cache/entry.ts',
      "import type { Decision } from '../decision/index.ts';",
      /is above/,
    ],
    ['past a door', 'guards/got/got.ts', "import { Line } from '../pacing/line.ts';", /others may import/],
    [
      'past a door for a type',
      'core/cache/entry.ts',
      "import type { AttemptDue } from '../lifecycle/state.ts';",
      /others may import/,
    ],
    ['by export', 'core/fetch/index.ts', "export * from '../cache/index.ts';", /is above/],
    [
      'by import()',
      'core/lifecycle/profile.ts',
      "const load = () => import('../fetch/index.ts');",
      /is above/,
    ],
    [
      'by the type of import()',
      'core/lifecycle/profile.ts',
      "type A = import('../client/index.ts').RobotsClient;",
      /above/,
    ],
    ['of Node by a pure room', 'core/rules/file.ts', "import { URL } from 'node:url';", /knows no Node/],
    ['of a library', 'core/fetch/body.ts', "import { z } from 'zod';", /no library of/],
    [
      'of an optional peer at once',
      'extras/ftp/ftp.ts',
      "import { Client } from 'basic-ftp';",
      /when it is needed/,
    ],
    ['of an entrance', 'guards/fetch/fetch.ts', "import { gotHooks } from '../got.ts';", /for users only/],
    ['from nowhere', 'core/fetch/body.ts', "import { x } from '../helpers.ts';", /in no room/],
    ['in no room', 'helpers.ts', '', /in no room/],
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

  it('allowed imports are not reported', () => {
    expect(faultsOf('guards/got/got.ts', "import type { Decision } from '../decision/index.ts';")).toEqual(
      [],
    );
    expect(
      faultsOf('core/client/options.ts', "import { ADDRESS_POLICIES } from '../net/address-policy.ts';"),
    ).toEqual([]);
    expect(
      faultsOf('extras/ftp/ftp.ts', "const load = createRequire(import.meta.url)('basic-ftp');"),
    ).toEqual([]);
    expect(faultsOf('apps/cli/run.ts', "export const load = () => import('../client/index.ts');")).toEqual(
      [],
    );
  });

  it.each(['Date.now()', 'Math.random()', 'new Date()', 'setTimeout(f, 1)', 'process.env', "fetch('/')"])(
    'so is %s in a pure room',
    (text) => {
      expect(impurities(parse('core/rules/file.ts', text))).toHaveLength(1);
      expect(impurities(parse('core/lifecycle/http-date.ts', 'new Date(nowMs).fetch'))).toEqual([]);
    },
  );

  it.each(['private field = 1;', 'constructor(private readonly field: number) {}', 'private async go() {}'])(
    'so is the member `%s`',
    (member) => {
      expect(privateByKeyword(parse('apps/cli/run.ts', `class One { ${member} }`))).toHaveLength(1);
      expect(
        privateByKeyword(parse('apps/cli/run.ts', 'class One { private constructor() {} #go() {} }')),
      ).toEqual([]);
    },
  );
});
