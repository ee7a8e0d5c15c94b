// Bundles the TypeScript: the panels into gradlab/static (what the kernel sends to the page), and the JupyterLab
// extension into js/lib/lab.js, from which @jupyter/builder makes gradlab/labextension.
//
//   node js/build.mjs [--prod] [--watch] [--only=panels|lab]
import * as esbuild from 'esbuild';
import { readFileSync, rmSync } from 'node:fs';
import { relative, resolve } from 'node:path';

const flags = new Set(process.argv.slice(2));
const prod = flags.has('--prod');
const only = [...flags].find(flag => flag.startsWith('--only='))?.slice('--only='.length);

const shared = {
  bundle: true,
  format: 'esm',
  target: 'es2022',
  charset: 'utf8',
  logLevel: 'info',
  legalComments: 'none'
};

// anywidget runs a module from a blob: URL, where no other file can be reached: styles travel inside, as text.
const styles = {
  name: 'styles',
  setup: build =>
    build.onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await esbuild.transform(readFileSync(path, 'utf8'), { loader: 'css', minify: prod });
      return { contents: code, loader: 'text', watchFiles: [path] };
    })
};

// The second part of the bundle takes what js/panels/shared.ts lists from the first, through the function it is called with.
const LENT = new Set([...readFileSync('js/panels/shared.ts', 'utf8').matchAll(/^ {2}'(.+)': \w+,?$/gm)].map(match => match[1]));
const lent = {
  name: 'lent',
  setup: build =>
    build.onResolve({ filter: /^[.@]/ }, ({ path, resolveDir, kind }) => {
      const name = path.startsWith('.') ? relative('js', resolve(resolveDir, path)) : path;
      return kind !== 'entry-point' && LENT.has(name) ? { path: name, external: true } : undefined;
    })
};

const panels = {
  ...shared,
  outdir: 'gradlab/static',
  minify: prod,
  // An inline map travels with every widget: worth it only on a developer's machine.
  sourcemap: prod ? false : 'inline'
};

const jobs = {
  panels: { ...panels, entryPoints: ['js/panels/session.ts', 'js/panels/panel.ts'], plugins: [styles] },
  more: {
    ...panels,
    entryPoints: ['js/panels/more.ts'],
    plugins: [lent, styles],
    format: 'cjs',
    banner: { js: 'export default require => { const module = { exports: {} }, exports = module.exports;' },
    footer: { js: 'return module.exports; };' },
    sourcemap: false
  },
  lab: {
    ...shared,
    entryPoints: ['js/lab/index.ts'],
    outfile: 'js/lib/lab.js',
    // JupyterLab brings its own packages; rspack minifies.
    packages: 'external'
  }
};

// js/hatch_build.py writes it after a whole production build; from here on the files are something else.
rmSync('gradlab/static/fingerprint.txt', { force: true });

for (const [name, job] of Object.entries(jobs)) {
  if (only && only !== name && !(only === 'panels' && name === 'more')) {
    continue;
  }
  if (flags.has('--watch')) {
    await (await esbuild.context(job)).watch();
  } else {
    await esbuild.build(job);
  }
}
