/**
 * Makes what is published from the sources: each entry point as an ES module and as a CommonJS one, with the chunks that they
 * share, their declarations, and the command. Arguments: the folder to fill, and the folder of declarations that the
 * compiler made.
 *
 * A package of hundreds of modules would take a third of a millisecond to load each. The entry points are those that package.json
 * documents, and `test/package/entry-points.test.ts` holds its `exports` to them.
 */
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { rollup } from 'rollup';
import { dts } from 'rollup-plugin-dts';
import { entryPoints, manifest } from './entry-points.js';

const [folder, types] = process.argv.slice(2);
const installed = new Set(Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }));
const packageOf = (id) => /^(?:@[^/]+\/)?[^/]+/.exec(id)?.[0] ?? '';
const platforms = {
  'platform-undici': 'src/core/fetch/platform/undici.ts',
  'platform-fetch': 'src/core/fetch/platform/fetch.ts',
};

/** What the user's installation has is imported. Other packages are bundled, and their licences are published. */
const isInstalled = (id) => /^(?:node:|#)/.test(id) || installed.has(packageOf(id));

const licences = new Map();
const bundlerFolder = fileURLToPath(new URL('../../node_modules/rolldown', import.meta.url));
const collectLicences = {
  name: 'collect-licences',
  moduleParsed({ id }) {
    // What the bundler itself adds, such as the lowering of `await using`, comes from no folder.
    const path = id.startsWith('\0@oxc-project') ? `${bundlerFolder}/${id}` : id;
    const [, root, name] = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//.exec(path) ?? [];
    if (root === undefined) return;
    const file = readdirSync(root).find((each) => /^licen[cs]e(?:\.|$)/i.test(each));
    if (file === undefined) throw new Error(`Expected a licence in ${root}, found none`);
    licences.set(name, readFileSync(`${root}/${file}`, 'utf8').trim());
  },
};

/** The bundler's helpers bring this import along, used or not. Bundles for Workers and pages must have no module of Node. */
const withoutUnusedRequire = {
  name: 'without-unused-require',
  renderChunk: (code) =>
    code.split('createRequire').length === 2
      ? code.replace(/^import \{ createRequire \} from "node:module";\n/m, '')
      : null,
};

/** Two builds make a large package. Line breaks and the names of classes stay, so that an uncaught error can be read. */
const minify = {
  compress: { joinVars: false, sequences: false, keepNames: { class: true, function: false } },
  mangle: { keepNames: { class: true, function: false } },
  codegen: { removeWhitespace: false },
};

async function bundle(input, external, output) {
  const build = await rolldown({
    input,
    platform: 'node',
    tsconfig: false,
    external,
    preserveEntrySignatures: 'allow-extension',
    // The oldest line of Node that package.json promises has no `await using`.
    transform: { target: 'node20.19' },
    plugins: [collectLicences, withoutUnusedRequire],
    // The name of each module, as a comment, would be a hundredth of the package.
    experimental: { attachDebugInfo: 'none' },
  });
  const { output: files } = await build.write({ comments: false, ...output });
  await build.close();
  // Indentation would be a twentieth of the package. Only the printer begins lines with tabs.
  for (const { fileName, code } of files) {
    if (code !== undefined) writeFileSync(`${output.dir}/${fileName}`, code.replaceAll(/^\t+/gm, ''));
  }
}

await bundle({ ...entryPoints, ...platforms, cli: 'src/apps/cli/main.ts' }, isInstalled, {
  dir: folder,
  cleanDir: true,
  format: 'esm',
  minify,
  entryFileNames: '[name].js',
  codeSplitting: {
    groups: [
      // What the first question and modules that are loaded later both need: in a Worker one chunk weighs less than ten.
      {
        name: 'core',
        includeDependenciesRecursively: false,
        test: /core\/(?:base\/(?:abort|builtin|clock)|decision\/(?:agent-tokens|channels|decide|describe-decision|refused-request|robots-source)|fetch\/transport|lifecycle\/(?:gatekeepers|origin-record|outcome|profile|state))\.ts$/,
      },
      // Its tables stay out of bundles that only decide.
      { name: 'lint', includeDependenciesRecursively: false, test: /core\/rules\/lint\// },
    ],
  },
  chunkFileNames: 'chunks/[name].js',
});

// It is an ES module alone: the bundler takes what `require` gives of one for its default export.
const isRequired = (id) => isInstalled(id) && id !== 'p-limit';

await bundle({ ...entryPoints, ...platforms }, isRequired, {
  dir: `${folder}/cjs`,
  format: 'cjs',
  exports: 'named',
  minify,
  // Jest runs no `import()` in CommonJS.
  dynamicImportInCjs: false,
  entryFileNames: '[name].cjs',
  chunkFileNames: 'chunks/[name].cjs',
  // Node gives this export to `require` by itself, but only from an ES module.
  footer: ({ exports }) =>
    exports.includes('module.exports')
      ? "module.exports = Object.assign(exports['module.exports'], exports);"
      : '',
});

/**
 * Private members are left out, so that an object with the public ones fits the type of a class, and a class is the same
 * type whether it was imported or required.
 */
const withoutPrivateMembers = {
  name: 'without-private-members',
  renderChunk: (code) =>
    code.replaceAll(
      /^(?: +\/\*\*(?:(?!\*\/)[^])*\*\/\n)? +(?:#private|private (?!constructor)[^(\n]*);\n/gm,
      '',
    ),
};
/** A value that is all that `require` gives. Nothing can be exported beside it, so types go into its namespace. */
const withExportAssignment = {
  name: 'with-export-assignment',
  renderChunk: (code) =>
    code.replace(
      /^export \{ (.*?)(\w+) as default, \2 as "module\.exports" \};(?:\nexport type \{ (.*) \};)?/m,
      (_, others, value, types) =>
        `export = ${value};\ndeclare namespace ${value} {\n  export { ${others}${value} as default };\n` +
        `${types === undefined ? '' : `  export type { ${types} };\n`}}`,
    ),
};

const declarations = await rollup({
  input: Object.fromEntries(
    Object.entries(entryPoints).map(([name, path]) => [
      name,
      path.replace(/^src/, types).replace(/ts$/, 'd.ts'),
    ]),
  ),
  external: isInstalled,
  plugins: [dts()],
});
const { output } = await declarations.write({
  dir: `${folder}/cjs`,
  entryFileNames: '[name].d.cts',
  chunkFileNames: ({ name }) => `chunks/${name.replace(/\.d$/, '')}.d.cts`,
  plugins: [withoutPrivateMembers, withExportAssignment],
});
await declarations.close();
// A second copy would be a twelfth of the package. An ES module may take its types from a CommonJS one.
for (const { isEntry, name, exports } of output) {
  if (!isEntry) continue;
  const names = exports.map((each) => (each === 'module.exports' ? 'default as "module.exports"' : each));
  writeFileSync(`${folder}/${name}.d.ts`, `export { ${names.join(', ')} } from './cjs/${name}.cjs';\n`);
}

// Beside the chunk of `apps/serve/page.ts`, which reads it.
cpSync('src/apps/serve/page/style.css', `${folder}/chunks/page/style.css`);

writeFileSync(
  `${folder}/LICENCES`,
  Array.from(licences, ([name, text]) => `${name}\n\n${text}\n`)
    .sort()
    .join('\n----\n\n'),
);

/** One text for coding agents: the README, and what programs need most. Links say no more than their words. */
const guides = ['', 'src/guards/', 'src/stores/', 'src/core/rules/'].map((at) =>
  readFileSync(`${at}README.md`, 'utf8').replaceAll(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1'),
);
writeFileSync(`${folder}/llms.txt`, guides.join('\n'));
